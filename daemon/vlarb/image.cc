#include "vlarb/image.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::vlarb {
namespace {

using Entry = mad::VlArbBlock::Entry;

/// Of the two blocks of a table for which the port has room for so many entries.
std::uint8_t length(std::size_t block, std::size_t room) {
  const std::size_t before = block % 2 * entries_per_block;
  return static_cast<std::uint8_t>(std::min(room - std::min(room, before), entries_per_block));
}

bool alike(const Entry& a, const Entry& b) { return a.weight == b.weight && (a.weight == 0 || a.vl == b.vl); }

std::string with_more(std::string first, std::size_t count) {
  return count > 1 ? fmt::format("{} (and {} more)", first, count - 1) : first;
}

}  // namespace

Image image_of(const qos::Programming& programming, const qos::PortCapability& port) {
  Image image;
  const auto blocks = qos::blocks_of(programming.tables);
  for (std::size_t b = 0; b < block_count; ++b) {
    for (std::size_t i = 0; i < entries_per_block; ++i)
      image.blocks[b].entries[i] = {blocks[b][i].vl, blocks[b][i].weight};
    image.lengths[b] = length(b, b < 2 ? port.low_entries : port.high_entries);
  }
  image.limit = programming.tables.limit;
  image.map.vl = programming.map.vl;
  return image;
}

std::string difference(const Image& wanted, std::size_t block, const mad::VlArbBlock& got) {
  std::string first;
  std::size_t count = 0;
  for (std::size_t i = 0; i < wanted.lengths[block]; ++i) {
    const Entry& want = wanted.blocks[block].entries[i];
    if (alike(want, got.entries[i]) || ++count > 1) continue;
    first = fmt::format("{} entry {}: VL{} weight {} in place of VL{} weight {}", block < 2 ? "low" : "high",
                        block % 2 * entries_per_block + i, got.entries[i].vl.raw(), got.entries[i].weight,
                        want.vl.raw(), want.weight);
  }
  return with_more(std::move(first), count);
}

std::string difference(const mad::SlToVlTable& wanted, const mad::SlToVlTable& got) {
  std::string first;
  std::size_t count = 0;
  for (std::size_t sl = 0; sl < wanted.vl.size(); ++sl) {
    if (wanted.vl[sl] == got.vl[sl] || ++count > 1) continue;
    first = fmt::format("SL {} to VL{} in place of VL{}", sl, got.vl[sl].raw(), wanted.vl[sl].raw());
  }
  return with_more(std::move(first), count);
}

}  // namespace heddle::vlarb
