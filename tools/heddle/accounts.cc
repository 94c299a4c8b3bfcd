#include "heddle/accounts.h"

#include <pwd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace heddle::cli {

std::string asked_by() {
  const char* name = std::getenv("SUDO_USER");
  return name != nullptr ? name : "";
}

std::string with_account_names(const std::string& text) {
  constexpr std::string_view mark = "by uid ";
  std::string named;
  std::size_t copied = 0;
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
    uid_t uid = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data() + at + mark.size(), end, uid);
    if (error != std::errc{}) continue;
    // One thread: nobody else asks getpwuid.
    const passwd* account = getpwuid(uid);
    if (account == nullptr) continue;
    named += text.substr(copied, at - copied) + "by " + account->pw_name;
    copied = static_cast<std::size_t>(rest - text.data());
  }
  return named + text.substr(copied);
}

}  // namespace heddle::cli
