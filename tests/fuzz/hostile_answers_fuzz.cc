// A fabric whose nodes lie: answers on their way into discovery, sampling, the reading of tables, the watch
// for who is master and the comparison of QoS tables, changed as the input says, by directed route and by
// LID. Whatever is made of them is whole: every index is within its bounds, no cable ends at a port that
// cannot have one, and everything that is begun comes to an end.
//
// The input: one byte for the fabric (its highest bit: the daemon is a guest there; the next one: it takes
// few nodes), then four bytes each:
// - a lie: which attribute, every how many answers, which byte of the attribute (from 0xf0 on: what becomes
// of
//   the answer as a whole), and what stands there;
// - from 0xd0 to 0xdf a step: which, and three bytes of what it takes. All lies are told from the beginning
// on;
//   without any step a full sweep is made.

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "discovery/discovery.h"
#include "discovery/sm_watch.h"
#include "discovery/table_reader.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/hostile_answers_checks.h"
#include "fuzz/lies.h"
#include "sampling/sampler.h"
#include "sim/bring_up.h"
#include "support/other_sm.h"
#include "support/sim_world.h"
#include "vlarb/keeper.h"

namespace {

using namespace heddle;
using namespace std::chrono_literals;

constexpr std::array fabrics{"tree:k=2,n=2", "torus:3,hosts=1,links=2", "xgft:2;2,2;2,2"};
constexpr std::size_t most_lies_or_steps = 16;

using fuzz::Fate;
using fuzz::Lie;
using fuzz::Plan;
using fuzz::pm;
using fuzz::sm;
using fuzz::Step;

constexpr std::array attributes{sm(mad::SmAttr::NodeInfo),        sm(mad::SmAttr::NodeDescription),
                                sm(mad::SmAttr::SwitchInfo),      sm(mad::SmAttr::PortInfo),
                                sm(mad::SmAttr::MlnxExtPortInfo), pm(mad::PmAttr::ClassPortInfo),
                                pm(mad::PmAttr::PortCounters),    pm(mad::PmAttr::PortCountersExtended)};
constexpr std::array more{sm(mad::SmAttr::VlArbitration), sm(mad::SmAttr::SlToVlTable),
                          sm(mad::SmAttr::SmInfo), sm(mad::SmAttr::LinearForwardingTable)};

fuzz::Lied lied_about(std::uint8_t byte) {
  return byte < fuzz::first_behind_steps ? attributes[byte % attributes.size()] : more[byte % more.size()];
}

qos::Programming lanes(std::uint8_t how) {
  qos::Programming plan;
  plan.tables.high = {{Vl{0}, 64}};
  plan.tables.low = {{Vl{0}, 64}};
  if ((how & 1U) == 0) return plan;
  plan.tables.high.assign(40, {Vl{1}, 32});
  plan.tables.limit = qos::HighLimit{7};
  for (unsigned sl = 0; sl < qos::sl_count; ++sl) plan.map.vl[sl] = Vl{static_cast<std::uint8_t>(sl % 2)};
  return plan;
}

class World {
 public:
  World(Plan plan, std::shared_ptr<const Fabric> fabric, discovery::Manner manner, std::size_t most_nodes)
      : lies_{std::move(plan.lies)},
        most_nodes_{most_nodes},
        world_{std::move(fabric), {.mad_latency = 5us}} {
    sim::bring_up(world_.fabric, {.sm_lid = Lid{1}});
    world_.receive_with([this](const mad::Packet& packet, Instant at) {
      mad::Packet changed = packet;
      const Fate fate = tell(lies_, changed);
      if (fate != Fate::Lost) world_.engine.on_packet(changed, at);
      if (fate == Fate::ArrivesTwice) world_.engine.on_packet(changed, at);
    });
    world_.engine.unsolicited_to([this](const mad::Packet& packet, Instant at) {
      const bool is_notice = mad::read_header(packet.mad).method == mad::Method::Trap;
      if (is_notice) discovery_.on_notice(mad::decode<mad::Notice>(mad::smp_data(packet.mad)), at);
    });
    world_.next_deadline = [this] { return next_deadline(); };
    world_.on_timer = [this](Instant now) {
      discovery_.on_timer(now);
      keeper_.on_timer(now);
      reader_.on_timer(now);
      if (sampler_runs_) sampler_.on_timer(now);
    };
    discovery_.set_manner(manner, world_.now);
    for (const Step& step : plan.steps) take(step);
  }

  void end() {
    discovery_.release(world_.now);
    settle();
    world_.engine.stop(world_.now);
    fuzz::require(world_.engine.pending() == 0, "every request is completed");
  }

 private:
  [[nodiscard]] std::optional<Instant> next_deadline() const {
    std::optional<Instant> first;
    const auto sampled = sampler_runs_ ? sampler_.next_deadline() : std::nullopt;
    const std::array all{discovery_.next_deadline(), keeper_.next_deadline(), reader_.next_deadline(),
                         sampled};
    for (const auto& at : all)
      if (at && (!first || *at < *first)) first = at;
    return first;
  }

  /// A node that says another thing each time is asked without end, and there is a report each time.
  void settle() {
    constexpr std::size_t enough = 8;
    const std::size_t last = reports_ + enough;
    const bool ends = world_.run([&] { return !discovery_.busy() || reports_ >= last; }, 1000s);
    fuzz::require(ends, "a sweep comes to an end");
  }

  void take(const Step& step) {
    constexpr std::array steps{&World::full,   &World::light, &World::rediscover, &World::all_at_once,
                               &World::manner, &World::trap,  &World::accident,   &World::sample,
                               &World::tables, &World::watch, &World::other_sm,   &World::programming,
                               &World::plans,  &World::adopt, &World::poll,       &World::hold};
    (this->*steps[step.what % steps.size()])(step);
  }

  void full(const Step& /*step*/) {
    discovery_.full(world_.now);
    settle_unless_held();
  }
  void light(const Step& /*step*/) {
    discovery_.light(world_.now);
    settle_unless_held();
  }
  void rediscover(const Step& step) {
    const auto survey = discovery_.survey();
    if (!survey) return;
    const std::array nodes{survey->nodes[step.which % survey->nodes.size()].guid(),
                           survey->nodes[step.how % survey->nodes.size()].guid()};
    discovery_.rediscover(nodes, world_.now);
    settle_unless_held();
  }
  /// In the background of what others ask, where it is a guest's.
  void all_at_once(const Step& step) {
    discovery_.full(world_.now);
    (void)world_.run([] { return false; }, std::chrono::microseconds{10 * step.more});
    discovery_.light(world_.now);
    rediscover(step);
  }
  void manner(const Step& step) {
    using discovery::Manner;
    discovery_.set_change_bits((step.how & 1U) != 0 ? discovery::ChangeBits::Clear
                                                    : discovery::ChangeBits::Leave);
    discovery_.set_manner((step.which & 1U) != 0 ? Manner::Guest : Manner::Owner, world_.now);
    settle_unless_held();
  }
  void settle_unless_held() {
    if (!held_) settle();
  }

  void trap(const Step& step) {
    constexpr std::array<std::uint16_t, 4> traps{128, 144, 145, 131};
    mad::Notice notice;
    notice.generic = step.which < 0xf0;
    notice.trap = traps[step.which % traps.size()];
    notice.set_data_lid(Lid{step.how});
    discovery_.on_notice(notice, world_.now);
    if ((step.more & 1U) != 0) settle_unless_held();
  }

  void accident(const Step& step) {
    const Fabric& truth = world_.fabric.description();
    const LinkIndex link{step.how % static_cast<std::uint32_t>(truth.links().size())};
    const NodeIndex node{step.how % static_cast<std::uint32_t>(truth.nodes().size())};
    switch (step.which % 7U) {
      case 0:
        return world_.fabric.cut(link, world_.ps());
      case 1:
        return world_.fabric.mend(link, world_.ps());
      case 2:
        return world_.fabric.kill(node, world_.ps());
      case 3:
        return world_.fabric.revive(node, world_.ps());
      case 4:
        return world_.fabric.set_guid(node, NodeGuid{step.more});
      case 5:
        return world_.fabric.set_agent_faults(node, {.mute_sma = (step.more & 1U) != 0,
                                                     .mute_pma = (step.more & 2U) != 0,
                                                     .wrong_attribute = (step.more & 4U) != 0});
      default:
        return world_.fabric.set_traits(node, {.extended_counters = (step.more & 1U) != 0,
                                               .xmit_wait = (step.more & 2U) != 0,
                                               .optimized_sl2vl = (step.more & 4U) != 0});
    }
  }

  void sample(const Step& step) {
    if (!discovery_.survey()) return;
    sampler_.use(discovery_.survey()->fabric);
    for (unsigned i = 0; i <= step.which % 3U; ++i) {
      world_.now += 1s;
      if (!sampler_.begin_sweep(world_.now)) continue;
      fuzz::require(world_.run([this] { return !sampler_.sweeping(); }, 1000s), "sampling comes to an end");
    }
  }
  /// For some time, with what is narrow read in between.
  void poll(const Step& step) {
    if (!discovery_.survey()) return;
    sampler_.use(discovery_.survey()->fabric);
    sampler_.set_interval(std::chrono::milliseconds{100 * (1 + step.which % 20)}, world_.now);
    sampler_runs_ = true;
    (void)world_.run([] { return false; }, std::chrono::milliseconds{10 * step.how});
    world_.now += std::chrono::milliseconds{10 * step.more};
    (void)world_.run([] { return false; }, 200ms);
    sampler_runs_ = false;
    sampler_.set_interval(0s, world_.now);
    const bool ends = world_.run([this] { return !sampler_.sweeping(); }, 1000s);
    fuzz::require(ends || stopped_, "sampling comes to an end");
  }

  void tables(const Step& step) {
    if (!discovery_.survey()) return;
    reader_.use(discovery_.survey(), world_.now);
    reader_.hurry(world_.now);
    const auto before = reader_.latest();
    // Another fabric may be found meanwhile.
    if ((step.which & 1U) != 0) {
      (void)world_.run([] { return false; }, std::chrono::microseconds{10 * step.how});
      reader_.use(discovery_.survey(), world_.now);
    }
    const bool ends = world_.run([&] { return reader_.latest() != before; }, 1000s);
    fuzz::require(ends || stopped_, "a round comes to an end");
  }

  void watch(const Step& step) {
    seen_ = false;
    watch_.look(world_.fabric.description().port(world_.port()).num, world_.now);
    if ((step.which & 1U) != 0) watch_.look(PortNum{step.how}, world_.now);
    (void)world_.run([this] { return seen_; }, 2s);
  }
  void other_sm(const Step& step) {
    const Fabric& truth = world_.fabric.description();
    std::vector<PortIndex> seats;
    for (std::uint32_t i = 0; i < truth.ports().size(); ++i) {
      const Port& port = truth.port(PortIndex{i});
      const bool is_host = truth.node(port.node).type == NodeType::ChannelAdapter;
      if (is_host && port.link != no_link && PortIndex{i} != world_.port()) seats.emplace_back(i);
    }
    const PortIndex seat = seats[step.how % seats.size()];
    other_.reset();
    other_.emplace(
        world_.fabric, seat, [this] { return world_.ps(); }, static_cast<mad::SmInfo::State>(step.which % 4U),
        step.more % 16U);
    other_->set_master_of(world_.port(), world_.fabric.port_info(seat).lid);
    (void)world_.run([] { return false; }, 10us);
  }

  void programming(const Step& step) {
    const auto survey = discovery_.survey();
    if (!survey) return;
    const auto done = [](const vlarb::Outcome& outcome) {
      fuzz::require(outcome.report.differ.size() + outcome.report.silent.size() <= outcome.report.ports,
                    "a port is found once");
    };
    for (unsigned i = 0; i <= step.how % 20U; ++i) {
      switch (step.which % 5U) {
        case 0:
          (void)keeper_.verify(survey, world_.now, done);
          break;
        case 1:
          (void)keeper_.write(survey, keeper_.assignments(), world_.now, done);
          break;
        case 2:
          (void)keeper_.check(survey, keeper_.assignments(), world_.now, done);
          break;
        case 3:
          keeper_.note(*survey);
          break;
        default:
          (void)keeper_.reapply(survey, world_.now, done);
      }
    }
    fuzz::require(world_.run([this] { return !keeper_.busy(); }, 1000s), "orders come to an end");
  }
  void plans(const Step& step) {
    constexpr std::array filters{"", "switch", "ca", "*/1", "*"};
    if (step.more == 0xff) return keeper_.forget();
    for (unsigned i = 0; i <= step.how % 70U; ++i) {
      std::string filter = filters[step.which % filters.size()];
      if (i > 0) filter = "n" + std::to_string(i);
      if (auto ports = vlarb::PortFilter::parse(filter))
        (void)keeper_.assign({"test", *ports, lanes(step.more)});
    }
    fuzz::require(keeper_.assignments().size() <= vlarb::Keeper::most_assignments, "plans are bounded");
  }

  /// As a provisioner does, which has brought it up to date.
  void adopt(const Step& step) {
    const auto survey = discovery_.survey();
    if (!survey) return;
    if ((step.which & 1U) != 0) discovery_.full(world_.now);
    if ((step.which & 2U) != 0) discovery_.rediscover({&survey->nodes[0].info.node_guid, 1}, world_.now);
    (void)world_.run([] { return false; }, std::chrono::microseconds{10 * step.how});
    auto changed = std::make_shared<Survey>(*discovery_.survey());
    SurveyNode& node = changed->nodes[step.more % changed->nodes.size()];
    node.ports.back().info.state = PortState::Down;
    if ((step.which & 4U) != 0) {
      discovery_.take_routes(*changed);
    } else {
      discovery_.adopt(changed);
    }
    settle_unless_held();
  }
  void hold(const Step& step) {
    if ((step.which & 2U) != 0) return stop();
    held_ = (step.which & 1U) != 0;
    if (held_) return discovery_.hold();
    discovery_.release(world_.now);
    settle();
  }

  /// While everything is under way.
  void stop() {
    if (const auto survey = discovery_.survey()) {
      (void)keeper_.verify(survey, world_.now, {});
      reader_.use(survey, world_.now);
      reader_.hurry(world_.now);
      reader_.on_timer(world_.now);
      sampler_.use(survey->fabric);
      (void)sampler_.begin_sweep(world_.now);
    }
    discovery_.light(world_.now);
    stopped_ = true;
    world_.engine.stop(world_.now);
  }

  std::vector<Lie> lies_;
  std::size_t most_nodes_;
  test::SimWorld world_;
  bool stopped_ = false;
  bool held_ = false;
  bool seen_ = false;
  bool sampler_runs_ = false;
  std::size_t reports_ = 0;
  discovery::SmSight sight_;
  std::optional<test::OtherSm> other_;
  discovery::Discovery discovery_{world_.engine,
                                  {.guest_smps_per_second = 100'000, .most_nodes = most_nodes_},
                                  [this](const discovery::SweepReport& report) {
                                    ++reports_;
                                    fuzz::check(report);
                                  }};
  vlarb::Keeper keeper_{world_.engine, 0, [](const Node& node) { return node.description; },
                        [this] { return discovery_.pace(); }};
  sampling::Sampler sampler_{world_.engine, {.interval = 0s, .history = 4}, [this](const auto& sample) {
                               fuzz::check(*sample, sampler_.agents().ports());
                             }};
  discovery::TableReader reader_{world_.engine,
                                 {.guest_smps_per_second = 100'000},
                                 [this] { return discovery_.pace(); },
                                 [](const auto& read) { fuzz::check(*read); }};
  discovery::SmWatch watch_{world_.engine, 0, [this](const discovery::SmSight& now, Instant) {
                              seen_ = true;
                              (void)compare(sight_, now);
                              fuzz::require(compare(now, now) == discovery::SmEvent::Nothing,
                                            "nothing has happened where nothing has changed");
                              sight_ = now;
                            }};
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const std::array assigned{*assign_lids(**generate(fabrics[0])), *assign_lids(**generate(fabrics[1])),
                                   *assign_lids(**generate(fabrics[2]))};
  const auto manner = (data[0] & 0x80U) != 0 ? discovery::Manner::Guest : discovery::Manner::Owner;
  const std::size_t most_nodes = (data[0] & 0x40U) != 0 ? 5 : 100;
  World world{fuzz::plan_of(data + 1, size - 1, most_lies_or_steps, lied_about),
              assigned[(data[0] & 0x3fU) % assigned.size()], manner, most_nodes};
  world.end();
  return 0;
}
