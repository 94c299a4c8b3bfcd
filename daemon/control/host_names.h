/// The names under which this daemon may be asked over TCP. A web page elsewhere can make a browser connect
/// to this daemon under a name of its own (DNS rebinding) and read what it answers; the Host that the browser
/// then sends is that name, so only names that are known to be ours are answered.
#pragma once

#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::control {

class HostNames {
 public:
  HostNames() = default;
  /// Besides IP addresses and "localhost", which are always ours.
  explicit HostNames(const std::vector<std::string>& names);

  /// The value of a Host header: a name or an address, perhaps with a port.
  [[nodiscard]] bool has(std::string_view host) const;
  /// The value of an Origin header: "https://fabric.example.org:9683".
  [[nodiscard]] bool has_origin(std::string_view origin) const;

 private:
  std::set<std::string, std::less<>> names_;  ///< in small letters
};

/// The name of this host and its fully qualified one, as the resolver says within `patience`; a resolver that
/// takes longer is not waited for.
[[nodiscard]] std::vector<std::string> names_of_this_host(std::chrono::milliseconds patience);

}  // namespace heddle::control
