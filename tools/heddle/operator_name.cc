#include "heddle/operator_name.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

namespace heddle::cli {

std::string operator_name() {
  for (const char* variable : {"SUDO_USER", "USER", "LOGNAME"}) {
    if (const char* name = std::getenv(variable); name != nullptr && *name != '\0') return name;
  }
  // One thread: nobody else asks getpwuid.
  if (const passwd* user = getpwuid(getuid()); user != nullptr) return user->pw_name;
  return fmt::format("uid {}", getuid());
}

}  // namespace heddle::cli
