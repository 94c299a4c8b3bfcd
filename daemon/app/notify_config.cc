#include "app/notify_config.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>

#include "app/config_values.h"
#include "base/text.h"
#include "control/tokens.h"

namespace heddle::app {
namespace {

using notify::Destination;
using notify::Kind;

constexpr std::size_t longest_name = 32;
constexpr std::size_t most_destinations = 16;
constexpr std::chrono::minutes longest_timeout_of_message{5};
constexpr std::chrono::hours longest_spacing{1};

struct KeysOf {
  Kind kind;
  std::vector<std::string_view> keys;  ///< besides those of all
};

const std::vector<KeysOf>& keys_of_kinds() {
  static const std::vector<KeysOf> all{
      {Kind::Alertmanager, {"url", "url_file", "token_file", "credentials_file", "ca_file"}},
      {Kind::Webhook, {"url", "url_file", "token_file", "credentials_file", "ca_file"}},
      {Kind::Syslog, {"address"}},
      {Kind::Program, {"program"}},
  };
  return all;
}

bool is_name(std::string_view text) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  return !text.empty() && text.size() <= longest_name && std::ranges::all_of(text, good);
}

std::string in_base64(const std::string& text) {
  std::string coded(4 * ((text.size() + 2) / 3) + 1, '\0');
  const int length =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(coded.data()),
                      reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  coded.resize(static_cast<std::size_t>(length));
  return coded;
}

/// One line without its end. Errors: those of read_secret(); Invalid for none, or for more than one.
Result<std::string> line_of_secret(const std::string& path) {
  auto text = control::read_secret(path);
  if (!text) return text;
  while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
  const bool printable = std::ranges::all_of(*text, [](char c) { return c >= ' ' && c < 127; });
  if (text->empty() || !printable)
    return fail(ErrorCode::Invalid, fmt::format("{}: must have one line of printable ASCII", path));
  return text;
}

/// The keys of an entry, one after the other.
class EntryReader {
 public:
  explicit EntryReader(const NotifyEntry& entry) : entry_{entry} {}

  /// Empty where it is not given. Errors: Invalid for a list.
  Result<std::string> text(const std::string& key) const {
    const auto found = entry_.values.find(key);
    if (found == entry_.values.end()) return std::string{};
    if (found->second.size() != 1) return wrong(fmt::format("{} must be a string", key));
    return found->second.front();
  }
  [[nodiscard]] std::vector<std::string> list(const std::string& key) const {
    const auto found = entry_.values.find(key);
    return found == entry_.values.end() ? std::vector<std::string>{} : found->second;
  }
  Result<void> read_span(const std::string& key, std::chrono::milliseconds most,
                         std::chrono::milliseconds& into) const {
    if (!entry_.values.contains(key)) return {};
    const auto given = text(key);
    if (!given) return fail(given.error());
    const auto span = duration(Value{*given});
    if (!span || *span < std::chrono::milliseconds{1} || *span > most)
      return wrong(fmt::format("{} must be a duration from \"1ms\" to \"{}s\"", key, most.count() / 1000));
    into = std::chrono::duration_cast<std::chrono::milliseconds>(*span);
    return {};
  }
  [[nodiscard]] tl::unexpected<Error> wrong(std::string_view what) const {
    return fail(ErrorCode::Invalid, fmt::format("{}: [[notify.destination]] {}", entry_.place, what));
  }

 private:
  const NotifyEntry& entry_;
};

Result<void> check_keys(const EntryReader& reader, const NotifyEntry& entry, Kind kind) {
  std::vector<std::string_view> known{"name", "type", "what", "timeout", "every"};
  for (const KeysOf& of : keys_of_kinds()) {
    if (of.kind == kind) known.insert(known.end(), of.keys.begin(), of.keys.end());
  }
  for (const auto& [key, value] : entry.values) {
    if (std::ranges::find(known, key) == known.end()) {
      return reader.wrong(fmt::format("of type \"{}\" has no key {}; it takes {}", to_string(kind), key,
                                      joined(known, ", ")));
    }
  }
  return {};
}

Result<unsigned> wanted(const EntryReader& reader) {
  const auto words = reader.list("what");
  unsigned wants = 0;
  for (const std::string& word : words) {
    if (word == "events") {
      wants |= notify::wants_events;
    } else if (word == "problems") {
      wants |= notify::wants_problems;
    } else if (word == "switches") {
      wants |= notify::wants_switches;
    } else {
      return reader.wrong("what must be a list of \"events\", \"problems\" and \"switches\"");
    }
  }
  return wants == 0 ? notify::wants_events | notify::wants_problems : wants;
}

Result<void> check_web(const EntryReader& reader, const NotifyEntry& entry, const Destination& destination) {
  const auto has = [&](const char* key) { return entry.values.contains(key); };
  if (has("url") == has("url_file")) return reader.wrong("needs either url or url_file");
  if (has("token_file") && has("credentials_file"))
    return reader.wrong("has token_file and credentials_file: take one away");
  if (!has("url")) return {};
  if (const auto url = notify::parse_url(destination.url); !url)
    return reader.wrong(fmt::format("url {}", url.error().message));
  return {};
}

Result<void> check_kind(const EntryReader& reader, const NotifyEntry& entry, const Destination& destination) {
  switch (destination.kind) {
    case Kind::Alertmanager:
    case Kind::Webhook:
      return check_web(reader, entry, destination);
    case Kind::Syslog:
      if (const auto address = notify::parse_syslog(destination.address); !address)
        return reader.wrong(fmt::format("address {}", address.error().message));
      return {};
    case Kind::Program:
      if (destination.program.empty() || !destination.program.front().starts_with('/'))
        return reader.wrong("program must be a list of the path from / on and its arguments");
      return {};
  }
  return {};
}

Result<void> read_files(const NotifyEntry& entry, Destination& destination) {
  const EntryReader reader{entry};
  const auto secret = [&](const char* key) -> Result<std::string> {
    const auto path = reader.text(key);
    if (!path || path->empty()) return path;
    auto line = line_of_secret(*path);
    if (!line) return fail(fmt::format("{}: {}", entry.place, key), line.error());
    return line;
  };
  const auto url = secret("url_file");
  const auto token = secret("token_file");
  const auto credentials = secret("credentials_file");
  for (const auto* each : {&url, &token, &credentials}) {
    if (!*each) return fail(each->error());
  }
  if (!url->empty()) {
    destination.url = *url;
    if (const auto parsed = notify::parse_url(*url); !parsed)
      return fail(fmt::format("{}: the URL in url_file", entry.place), parsed.error());
  }
  if (!token->empty()) destination.authorization = "Bearer " + *token;
  if (!credentials->empty()) destination.authorization = "Basic " + in_base64(*credentials);
  return {};
}

}  // namespace

Result<Destination> destination_in(const NotifyEntry& entry) {
  const EntryReader reader{entry};
  Destination destination;
  const auto name = reader.text("name");
  const auto type = reader.text("type");
  const auto url = reader.text("url");
  const auto ca_file = reader.text("ca_file");
  const auto address = reader.text("address");
  for (const auto* each : {&name, &type, &url, &ca_file, &address}) {
    if (!*each) return fail(each->error());
  }
  if (!is_name(*name)) return reader.wrong("needs a name of up to 32 letters, digits, '-' and '_'");
  destination.name = *name;
  const auto& kinds = keys_of_kinds();
  const auto kind =
      std::ranges::find_if(kinds, [&](const KeysOf& of) { return to_string(of.kind) == *type; });
  if (kind == kinds.end())
    return reader.wrong("needs a type: \"alertmanager\", \"webhook\", \"syslog\" or \"program\"");
  destination.kind = kind->kind;
  if (auto good = check_keys(reader, entry, destination.kind); !good) return fail(good.error());
  const auto wants = wanted(reader);
  if (!wants) return fail(wants.error());
  destination.wants = *wants;
  if (auto read = reader.read_span("timeout", longest_timeout_of_message, destination.timeout); !read)
    return fail(read.error());
  if (auto read = reader.read_span("every", longest_spacing, destination.every); !read)
    return fail(read.error());
  destination.url = *url;
  destination.ca_file = *ca_file;
  destination.address = address->empty() ? "/dev/log" : *address;
  destination.program = reader.list("program");
  if (auto good = check_kind(reader, entry, destination); !good) return fail(good.error());
  return destination;
}

Result<void> distinct_destinations(const std::vector<NotifyEntry>& entries) {
  if (entries.size() > most_destinations) {
    return fail(ErrorCode::Invalid,
                fmt::format("there are more than {} [[notify.destination]]: let one of them tell the others",
                            most_destinations));
  }
  std::set<std::string> names;
  for (const NotifyEntry& entry : entries) {
    const EntryReader reader{entry};
    const auto name = reader.text("name");
    if (name && !names.insert(*name).second)
      return reader.wrong(fmt::format("named {} is there twice", *name));
  }
  return {};
}

Result<std::vector<Destination>> destinations_of(const Config& config) {
  std::vector<Destination> all;
  for (const NotifyEntry& entry : config.notify_entries) {
    auto destination = destination_in(entry);
    if (!destination) return fail(destination.error());
    if (auto read = read_files(entry, *destination); !read) return fail(read.error());
    all.push_back(*std::move(destination));
  }
  return all;
}

std::string name_of_host() {
  std::array<char, 256> text{};
  if (gethostname(text.data(), text.size() - 1) != 0 || text.front() == '\0') return "localhost";
  return text.data();
}

}  // namespace heddle::app
