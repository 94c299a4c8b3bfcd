#include "regulation/wake_times.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace heddle::regulation {
namespace {

using Device = std::pair<std::uint32_t, std::uint16_t>;
using Kind = std::tuple<Device, Device, LinkWidth, LinkSpeed>;

Kind kind_of(const Fabric& fabric, const Link& link) {
  const auto device = [&](LinkEnd end) {
    const Node& node = fabric.node(end.node);
    return Device{node.vendor_id, node.device_id};
  };
  const auto [first, second] = std::minmax({device(link.a), device(link.b)});
  return {first, second, link.width, link.speed};
}

std::map<Kind, Wakes> by_kind(const Fabric& fabric, const std::map<LinkRef, Wakes>& wakes) {
  std::map<Kind, Wakes> kinds;
  if (wakes.empty()) return kinds;
  for (const Link& link : fabric.links()) {
    const auto own = wakes.find(link_ref(fabric, link));
    if (own == wakes.end()) continue;
    Wakes& all = kinds[kind_of(fabric, link)];
    all.insert(all.end(), own->second.begin(), own->second.end());
  }
  return kinds;
}

}  // namespace

std::chrono::milliseconds quantile(Wakes wakes, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(wakes.size())));
  const auto at =
      wakes.begin() + static_cast<std::ptrdiff_t>(std::clamp<std::size_t>(rank, 1, wakes.size()) - 1);
  std::nth_element(wakes.begin(), at, wakes.end());
  return *at;
}

void add_wake(Wakes& wakes, std::chrono::milliseconds took) {
  wakes.push_back(took);
  if (wakes.size() > most_wakes) wakes.erase(wakes.begin());
}

std::vector<ExpectedWake> expected_wakes(const Fabric& fabric, const std::map<LinkRef, Wakes>& wakes,
                                         std::chrono::nanoseconds first_guess) {
  std::vector<ExpectedWake> expected(fabric.links().size(), {first_guess, WakeSource::Configured, 0, {}});
  std::map<Kind, std::chrono::milliseconds> of_kind;
  for (auto& [kind, all] : by_kind(fabric, wakes)) {
    if (all.size() >= least_wakes) of_kind[kind] = quantile(std::move(all), wake_quantile);
  }
  if (wakes.empty()) return expected;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Link& link = fabric.links()[i];
    ExpectedWake& one = expected[i];
    if (const auto kind = of_kind.find(kind_of(fabric, link)); kind != of_kind.end()) {
      one.wake = kind->second;
      one.source = WakeSource::Kind;
    }
    const auto own = wakes.find(link_ref(fabric, link));
    if (own == wakes.end() || own->second.empty()) continue;
    one.seen = own->second.size();
    one.longest = *std::ranges::max_element(own->second);
    if (one.seen < least_wakes) continue;
    one.wake = quantile(own->second, wake_quantile);
    one.source = WakeSource::Link;
  }
  return expected;
}

}  // namespace heddle::regulation
