// Speed of discovery, of provisioning and of the transaction engine on a simulated fabric of 46,000 ports in
// the same process, window 64. Time is that of the processor; the fabric's own time is printed beside it.

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>

#include "authority/own/subnet_manager.h"
#include "authority/own/up_down_keeper.h"
#include "bench/cpu_seconds.h"
#include "bench/fabric_argument.h"
#include "discovery/discovery.h"
#include "support/sim_world.h"
#include "transport/requests.h"

namespace heddle {
namespace {

long resident_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

class Bench {
 public:
  explicit Bench(std::string_view spec, const sim::Options& options)
      : world_{spec, options},
        discovery_{world_.engine,
                   {.change_bits = discovery::ChangeBits::Clear},
                   [this](const discovery::SweepReport& report) {
                     ++sweeps_;
                     last_ = report;
                   }},
        sm_{world_.engine,
            world_,
            {},
            [this](const Fabric& fabric) { return keeper_.route(fabric); },
            [this](const provision::ProvisionReport& report) {
              ++configured_;
              provisioned_ = report;
            }} {
    world_.engine.unsolicited_to([this](const mad::Packet& packet, Instant at) {
      const auto notice = sm_.on_unsolicited(packet, at);
      if (notice && by_trap_) discovery_.on_notice(*notice, at);
    });
  }

  void run() {
    const Fabric& truth = world_.fabric.description();
    std::size_t ports = 0;
    for (const Node& node : truth.nodes()) ports += node.port_count;
    fmt::print("fabric: {} nodes, {} switches, {} ports, {} links\n", truth.nodes().size(),
               truth.switch_count(), ports, truth.links().size());
    sweep("full sweep", [this] { discovery_.full(world_.now); });
    configure("subnet manager, cold");
    sweep("full sweep again", [this] { discovery_.full(world_.now); });
    sweep("light sweep", [this] { discovery_.light(world_.now); });
    discovery_.set_change_bits(discovery::ChangeBits::Leave);
    sweep("light sweep, another one is master", [this] { discovery_.light(world_.now); });
    discovery_.set_change_bits(discovery::ChangeBits::Clear);
    world_.fabric.cut(LinkIndex{static_cast<std::uint32_t>(truth.links().size() - 1)}, world_.ps());
    sweep("light sweep, one link cut", [this] { discovery_.light(world_.now); });
    configure("subnet manager, one link cut");
    cable_to_tables(truth);
    lossy(truth);
    transactions();
    fmt::print("resident: {} MiB\n", resident_mib());
  }

 private:
  template <class Start>
  double sweep(std::string_view what, Start start) {
    const auto sent = world_.engine.statistics().sent;
    const Instant from = world_.now;
    const double cpu = cpu_seconds();
    const auto before = sweeps_;
    start();
    world_.run([&] { return sweeps_ > before; });
    const double took = cpu_seconds() - cpu;
    const auto mads = world_.engine.statistics().sent - sent;
    fmt::print("{:32} {:>7} MADs {:8.3f} s CPU {:9.0f} MADs/s {:8.3f} s fabric time, {}, {} problems\n", what,
               mads, took, static_cast<double>(mads) / took, seconds(world_.now - from),
               to_string(last_.kind), last_.problems.size());
    return took + seconds(world_.now - from);
  }

  void configure(std::string_view what) {
    const auto sent = world_.engine.statistics().sent;
    const Instant from = world_.now;
    const double cpu = cpu_seconds();
    const auto before = configured_;
    sm_.configure(discovery_.survey(), world_.now);
    world_.run([&] { return configured_ > before; });
    const double took = cpu_seconds() - cpu;
    const auto mads = world_.engine.statistics().sent - sent;
    fmt::print(
        "{:32} {:>7} MADs {:8.3f} s CPU {:9.0f} MADs/s {:8.3f} s fabric time, {} blocks, {} troubles\n", what,
        mads, took, static_cast<double>(mads) / took, seconds(world_.now - from), provisioned_.blocks_written,
        provisioned_.troubles.size());
    discovery_.adopt(provisioned_.survey);
  }

  /// From a cable between switches that is taken off, and the trap about it, to new tables that every switch
  /// has confirmed.
  void cable_to_tables(const Fabric& truth) {
    std::vector<LinkIndex> cables;
    for (std::uint32_t l = 0; l < truth.links().size(); ++l) {
      const Link& link = truth.links()[l];
      if (truth.node(link.a.node).type == NodeType::Switch &&
          truth.node(link.b.node).type == NodeType::Switch)
        cables.push_back(LinkIndex{l});
    }
    constexpr std::size_t times = 100;
    // Cables are lost one by one: no packet of the change before is under way any more.
    constexpr auto a_packets_life = std::chrono::seconds{60};
    double cpu = 0;
    double worst = 0;
    FabricClock::duration fabric_time{};
    std::size_t full = 0;
    by_trap_ = true;
    for (std::size_t i = 0; i < times; ++i) {
      world_.run([] { return false; }, a_packets_life);
      const double before_cpu = cpu_seconds();
      const Instant before = world_.now;
      const auto swept = sweeps_;
      world_.fabric.cut(cables[(i + 1) * cables.size() / (times + 2)], world_.ps());
      world_.run([&] { return sweeps_ > swept && !discovery_.busy(); });
      full += last_.kind == discovery::SweepKind::Full ? 1 : 0;
      const auto before_configured = configured_;
      sm_.configure(discovery_.survey(), world_.now);
      world_.run([&] { return configured_ > before_configured; });
      discovery_.adopt(provisioned_.survey);
      cpu += cpu_seconds() - before_cpu;
      worst = std::max(worst, cpu_seconds() - before_cpu + seconds(world_.now - before));
      fabric_time += world_.now - before;
    }
    by_trap_ = false;
    fmt::print(
        "one cable off, trap to confirmed tables: {:.3f} s CPU + {:.3f} s fabric time, mean of {}; worst "
        "{:.3f} s in all; {} full sweeps\n",
        cpu / times, seconds(fabric_time) / times, times, worst, full);
  }

  void lossy(const Fabric& truth) {
    const double clean = sweep("full sweep, nothing lost", [this] { discovery_.full(world_.now); });
    sim::MadFaults faults;
    faults.lost = Ratio{0.01};
    world_.fabric.set_mad_faults(faults);
    std::vector<NodeIndex> switches;
    for (std::uint32_t i = 0; i < truth.nodes().size(); ++i) {
      if (truth.nodes()[i].type == NodeType::Switch) switches.push_back(NodeIndex{i});
    }
    for (std::size_t i = 0; i < 5; ++i) {
      world_.fabric.set_agent_faults(switches[switches.size() - 1 - 3 * i], {.mute_sma = true});
    }
    const double lossy = sweep("1 % lost, five dead switches", [this] { discovery_.full(world_.now); });
    fmt::print("  processor and fabric time added: {:.2f} times those of the sweep without\n", lossy / clean);
    for (std::size_t i = 0; i < 5; ++i) {
      world_.fabric.set_agent_faults(switches[switches.size() - 1 - 3 * i], {});
    }
    world_.fabric.set_mad_faults({});
    sweep("full sweep, healed", [this] { discovery_.full(world_.now); });
  }

  /// Nothing but Get(PortInfo) of every node by LID, again and again.
  void transactions() {
    struct Client final : transport::TransactionClient {
      void on_completion(const transport::Completion& completion) override {
        done += completion.outcome == transport::Outcome::Answered ? 1 : 0;
        submit(completion.now);
      }
      void submit(Instant now) {
        if (left == 0) return;
        --left;
        const Lid lid = lids[left % lids.size()];
        const mad::Packet packet =
            transport::lid_smp({.attribute = mad::SmAttr::PortInfo, .modifier = 1}, lid);
        (void)engine->submit({.packet = packet, .agent = transport::agent_of(lid)}, *this, left, now);
      }
      transport::TransactionEngine* engine = nullptr;
      std::vector<Lid> lids;
      std::size_t left = 1'000'000;
      std::size_t done = 0;
    } client;
    client.engine = &world_.engine;
    for (const Port& port : discovery_.survey()->fabric->ports()) {
      if (port.lid != no_lid) client.lids.push_back(port.lid);
    }
    const auto total = client.left;
    const double cpu = cpu_seconds();
    for (int i = 0; i < 128; ++i) client.submit(world_.now);
    world_.run([&] { return world_.engine.pending() == 0; });
    const double took = cpu_seconds() - cpu;
    fmt::print("{:32} {:>7} done {:8.3f} s CPU {:9.0f} transactions/s\n", "Get(PortInfo) by LID", client.done,
               took, static_cast<double>(total) / took);
  }

  test::SimWorld world_;
  bool by_trap_ = false;
  std::size_t sweeps_ = 0;
  std::size_t configured_ = 0;
  discovery::SweepReport last_;
  provision::ProvisionReport provisioned_;
  discovery::Discovery discovery_;
  provision::UpDownKeeper keeper_;
  provision::SubnetManager sm_;
};

}  // namespace
}  // namespace heddle

int main(int argc, char** argv) {
  heddle::sim::Options options;
  options.mad_latency = heddle::Picoseconds{5'000'000};  // 5 us one way
  heddle::Bench{heddle::fabric_argument(argc, argv, 1, "fattree:hosts=8400,radix=36"), options}.run();
  return 0;
}
