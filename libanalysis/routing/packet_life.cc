#include "routing/packet_life.h"

#include <algorithm>

namespace heddle::routing {

std::optional<FabricClock::duration> lifetime(std::uint8_t value) {
  constexpr std::uint8_t longest = 19;
  constexpr FabricClock::duration unit{4096};
  if (value > longest) return std::nullopt;
  return unit * (std::int64_t{1} << value);
}

FabricClock::duration packet_life(std::span<const std::uint8_t> lifetime_values, std::size_t switches,
                                  FabricClock::duration most) {
  FabricClock::duration slowest{0};
  for (const std::uint8_t value : lifetime_values) {
    const auto life = lifetime(value);
    if (!life || value == 0) return most;
    slowest = std::max(slowest, *life);
  }
  if (lifetime_values.empty()) return most;
  // The last switch has looked its table up when the packet comes in.
  const auto between = static_cast<std::int64_t>(std::clamp<std::size_t>(switches, 2, 1024) - 1);
  return std::min(most, slowest * between);
}

void PacketsUnderWay::begin(Instant now) {
  begun_ = now;
  latest_ = std::max(latest_, now);
  written_.clear();
}

void PacketsUnderWay::wrote(Lid lid, Instant at) {
  if (written_.size() <= lid.raw()) written_.resize(std::size_t{lid.raw()} + 1, begun_);
  written_[lid.raw()] = std::max(written_[lid.raw()], at);
  latest_ = std::max(latest_, at);
}

Instant PacketsUnderWay::earliest(std::span<const EntryWrite> stage) const {
  Instant first{};
  for (const EntryWrite& write : stage) {
    if (write.change == Change::Follows) first = std::max(first, gone());
    if (write.change != Change::Loses) continue;
    const std::size_t lid = write.lid.raw();
    first = std::max(first, (lid < written_.size() ? written_[lid] : begun_) + life_);
  }
  return first;
}

void PacketsUnderWay::replaced(Lid lid, NodeGuid from, NodeGuid to, Instant at) {
  if (at - pruned_ > life_) {
    std::erase_if(replaced_, [&](const auto& each) { return each.second + life_ <= at; });
    pruned_ = at;
  }
  replaced_[{lid, from, to}] = at;
}

Instant PacketsUnderWay::may_return(Lid lid, NodeGuid from, NodeGuid to) const {
  const auto found = replaced_.find({lid, to, from});
  return found == replaced_.end() ? Instant{} : found->second + life_;
}

}  // namespace heddle::routing
