/// What the provisioner's batches have in common: a port each, by a tag.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "authority/own/batch.h"
#include "fabric/fabric.h"

namespace heddle::provision {

[[nodiscard]] inline std::uint64_t tag_of(LinkEnd end) {
  return (std::uint64_t{end.node.raw()} << 8U) | end.port.raw();
}
[[nodiscard]] inline LinkEnd end_of(std::uint64_t tag) {
  return {NodeIndex{static_cast<std::uint32_t>(tag >> 8U)}, PortNum{static_cast<std::uint8_t>(tag)}};
}

/// A source of steps from a list, one after the other; those that have no step are left out.
template <class Item, class Make>
[[nodiscard]] Batch::Source from_list(std::vector<Item> items, Make make) {
  return [items = std::move(items), make = std::move(make), next = std::size_t{0}]() mutable {
    std::optional<Step> step;
    while (!step && next < items.size()) step = make(items[next++]);
    return step;
  };
}

}  // namespace heddle::provision
