#include "support/watch/circle_watch.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::test {

void CircleWatch::reload() {
  const routing::SwitchGraph& graph = watched_.graph();
  order_ = std::make_unique<ChannelOrder>(graph);
  channel_of_.assign(graph.size() * ports, ChannelOrder::none);
  from_.clear();
  to_.clear();
  host_switches_.clear();
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    if (graph.hosts_at(routing::SwitchIndex{s}) > 0) host_switches_.push_back(s);
    for (const routing::Hop& hop : graph.hops(routing::SwitchIndex{s})) {
      channel_of_[s * ports + hop.out.raw()] = static_cast<Channel>(to_.size());
      from_.push_back(s);
      to_.push_back(hop.peer.raw());
    }
  }
  at_.clear();
  for (const TableColumns::Entry& entry : tables_.lids()) at_.push_back(entry.target->at.raw());
  ways_.assign(at_.size() * graph.size(), 0);
  circling_.clear();
  for (Column k = 0; k < at_.size(); ++k) {
    for (const std::uint32_t s : host_switches_) {
      arrive(k, s, ChannelOrder::none, [this](Channel x, Channel y) { order_->count(x, y); });
    }
    if (!circle(k, [](Channel) { return true; }).empty()) circling_.insert(k);
  }
  order_->arrange();
  if (life_) order_->packets_live(*life_);
  rest();
}

void CircleWatch::rest() {
  if (!rests_ || life_) return;
  order_->rest();
  rest_loops_.clear();
  if (circling_.empty()) return;
  const Column first = *circling_.begin();
  rest_loops_.push_back(describe(first, circle(first, [](Channel) { return true; })));
}

void CircleWatch::never_rests() {
  rests_ = false;
  if (order_ != nullptr) reload();
}

void CircleWatch::packets_live(Picoseconds life) {
  life_ = life;
  if (order_ != nullptr) reload();
}

/// Packets come to the switch by one way more.
template <class Count>
void CircleWatch::arrive(Column k, std::uint32_t s, Channel by, Count count) {
  while (true) {
    const Channel next = onward(k, s);
    if (by != ChannelOrder::none && next != ChannelOrder::none) count(by, next);
    if (ways(k, s)++ != 0 || next == ChannelOrder::none) return;
    by = next;
    s = to_[next];
  }
}

/// By one less. Nothing may run in circles: a circle would keep itself.
void CircleWatch::leave(Column k, std::uint32_t s, Channel by) {
  while (true) {
    const Channel next = onward(k, s);
    if (next != ChannelOrder::none) order_->remove(by, next);
    if (--ways(k, s) != 0 || next == ChannelOrder::none) return;
    by = next;
    s = to_[next];
  }
}

template <class F>
void CircleWatch::for_each_way_in(Column k, std::uint32_t s, F&& f) const {
  const std::size_t row = std::size_t{k} * watched_.graph().size();
  for (const Channel in : order_->into(s)) {
    if (ways_[row + from_[in]] != 0 && onward(k, from_[in]) == in) f(in);
  }
}

void CircleWatch::before_change(Column k, std::uint32_t s) {
  if (circling_.contains(k)) {
    for (std::uint32_t each = 0; each < watched_.graph().size(); ++each) {
      const Channel out = ways(k, each) != 0 ? onward(k, each) : ChannelOrder::none;
      const Channel next = out != ChannelOrder::none ? onward(k, to_[out]) : ChannelOrder::none;
      if (next != ChannelOrder::none) order_->remove(out, next);
    }
    for (std::uint32_t each = 0; each < watched_.graph().size(); ++each) ways(k, each) = 0;
    return;
  }
  const Channel out = onward(k, s);
  if (ways(k, s) == 0 || out == ChannelOrder::none) return;
  for_each_way_in(k, s, [&](Channel in) { order_->remove(in, out); });
  leave(k, to_[out], out);
}

void CircleWatch::after_change(Column k, std::uint32_t s) {
  const auto add = [this](Channel before, Channel after) { order_->add(before, after); };
  if (circling_.erase(k) != 0) {
    for (const std::uint32_t each : host_switches_) arrive(k, each, ChannelOrder::none, add);
    if (!circle(k, [](Channel) { return true; }).empty()) circling_.insert(k);
    return;
  }
  const Channel out = onward(k, s);
  if (ways(k, s) == 0 || out == ChannelOrder::none) return;
  for_each_way_in(k, s, [&](Channel in) { add(in, out); });
  arrive(k, to_[out], out, add);
  Channel next = out;
  for (std::size_t hops = 0; next != ChannelOrder::none; ++hops) {
    if (hops > watched_.graph().size()) {
      circling_.insert(k);
      return;
    }
    next = onward(k, to_[next]);
  }
}

/// The switches of a circle in which packets from hosts run, over links that pass.
template <class Passes>
std::vector<std::uint32_t> CircleWatch::circle(Column k, Passes passes) const {
  constexpr std::uint32_t unseen = 0;
  std::vector<std::uint32_t> seen_from(watched_.graph().size(), unseen);
  for (std::uint32_t i = 0; i < host_switches_.size(); ++i) {
    std::uint32_t s = host_switches_[i];
    while (seen_from[s] == unseen) {
      seen_from[s] = i + 1;
      const Channel out = onward(k, s);
      if (out == ChannelOrder::none || !passes(out)) break;
      s = to_[out];
      if (seen_from[s] != i + 1) continue;
      std::vector<std::uint32_t> result{s};
      for (std::uint32_t at = to_[onward(k, s)]; at != s; at = to_[onward(k, at)]) result.push_back(at);
      return result;
    }
  }
  return {};
}

bool CircleWatch::is_active(Channel channel) const {
  const routing::SwitchGraph& graph = watched_.graph();
  const routing::SwitchIndex from{from_[channel]};
  const PortNum out = graph.hops(from)[channel - graph.first_hop(from)].out;
  return watched_.sim().forwards(watched_.fabric().port_index(graph.node(from), out));
}

std::vector<std::uint32_t> CircleWatch::active_circle(Column k) const {
  const routing::Target& target = *tables_.lids()[k].target;
  const bool there = target.link == no_link || watched_.sim().forwards(target.port);
  if (!there) return {};
  return circle(k, [this](Channel channel) { return is_active(channel); });
}

std::vector<std::uint8_t> CircleWatch::active_channels() const {
  std::vector<std::uint8_t> active(to_.size());
  for (Channel channel = 0; channel < to_.size(); ++channel) active[channel] = is_active(channel) ? 1 : 0;
  return active;
}

/// From everything: only where dependencies of links that are not Active have a cycle, too.
std::vector<CircleWatch::Channel> CircleWatch::cycle_of_active_links() const {
  ChannelOrder order(watched_.graph());
  const std::vector<std::uint8_t> active = active_channels();
  for (Column k = 0; k < at_.size(); ++k) {
    const routing::Target& target = *tables_.lids()[k].target;
    if (target.link != no_link && !watched_.sim().forwards(target.port)) continue;
    std::vector<std::uint8_t> met(watched_.graph().size(), 0);
    for (std::uint32_t s : host_switches_) {
      Channel by = ChannelOrder::none;
      while (true) {
        const Channel next = onward(k, s);
        const bool goes_on = next != ChannelOrder::none && active[next] != 0;
        if (by != ChannelOrder::none && goes_on) order.count(by, next);
        if (std::exchange(met[s], std::uint8_t{1}) != 0 || !goes_on) break;
        by = next;
        s = to_[next];
      }
    }
  }
  return order.find_cycle_of_now();
}

std::vector<std::string> CircleWatch::findings() {
  std::vector<std::string> texts;
  for (const Column k : circling_) {
    if (const auto found = active_circle(k); !found.empty()) {
      texts.push_back(describe(k, found));
      break;
    }
  }
  const bool cyclic = order_->has_cycle();
  if (cyclic && !order_->find_cycle_of_now().empty()) {
    if (const auto cycle = cycle_of_active_links(); !cycle.empty()) texts.push_back(describe(cycle));
  }
  if (!rests_) return texts;
  for (const std::string& loop : rest_loops_) texts.push_back("at the last rest, " + loop);
  if (rest_loops_.empty() && !circling_.empty()) {
    const Column first = *circling_.begin();
    texts.push_back(describe(first, circle(first, [](Channel) { return true; })));
  }
  if (!cyclic) return texts;
  // What waits for a link that is down is dropped, and waits no more.
  const auto cycle = life_ ? order_->find_cycle(active_channels()) : order_->find_cycle();
  if (!cycle.empty()) texts.push_back(describe(cycle));
  return texts;
}

std::string CircleWatch::describe(Column k, const std::vector<std::uint32_t>& circle) const {
  const routing::SwitchGraph& graph = watched_.graph();
  const TableColumns::Entry& entry = tables_.lids()[k];
  std::string text = fmt::format("loop to LID {} (\"{}\")", entry.lid.raw(),
                                 watched_.name(watched_.fabric().port(entry.target->port).node));
  for (const std::uint32_t s : circle) {
    text += fmt::format("\n  \"{}\" port {}", watched_.name(graph.node(routing::SwitchIndex{s})),
                        tables_.column(k)[s]);
  }
  return text;
}

std::string CircleWatch::describe(const std::vector<Channel>& cycle) const {
  const routing::SwitchGraph& graph = watched_.graph();
  std::string text = "cycle of channel dependencies (deadlock)";
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const Channel next = cycle[(i + 1) % cycle.size()];
    const routing::SwitchIndex from{from_[cycle[i]]};
    text += fmt::format("\n  \"{}\" port {}", watched_.name(graph.node(from)),
                        graph.hops(from)[cycle[i] - graph.first_hop(from)].out.raw());
    Column k = 0;
    while (k < at_.size() && (onward(k, from.raw()) != cycle[i] || onward(k, to_[cycle[i]]) != next)) ++k;
    text += k < at_.size() ? fmt::format(" [LID {}]", tables_.lids()[k].lid.raw())
            : life_        ? " [under way]"
                           : " [at the last rest]";
  }
  return text;
}

}  // namespace heddle::test
