/// The cables between switches of a fabric.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/links.h"

namespace heddle::test {

inline std::vector<LinkIndex> trunk_links(const Fabric& fabric) {
  std::vector<LinkIndex> links;
  for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
    if (joins_switches(fabric, fabric.link(LinkIndex{i}))) links.emplace_back(i);
  }
  return links;
}

}  // namespace heddle::test
