// A fabric whose nodes lie: answers on their way into discovery, sampling and the comparison of QoS tables,
// changed as the input says, by directed route and by LID. Whatever is made of them is whole: every index is
// within its bounds, and no cable ends at a port that cannot have one.
//
// The input: one byte for the fabric (its highest bit: the daemon is a guest there), then lies of four bytes:
// which attribute, every how many answers, which byte of the attribute, and what stands there.

#include <algorithm>
#include <array>
#include <vector>

#include "discovery/discovery.h"
#include "fuzz/fuzz_target.h"
#include "sampling/sampler.h"
#include "sim/bring_up.h"
#include "support/sim_world.h"
#include "vlarb/keeper.h"

namespace {

using namespace heddle;
using namespace std::chrono_literals;

constexpr std::array fabrics{"tree:k=2,n=2", "torus:3,hosts=1,links=2", "xgft:2;2,2;2,2"};

struct Lied {
  mad::MgmtClass mgmt_class;
  std::uint16_t attribute;
};
constexpr Lied sm(mad::SmAttr attribute) {
  return {mad::MgmtClass::SubnDirected, static_cast<std::uint16_t>(attribute)};
}
constexpr Lied pm(mad::PmAttr attribute) {
  return {mad::MgmtClass::Perf, static_cast<std::uint16_t>(attribute)};
}
constexpr std::array attributes{sm(mad::SmAttr::NodeInfo),        sm(mad::SmAttr::NodeDescription),
                                sm(mad::SmAttr::SwitchInfo),      sm(mad::SmAttr::PortInfo),
                                sm(mad::SmAttr::MlnxExtPortInfo), pm(mad::PmAttr::ClassPortInfo),
                                pm(mad::PmAttr::PortCounters),    pm(mad::PmAttr::PortCountersExtended)};
/// Named by bytes that the corpus does not use otherwise.
constexpr std::uint8_t first_of_qos = 0xf0;
constexpr std::array of_qos{sm(mad::SmAttr::VlArbitration), sm(mad::SmAttr::SlToVlTable)};

Lied lied_about(std::uint8_t byte) {
  return byte < first_of_qos ? attributes[byte % attributes.size()] : of_qos[byte % of_qos.size()];
}

struct Lie {
  Lied about;
  unsigned period;
  std::size_t place;
  std::uint8_t says;
  unsigned met = 0;
};

std::vector<Lie> lies_of(const std::uint8_t* data, std::size_t size) {
  std::vector<Lie> lies;
  for (std::size_t i = 0; i + 4 <= size && lies.size() < 32; i += 4) {
    lies.push_back({.about = lied_about(data[i]),
                    .period = 1U + data[i + 1] % 16U,
                    .place = data[i + 2],
                    .says = data[i + 3]});
  }
  return lies;
}

void tell(std::vector<Lie>& lies, mad::Packet& packet) {
  const mad::Header header = mad::read_header(packet.mad);
  const bool smp =
      header.mgmt_class == mad::MgmtClass::SubnDirected || header.mgmt_class == mad::MgmtClass::SubnLid;
  for (Lie& lie : lies) {
    const bool about_smp = lie.about.mgmt_class == mad::MgmtClass::SubnDirected;
    if (smp != about_smp || (!smp && header.mgmt_class != lie.about.mgmt_class)) continue;
    if (header.attribute != lie.about.attribute) continue;
    if (lie.met++ % lie.period != 0) continue;
    const std::size_t room = smp ? mad::smp_data_size : mad::gmp_data_size;
    packet.mad[mad::smp_data_offset + lie.place % room] = lie.says;
  }
}

qos::Programming one_lane() {
  qos::Programming plan;
  plan.tables.high = {{Vl{0}, 64}};
  plan.tables.low = {{Vl{0}, 64}};
  return plan;
}

/// As every part of the daemon takes it for granted.
void check(const Survey& survey) {
  const Fabric& fabric = *survey.fabric;
  fuzz::require(survey.nodes.size() == fabric.nodes().size(), "a survey has a record of each node");
  fuzz::require(survey.local.raw() < fabric.nodes().size(), "the local node is in the survey");
  for (std::uint32_t i = 0; i < fabric.nodes().size(); ++i) {
    const SurveyNode& node = survey.nodes[i];
    fuzz::require(node.guid() == fabric.nodes()[i].guid, "a record stands where its node does");
    fuzz::require(node.ports.size() == std::size_t{fabric.nodes()[i].port_count} + 1,
                  "a record of each port");
  }
  for (const Link& link : fabric.links()) {
    for (const LinkEnd& end : {link.a, link.b}) {
      fuzz::require(end.node.raw() < fabric.nodes().size(), "a link ends at a node");
      fuzz::require(end.port != PortNum{0} && end.port.raw() <= fabric.node(end.node).port_count,
                    "a link ends at a port that can have a cable");
    }
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto fabric = *assign_lids(**generate(fabrics[data[0] % fabrics.size()]));
  auto lies = lies_of(data + 1, size - 1);
  test::SimWorld world{fabric};
  sim::bring_up(world.fabric);
  world.receive_with([&](const mad::Packet& packet, Instant at) {
    mad::Packet changed = packet;
    tell(lies, changed);
    world.engine.on_packet(changed, at);
  });

  bool swept = false;
  discovery::Discovery discovery{world.engine,
                                 {.guest_smps_per_second = 100'000, .most_nodes = 200},
                                 [&](const discovery::SweepReport& report) {
                                   swept = true;
                                   if (report.survey) check(*report.survey);
                                 }};
  vlarb::Keeper keeper{world.engine, 0, [](const Node& node) { return node.description; },
                       [&] { return discovery.pace(); }};
  if (auto everywhere = vlarb::PortFilter::parse("")) (void)keeper.assign({"test", *everywhere, one_lane()});
  world.next_deadline = [&]() -> std::optional<Instant> {
    const auto sweep = discovery.next_deadline();
    const auto read = keeper.next_deadline();
    return sweep && read ? std::min(sweep, read) : sweep ? sweep : read;
  };
  world.on_timer = [&](Instant now) {
    discovery.on_timer(now);
    keeper.on_timer(now);
  };
  const bool guest = (data[0] & 0x80U) != 0;
  if (guest) discovery.set_manner(discovery::Manner::Guest, world.now);
  sampling::Sampler sampler{world.engine, {.interval = 0s, .history = 4}, {}};
  const auto sweep = [&](auto begin) {
    swept = false;
    begin();
    (void)world.run([&] { return swept; }, 1000s);
    if (!discovery.survey()) return;
    sampler.use(discovery.survey()->fabric);
    for (int i = 0; i < 2; ++i) {
      world.now += 1s;
      if (sampler.begin_sweep(world.now)) (void)world.run([&] { return !sampler.sweeping(); }, 1000s);
    }
  };
  sweep([&] { discovery.full(world.now); });
  sweep([&] { discovery.light(world.now); });
  if (discovery.survey() && keeper.verify(discovery.survey(), world.now, {})) {
    (void)world.run([&] { return !keeper.busy(); }, 1000s);
  }
  if (const auto survey = discovery.survey(); survey && survey->nodes.size() > 1) {
    const NodeGuid second = survey->nodes[1].guid();
    sweep([&] { discovery.rediscover({&second, 1}, world.now); });
    // In the background of what others ask, where it is a guest's.
    sweep([&] {
      discovery.full(world.now);
      discovery.light(world.now);
      discovery.rediscover({&second, 1}, world.now);
    });
    if (guest) sweep([&] { discovery.set_manner(discovery::Manner::Owner, world.now); });
  }
  sweep([&] { discovery.full(world.now); });
  world.engine.stop(world.now);
  return 0;
}
