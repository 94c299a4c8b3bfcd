// From the tables in the switches to those that are wanted: which routing brings what, and when.

#include <algorithm>
#include <chrono>
#include <cstring>
#include <span>

#include "engine.h"
#include "routing/kept_turns.h"
#include "routing/packet_life.h"
#include "subnet_reader.h"

namespace heddle::plugin {

/// OpenSM's own record of a switch is no answer: it holds zeroes where a block was not confirmed.
void Engine::choose_pass(const planned::Subnet& subnet) {
  if (opensm_.subn.first_time_master_sweep || opensm_.subn.coming_out_of_standby) {
    const std::lock_guard lock(groups_mutex_);
    stages_.forget();
  }
  in_force_.keep(planned::switches_in_sight(subnet));
  if (in_force_.empty()) {
    pass_ = planned::Pass{};
    pass_.tables = routes_->tables;
    pass_.writes = true;
    return;
  }
  const auto packets =
      Timings::Clock::now() < packets_gone_ ? planned::Packets::UnderWay : planned::Packets::Gone;
  if (packets == planned::Packets::Gone) in_force_.forget_packets();
  pass_ = maker_.next_pass(subnet, *routes_, in_force_, packets);
}

bool Engine::is_calm() const {
  return pass_.staying.empty() && Timings::Clock::now() - written_at_ >= routing::between_orders;
}

Timings::Clock::duration Engine::packet_life() const {
  const plan::Plan* plan = keeper_.plan();
  if (plan != nullptr && plan->packet_life) return *plan->packet_life;
  // The time-out of the whole subnet (IBA 14.2.5.6): what is older counts as lost everywhere.
  constexpr std::uint8_t default_timeout = 18;
  const auto most =
      routing::lifetime(std::min<std::uint8_t>(opensm_.subn.opt.subnet_timeout, default_timeout));
  if (!routes_) return *most;
  // OpenSM gives this one to every switch.
  const std::uint8_t lifetime_value = opensm_.subn.opt.packet_life_time;
  return routing::packet_life(std::span(&lifetime_value, 1), routes_->tables.switch_count(), *most);
}

/// Whether these are all that it was asked for. Where one is missing the Set may have arrived all the same:
/// the switch is read before anything is routed again, since a heavy sweep follows.
bool Engine::take_answers(const osm_switch_t& sw) {
  if (sw.lft == nullptr || sw.new_lft == nullptr) return false;
  const std::size_t whole = std::size_t{sw.max_lid_ho} / routing::lids_per_block * routing::lids_per_block +
                            routing::lids_per_block;
  const std::size_t size = std::min<std::size_t>(whole, sw.lft_size);
  in_force_.confirm(guid_of(*sw.p_node), {sw.lft, size}, {sw.new_lft, size});
  const bool is_all = std::memcmp(sw.lft, sw.new_lft, sw.max_lid_ho + 1U) == 0;
  if (!is_all) in_force_.doubt(guid_of(*sw.p_node));
  return is_all;
}

void Engine::end_pass() {
  is_asked_ = false;
  in_force_.end_pass();
  if (!pass_.writes) return;
  written_at_ = Timings::Clock::now();
  packets_gone_ = written_at_ + packet_life();
}

/// Repairs and stages that wait for no packet follow at once.
void Engine::plan_next_pass() {
  const auto now = Timings::Clock::now();
  const std::lock_guard lock(next_pass_mutex_);
  next_pass_at_.reset();
  if (pass_.behind != 0) {
    next_pass_at_ = pass_.writes ? now : packets_gone_;
  } else if (leaves_later_) {
    next_pass_at_ = planned::LostCables::again_at(written_at_, now);
  }
}

std::optional<Timings::Clock::time_point> Engine::next_pass_at() const {
  const std::lock_guard lock(next_pass_mutex_);
  return next_pass_at_;
}

void Engine::go_on(Timings::Clock::time_point now) {
  go_on_with_groups(now);
  {
    const std::lock_guard lock(next_pass_mutex_);
    if (!next_pass_at_ || now < *next_pass_at_) return;
    // A heavy sweep that begins at this moment forgets that it was asked for.
    next_pass_at_ = now + std::chrono::seconds{5};
  }
  ask_for_reroute();
}

}  // namespace heddle::plugin
