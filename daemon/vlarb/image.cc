#include "vlarb/image.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::vlarb {
namespace {

using Entry = mad::VlArbBlock::Entry;

void fill(const qos::ArbTable& table, std::size_t room, std::size_t first_block, Image& image) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    image.blocks[first_block + i / entries_per_block].entries[i % entries_per_block] = {table[i].vl,
                                                                                        table[i].weight};
  }
  for (std::size_t b = 0; b < 2; ++b) {
    const std::size_t before = b * entries_per_block;
    image.lengths[first_block + b] =
        static_cast<std::uint8_t>(std::min(room - std::min(room, before), entries_per_block));
  }
}

bool alike(const Entry& a, const Entry& b) { return a.weight == b.weight && (a.weight == 0 || a.vl == b.vl); }

std::string with_more(std::string first, std::size_t count) {
  return count > 1 ? fmt::format("{} (and {} more)", first, count - 1) : first;
}

}  // namespace

Image image_of(const qos::Programming& programming, const qos::PortCapability& port) {
  Image image;
  fill(programming.tables.low, port.low_entries, 0, image);
  fill(programming.tables.high, port.high_entries, 2, image);
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
