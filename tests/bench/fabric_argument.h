/// Which fabric a benchmark takes: an argument of its command line, or the usual one. One that cannot be made
/// ends the program with the reason.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "fabric/generators.h"

namespace heddle {

inline const char* fabric_argument(int argc, char** argv, int position, const char* usual) {
  if (argc <= position) return usual;
  if (const auto made = generate(argv[position]); !made) {
    fmt::print(stderr, "{}\n", made.error().message);
    std::exit(1);
  }
  return argv[position];
}

}  // namespace heddle
