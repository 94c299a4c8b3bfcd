#include "metrics/error_series.h"

#include <algorithm>
#include <optional>

namespace heddle::metrics {
namespace {

load::CounterMask above_zero(const load::PortSample& port) {
  load::CounterMask counters = 0;
  for (std::size_t i = 0; i < load::counter_count; ++i) {
    if (port.totals[i] > 0) counters |= load::CounterMask{1} << i;
  }
  return counters & port.known & skippable;
}

}  // namespace

/// Ports keep what was known of them, wherever their nodes stand in the new fabric.
void ErrorSeries::follow(const std::shared_ptr<const Fabric>& fabric) {
  auto fresh = std::make_shared<Shown>();
  fresh->all.resize(fabric->ports().size());
  fresh->zero.resize(fabric->ports().size());
  std::vector<bool> seen(fabric->ports().size());
  std::vector<std::optional<PortIndex>> now_at(seen_.size());
  for (const Node& node : fabric->nodes()) {
    const NodeIndex index = fabric_ ? fabric_->find_node(node.guid) : no_node;
    if (index == no_node) continue;
    const Node& before = fabric_->node(index);
    for (std::uint32_t p = 0; p <= std::min(node.port_count, before.port_count); ++p) {
      const std::uint32_t from = before.first_port.raw() + p;
      const std::uint32_t to = node.first_port.raw() + p;
      fresh->all[to] = shown_->all[from];
      fresh->zero[to] = shown_->zero[from];
      seen[to] = seen_[from];
      now_at[from] = PortIndex{to};
    }
  }
  std::erase_if(begun_, [&](const Begun& each) { return !now_at[each.port.raw()]; });
  for (Begun& each : begun_) each.port = *now_at[each.port.raw()];
  fabric_ = fabric;
  seen_ = std::move(seen);
  shown_ = std::move(fresh);
}

std::shared_ptr<const ErrorSeries::Shown> ErrorSeries::look(const load::Sample& sample) {
  const std::lock_guard lock{mutex_};
  if (fabric_ == sample.fabric && number_ >= sample.number && shown_) return shown_;
  number_ = sample.number;
  if (fabric_ != sample.fabric) follow(sample.fabric);
  auto shown = std::make_shared<Shown>(*shown_);
  std::erase_if(begun_, [&](const Begun& each) {
    if (sample.ended - each.at < begins) return false;
    shown->zero[each.port.raw()] &= ~each.counters;
    return true;
  });
  for (std::uint32_t i = 0; i < sample.ports.size(); ++i) {
    const load::PortSample& port = sample.ports[i];
    if (port.known == 0) continue;
    const load::CounterMask first = above_zero(port) & ~shown->all[i];
    shown->all[i] |= first;
    if (seen_[i] && first != 0) {
      shown->zero[i] |= first;
      begun_.push_back({PortIndex{i}, first, sample.ended});
    }
    seen_[i] = true;
  }
  shown_ = std::move(shown);
  return shown_;
}

}  // namespace heddle::metrics
