// A fabric whose nodes lie to the subnet manager that configures it: answers to Sets and Gets of settings,
// tables and states, changed as the input says. It comes to an end each time, and says something.
//
// The input: lies of four bytes: which attribute, every how many answers, which byte of it, and what stands
// there; a period of 255 loses the answer.

#include <vector>

#include "authority/own/subnet_manager.h"
#include "authority/own/up_down_keeper.h"
#include "discovery/discovery.h"
#include "fuzz/fuzz_target.h"
#include "support/sim_world.h"

namespace {

using namespace heddle;
using namespace std::chrono_literals;

constexpr mad::SmAttr attributes[] = {
    mad::SmAttr::PortInfo,    mad::SmAttr::SwitchInfo, mad::SmAttr::LinearForwardingTable,
    mad::SmAttr::SmInfo,      mad::SmAttr::PKeyTable,  mad::SmAttr::MulticastForwardingTable,
    mad::SmAttr::SlToVlTable, mad::SmAttr::NodeInfo};

struct Lie {
  mad::SmAttr about;
  unsigned period;
  std::size_t place;
  std::uint8_t says;
  unsigned met = 0;
};

enum class Fate : std::uint8_t { Arrives, Lost };

Fate tell(std::vector<Lie>& lies, mad::Packet& packet) {
  const mad::Header header = mad::read_header(packet.mad);
  for (Lie& lie : lies) {
    if (header.attribute != static_cast<std::uint16_t>(lie.about)) continue;
    if (lie.period == 256) return Fate::Lost;
    if (lie.met++ % lie.period == 0)
      packet.mad[mad::smp_data_offset + lie.place % mad::smp_data_size] = lie.says;
  }
  return Fate::Arrives;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto fabric = *generate("torus:3,hosts=1,links=2");
  std::vector<Lie> lies;
  for (std::size_t i = 0; i + 4 <= size && lies.size() < 16; i += 4) {
    lies.push_back({attributes[data[i] % std::size(attributes)], 1U + data[i + 1], data[i + 2], data[i + 3]});
  }
  test::SimWorld world{fabric};
  bool lying = false;
  world.receive_with([&](const mad::Packet& packet, Instant at) {
    mad::Packet changed = packet;
    if (!lying || tell(lies, changed) == Fate::Arrives) world.engine.on_packet(changed, at);
  });
  provision::UpDownKeeper keeper;
  std::size_t reports = 0;
  discovery::Discovery* sweeps = nullptr;
  provision::SubnetManager manager{world.engine,
                                   world,
                                   {},
                                   [&](const Fabric& seen) { return keeper.route(seen); },
                                   [&](const provision::ProvisionReport& report) {
                                     ++reports;
                                     if (!report.failure) sweeps->adopt(report.survey);
                                     sweeps->release(report.ended);
                                   }};
  discovery::Discovery discovery{
      world.engine, {.most_nodes = 200}, [&](const discovery::SweepReport& report) {
        if (!report.survey || report.survey == report.before) return;
        sweeps->hold();
        lying = true;
        manager.configure(report.survey, world.now);
      }};
  sweeps = &discovery;
  world.next_deadline = [&] { return manager.next_deadline(); };
  world.on_timer = [&](Instant now) { manager.on_timer(now); };
  for (int sweep = 0; sweep < 2; ++sweep) {
    lying = false;
    discovery.full(world.now);
    const std::size_t before = reports;
    for (int i = 0; i < 400 && (reports == before || manager.busy()); ++i) {
      (void)world.run([&] { return reports > before && !manager.busy(); }, 100ms);
      manager.on_timer(world.now);
      if (reports == before && !discovery.busy() && !manager.busy()) break;
    }
    fuzz::require(!manager.busy(), "configuring comes to an end");
  }
  world.engine.stop(world.now);
  return 0;
}
