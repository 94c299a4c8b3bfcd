// Another subnet manager, and agents that do not do as they should.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mad/header.h"
#include "swarm/storm.h"

namespace heddle::swarm {

using namespace std::chrono_literals;
using State = mad::SmInfo::State;

/// Before all else that comes and goes has come back: it repairs nothing.
Storm::Act Storm::other_manager() {
  const PortIndex seat = dice_.one_of(hosts_);
  const auto priority = static_cast<std::uint8_t>(dice_.below(16));
  // Mostly it stands by.
  const auto way = dice_.below(4);
  return
      [seat, priority, begins = way == 2 ? State::Master : State::Standby, silent = way == 3](Storm& storm) {
        if (storm.other_) return storm.end_other();
        if (!storm.cut_.empty() || !storm.dead_.empty() || seat == storm.world_.port) return;
        storm.world_.watch.fault();
        storm.other_ = std::make_unique<test::OtherSm>(
            storm.world_.fabric, seat, [&storm] { return storm.world_.ps(); }, begins, priority);
        storm.other_->silent = silent;
      };
}

/// Whoever has yielded does not take a fabric by itself that nobody has, and says so; an operator does.
void Storm::end_other() {
  other_.reset();
  world_.run_for(2s);
  if (!world_.daemon || world_.fate.dead || !world_.daemon->core().authority().yields()) return;
  const auto says_so = [&] {
    if (!world_.daemon || world_.fate.dead) return true;
    const Problems problems = world_.daemon->core().problems();
    return std::any_of(problems.begin(), problems.end(),
                       [](const Problem& problem) { return problem.kind == ProblemKind::NoManager; });
  };
  if (!world_.run(says_so, 60s) && world_.daemon)
    outcome_.wrong.push_back("nobody manages the fabric, and no problem says so");
  if (world_.daemon && !world_.fate.dead) world_.daemon->take_subnet();
}

/// A daemon that has yielded brings back what it turned off, and writes nothing else.
void Storm::judge_sent(const mad::Packet& packet) {
  if (said_two_write_ || !other_ || other_->info.state != State::Master || !world_.daemon) return;
  const mad::Header header = mad::read_header(packet.mad);
  if (header.method != mad::Method::Set || !mad::is_smp(header)) return;
  if (!world_.daemon->core().authority().yields()) return;
  const auto attribute = mad::SmAttr{header.attribute};
  if (attribute == mad::SmAttr::PortInfo &&
      mad::decode<mad::PortInfo>(mad::smp_data(packet.mad)).physical != PhysState::Disabled)
    return;
  said_two_write_ = true;
  outcome_.wrong.push_back(fmt::format("a daemon that has yielded sets attribute {:#x} at {:.3f} s",
                                       header.attribute, seconds(world_.now.time_since_epoch())));
}

Storm::Act Storm::odd_agent() {
  const auto node = NodeIndex{static_cast<std::uint32_t>(dice_.below(truth().nodes().size()))};
  sim::AgentFaults faults;
  switch (dice_.below(5)) {
    case 0:
      faults.mute_sma = true;
      break;
    case 1:
      faults.mute_pma = true;
      break;
    case 2:
      faults.wrong_tid = true;
      break;
    case 3:
      faults.wrong_attribute = true;
      break;
    default:
      faults.slow = Picoseconds{30ms};
      break;
  }
  return [node, faults](Storm& storm) {
    storm.excuse();
    if (storm.odd_ != no_node) return storm.end_odd_agent();
    storm.world_.fabric.set_agent_faults(node, faults);
    storm.odd_ = node;
  };
}

void Storm::end_odd_agent() { world_.fabric.set_agent_faults(std::exchange(odd_, no_node), {}); }

/// One byte of one answer in 200. Not what says whose answer it is: that is another kind.
void Storm::spoil(mad::Packet& packet) {
  if (!mad::is_response(mad::read_header(packet.mad).method) || !chances_.chance(0.005)) return;
  packet.mad[mad::smp_data_offset + chances_.below(mad::smp_data_size)] ^=
      static_cast<std::uint8_t>(1 + chances_.below(255));
}

/// All that began is over, and the daemon is there.
void Storm::end_others() {
  world_.fate.on_moment = nullptr;
  world_.fate.spoil = nullptr;
  if (disk_) disk_->set_manners({0, plan_.lying});
  if (odd_ != no_node) end_odd_agent();
  if (other_) end_other();
  world_.options.plugin = {};
  pass(1ms);
}

}  // namespace heddle::swarm
