#include <algorithm>
#include <vector>

#include "trace/fields.h"
#include "trace/vef.h"

namespace heddle::trace {
namespace {

constexpr std::uint64_t most_devices = 1U << 20U;
constexpr std::uint64_t most_ticks = std::uint64_t{1} << 60U;

std::string_view cut(std::string_view& rest, char at) {
  const std::size_t end = rest.find(at);
  const std::string_view found = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  return found;
}

bool next_line(std::istream& in, std::string& text) {
  if (!std::getline(in, text)) return false;
  if (!text.empty() && text.back() == '\r') text.pop_back();
  return true;
}

}  // namespace

Result<Names> read_names(std::istream& in, std::string_view name) {
  std::string text;
  std::size_t line = 1;
  if (!next_line(in, text)) {
    return fail(ErrorCode::Invalid, fmt::format("{}:1: header is missing: the file is empty", name));
  }
  std::string_view rest = text;
  Fields header{name, line, {}};
  if (cut(rest, ':') != "NODES") return header.wrong("header", "must be NODES:n:m");
  const auto devices = header.parse(cut(rest, ':'), "n", most_devices);
  if (!devices) return fail(devices.error());
  const auto ticks = header.parse(rest, "m", most_ticks);
  if (!ticks) return fail(ticks.error());
  Names names;
  names.tile_ticks = *ticks;
  names.kinds.resize(*devices);
  names.tiles.resize(*devices);
  std::vector<bool> named(*devices);
  while (next_line(in, text)) {
    ++line;
    if (text.empty()) continue;
    const Fields fields{name, line, {}};
    rest = text;
    const auto id = fields.parse(cut(rest, ':'), "id", *devices == 0 ? 0 : *devices - 1);
    if (!id) return fail(id.error());
    if (*devices == 0 || named[*id]) return fields.wrong("id", fmt::format("{} is there twice", *id));
    const std::size_t split = rest.rfind('_');
    if (split == std::string_view::npos) return fields.wrong("kind_tile", "has no _ between kind and tile");
    const auto tile = fields.parse(rest.substr(split + 1), "tile", most_devices);
    if (!tile) return fail(tile.error());
    named[*id] = true;
    names.kinds[*id] = std::string{rest.substr(0, split)};
    names.tiles[*id] = names.kinds[*id] == "DMA" ? 0 : static_cast<std::uint32_t>(*tile);
  }
  const auto missing = std::ranges::find(named, false);
  if (missing != named.end()) {
    return fail(ErrorCode::Invalid, fmt::format("{}:1: {} devices, but device {} has no line", name, *devices,
                                                missing - named.begin()));
  }
  return names;
}

}  // namespace heddle::trace
