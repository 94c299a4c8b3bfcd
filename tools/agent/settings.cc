#include "agent/settings.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <toml++/toml.h>
#include <array>
#include <cerrno>
#include <fstream>
#include <map>
#include <sstream>
#include <system_error>

#include "files/descriptor.h"
#include "files/durable_file.h"

namespace heddle::agent {
namespace {

constexpr std::int64_t first_multicast_lid = 0xc000;

using Take = bool (*)(Settings&, const toml::node&);

bool take(std::string& value, const toml::node& node) {
  const auto text = node.value_exact<std::string>();
  if (text) value = *text;
  return text.has_value();
}

bool take(std::vector<std::string>& values, const toml::node& node) {
  const auto* list = node.as_array();
  if (list == nullptr) return false;
  for (const auto& each : *list) {
    if (!take(values.emplace_back(), each)) return false;
  }
  return true;
}

bool take(std::vector<Lid>& values, const toml::node& node) {
  const auto* list = node.as_array();
  if (list == nullptr) return false;
  for (const auto& each : *list) {
    const auto lid = each.value_exact<std::int64_t>();
    if (!lid || *lid < 1 || *lid >= first_multicast_lid) return false;
    values.emplace_back(static_cast<std::uint16_t>(*lid));
  }
  return true;
}

bool take(Count& value, const toml::node& node) {
  std::string text;
  if (!take(text, node) || (text != "kernel" && text != "none")) return false;
  value = text == "kernel" ? Count::Kernel : Count::None;
  return true;
}

struct Key {
  Take take;
  const char* wants;
};

const std::map<std::string, Key, std::less<>>& keys() {
  static const std::map<std::string, Key, std::less<>> all{
      {"key_file", {[](Settings& s, const toml::node& n) { return take(s.key_file, n); }, "a file's name"}},
      {"ports",
       {[](Settings& s, const toml::node& n) { return take(s.ports, n); }, "a list such as [\"mlx5_0:1\"]"}},
      {"obeys",
       {[](Settings& s, const toml::node& n) { return take(s.obeys, n); }, "a list of LIDs, 1 to 49151"}},
      {"socket", {[](Settings& s, const toml::node& n) { return take(s.socket, n); }, "a file's name"}},
      {"state", {[](Settings& s, const toml::node& n) { return take(s.state, n); }, "a directory's name"}},
      {"count",
       {[](Settings& s, const toml::node& n) { return take(s.count, n); }, "\"kernel\" or \"none\""}},
      {"ignore", {[](Settings& s, const toml::node& n) { return take(s.ignore, n); }, "a list of names"}},
  };
  return all;
}

Result<std::string> read_text(const std::string& path) {
  std::ifstream in{path};
  if (!in) return io_error("read", path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

Result<Settings> parse_settings(std::string_view text, const std::string& name) {
  toml::table table;
  try {
    table = toml::parse(text);
  } catch (const toml::parse_error& error) {
    return fail(ErrorCode::Invalid,
                fmt::format("{}:{}: {}", name, error.source().begin.line, error.description()));
  }
  Settings settings;
  for (const auto& [key, node] : table) {
    const auto known = keys().find(key.str());
    const auto line = node.source().begin.line;
    if (known == keys().end()) {
      return fail(ErrorCode::Invalid, fmt::format("{}:{}: unknown key {}", name, line, key.str()));
    }
    if (!known->second.take(settings, node)) {
      return fail(ErrorCode::Invalid,
                  fmt::format("{}:{}: {} takes {}", name, line, key.str(), known->second.wants));
    }
  }
  return settings;
}

Result<Settings> read_settings(const std::string& path) {
  const auto text = read_text(path);
  if (!text) return fail(text.error());
  return parse_settings(*text, path);
}

Result<apm::Key> read_key(const std::string& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd() < 0) return io_error("read", path);
  struct stat status {};
  if (::fstat(file.fd(), &status) != 0) return io_error("read", path);
  if ((status.st_mode & (S_IROTH | S_IWOTH)) != 0) {
    return fail(ErrorCode::Refused,
                fmt::format("{}: everybody on this host may read or write it: chmod o= {}", path, path));
  }
  std::array<char, 256> text{};
  const auto got = ::read(file.fd(), text.data(), text.size());
  if (got < 0) return io_error("read", path);
  const auto key = apm::parse_key({text.data(), static_cast<std::size_t>(got)});
  if (!key) return fail(key.error().code, path + ": " + key.error().message);
  return *key;
}

}  // namespace heddle::agent
