#include "control/host_names.h"

#include <netdb.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/ip/address.hpp>
#include <future>
#include <memory>
#include <thread>

namespace heddle::control {
namespace {

std::string small_letters(std::string_view text) {
  std::string small{text};
  std::ranges::transform(small, small.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return small;
}

bool is_port(std::string_view text) {
  return text.empty() ||
         (text.front() == ':' && text.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

/// Without the port; empty for what is no host with a port or without one (RFC 3986, 3.2.2 and 3.2.3).
std::string_view without_port(std::string_view host) {
  const bool brackets = host.starts_with('[');
  const auto end = std::min(host.find(brackets ? ']' : ':'), host.size());
  const auto rest = host.substr(std::min(end + (brackets ? 1 : 0), host.size()));
  if (!is_port(rest) || (brackets && end == host.size())) return {};
  const auto name = host.substr(brackets ? 1 : 0, end - (brackets ? 1 : 0));
  // A zone is the browser's host's own business, and never sent (RFC 6874, 4).
  return name.find('%') == std::string_view::npos ? name : std::string_view{};
}

}  // namespace

HostNames::HostNames(const std::vector<std::string>& names) {
  for (const auto& name : names) names_.insert(small_letters(name));
}

bool HostNames::has(std::string_view host) const {
  std::string name = small_letters(without_port(host));
  if (name.ends_with('.')) name.pop_back();
  if (name.empty()) return false;
  boost::system::error_code wrong;
  boost::asio::ip::make_address(name, wrong);
  return !wrong || name == "localhost" || names_.contains(name);
}

bool HostNames::has_origin(std::string_view origin) const {
  const auto scheme = origin.find("://");
  return scheme != std::string_view::npos && has(origin.substr(scheme + 3));
}

std::vector<std::string> names_of_this_host(std::chrono::milliseconds patience) {
  std::array<char, 256> text{};
  if (gethostname(text.data(), text.size() - 1) != 0 || text.front() == '\0') return {};
  const std::string own{text.data()};
  // The thread has all that it touches itself: it may end long after this call.
  auto promise = std::make_shared<std::promise<std::string>>();
  auto full = promise->get_future();
  std::thread{[own, promise] {
    addrinfo hints{};
    hints.ai_flags = AI_CANONNAME;
    addrinfo* found = nullptr;
    std::string name;
    if (getaddrinfo(own.c_str(), nullptr, &hints, &found) == 0 && found != nullptr) {
      if (found->ai_canonname != nullptr) name = found->ai_canonname;
      freeaddrinfo(found);
    }
    promise->set_value(name);
  }}.detach();
  std::vector<std::string> names{own};
  if (full.wait_for(patience) == std::future_status::ready) {
    if (auto name = full.get(); !name.empty()) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace heddle::control
