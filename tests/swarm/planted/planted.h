/// Which mend is taken back in this run of a program: the name of a patch in tests/swarm/planted, which puts
/// this header into libanalysis/base of a copy of the source. No program that ships has it.
#pragma once

#include <cstdlib>
#include <string_view>

namespace heddle {

inline bool planted(std::string_view name) {
  static const char* const which = std::getenv("HEDDLE_PLANTED");
  return which != nullptr && name == which;
}

}  // namespace heddle
