#include "fabric/node_names.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "base/printable.h"
#include "fabric/source.h"
#include "fabric/unique_names.h"

namespace heddle {
namespace {

constexpr std::string_view blanks = " \t\r\v\f";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace

Result<NodeNames> NodeNames::parse(std::string_view text, const std::string& file) {
  NodeNames names;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  for (unsigned number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    if (line.empty() || line.front() == '#') continue;

    const bool hexadecimal = line.starts_with("0x") || line.starts_with("0X");
    const std::string_view digits = line.substr(hexadecimal ? 2 : 0);
    std::uint64_t guid = 0;
    const auto [rest, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), guid, hexadecimal ? 16 : 10);
    std::string_view name = digits.substr(static_cast<std::size_t>(rest - digits.data()));
    if (error != std::errc{} ||
        (!name.empty() && name.front() != '#' && !trimmed(name.substr(0, 1)).empty())) {
      return fail(ErrorCode::Invalid,
                  fmt::format("{}:{}: expected a GUID and a name, as in 0x0002c90300000001 "
                              "\"core 1\", found {}",
                              file, number, in_quotes(line)));
    }
    name = trimmed(name);
    if (name.starts_with('"')) {
      name.remove_prefix(1);
      name = name.substr(0, name.find('"'));
    } else {
      name = trimmed(name.substr(0, name.find_first_of("\"#")));
    }
    std::string shown = printable(name);
    if (!shown.empty()) names.names_.try_emplace(NodeGuid{guid}, std::move(shown));
  }
  return names;
}

Result<NodeNames> NodeNames::load(const std::string& path) {
  const auto text = read_text_file(path);
  if (!text) return fail(text.error());
  return parse(*text, path);
}

std::string NodeNames::of(const Node& node) const {
  const auto given = names_.find(node.guid);
  if (given != names_.end()) return given->second;
  return plain_name(node);
}

}  // namespace heddle
