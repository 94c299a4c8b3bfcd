/// Runs commands of `heddle` in this process, for the tests of what they print and how they end.
#pragma once

#include <initializer_list>
#include <sstream>
#include <string>
#include <vector>

#include "heddle/command.h"

namespace heddle::cli {

struct Ran {
  Status status{};
  std::string out;
  std::string err;
};

/// `groups`: as add_route_commands.
inline Ran run_heddle(std::initializer_list<void (*)(Program&)> groups,
                      const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  Program program{out, err};
  for (const auto add : groups) add(program);
  std::vector<const char*> all{"heddle"};
  for (const std::string& argument : arguments) all.push_back(argument.c_str());
  const Status status = program.run(static_cast<int>(all.size()), all.data());
  return {status, out.str(), err.str()};
}

}  // namespace heddle::cli
