// Speed of the subnet administrator: Gets of single PathRecords from many hosts of a simulated fabric in the
// same process, through its MADs. Time is that of the processor, the simulated fabric's included and apart;
// every answer is compared with a walk by the tables that the switches hold. Then one of each whole table.
// Usage: sa_bench [GENERATOR [GETS]]

#include <fmt/format.h>

#include <cstdlib>
#include <random>

#include "authority/own/subnet_manager.h"
#include "authority/own/up_down_keeper.h"
#include "bench/cpu_seconds.h"
#include "bench/fabric_argument.h"
#include "discovery/discovery.h"
#include "support/sa_client.h"
#include "support/sim_world.h"

namespace heddle {
namespace {

/// Of a sum of short spans.
double thread_seconds() {
  timespec at{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
  return static_cast<double>(at.tv_sec) + static_cast<double>(at.tv_nsec) * 1e-9;
}

bool leads_there(const sim::SimulatedFabric& fabric, PortIndex from, const sa::PathRecord& path) {
  const Fabric& truth = fabric.description();
  PortIndex at = from;
  std::uint8_t mtu = 5;
  unsigned rate = 12000;
  for (int hop = 0; hop < 32; ++hop) {
    const Port& port = truth.port(at);
    PortIndex out = at;
    if (truth.node(port.node).type == NodeType::Switch) {
      out = truth.port_index(port.node, fabric.forwarding_table(port.node)[path.dlid.raw()]);
    } else if (hop > 0) {
      return fabric.port_of(path.dlid) == at && mtu == path.mtu.code && rate == sa::rate_of(path.rate.code);
    }
    if (!fabric.forwards(out)) return false;
    mtu = std::min(mtu, fabric.port_info(out).neighbor_mtu);
    rate = std::min(rate, sa::rate_of(sa::rate_code(fabric.active_width(out), fabric.active_speed(out))));
    at = truth.port_index(*truth.peer({truth.port(out).node, truth.port(out).num}));
  }
  return false;
}

int run(std::string_view generator, std::size_t gets) {
  test::SimWorld world{generator};
  provision::UpDownKeeper routes;
  provision::ProvisionOptions options;
  options.administrator = sa::AdministratorOptions{};
  bool configured = false;
  provision::SubnetManager sm{
      world.engine, world, options, [&](const Fabric& fabric) { return routes.route(fabric); },
      [&](const provision::ProvisionReport& report) { configured = !report.failure; }};
  discovery::Discovery discovery{
      world.engine, {.change_bits = discovery::ChangeBits::Clear}, [&](const discovery::SweepReport& report) {
        sm.configure(report.survey, world.now);
      }};
  double own = 0;
  world.engine.unsolicited_to([&](const mad::Packet& packet, Instant at) {
    const double before = thread_seconds();
    (void)sm.on_unsolicited(packet, at);
    own += thread_seconds() - before;
  });
  discovery.full(world.now);
  if (!world.run([&] { return configured && !sm.busy(); })) return 1;

  const Fabric& truth = world.fabric.description();
  std::vector<PortIndex> hosts;
  for (std::uint32_t p = 0; p < truth.ports().size(); ++p) {
    const Port& port = truth.ports()[p];
    if (truth.node(port.node).type == NodeType::ChannelAdapter && port.link != no_link) hosts.emplace_back(p);
  }
  constexpr std::size_t askers = 100;
  std::vector<std::unique_ptr<test::SaClient>> clients;
  std::vector<PortIndex> seats;
  for (std::size_t i = 0; i < askers; ++i) {
    seats.push_back(hosts[(i * 7919 + 1) % hosts.size()]);
    clients.push_back(std::make_unique<test::SaClient>(world.fabric, seats.back()));
  }
  std::mt19937_64 random{1};
  std::size_t right = 0;
  double whole = 0;
  own = 0;
  for (std::size_t asked = 0; asked < gets; asked += askers) {
    const double before = cpu_seconds();
    for (std::size_t i = 0; i < askers; ++i) {
      sa::PathRecord wish;
      const PortIndex to = hosts[random() % hosts.size()];
      wish.sgid = {world.fabric.port_info(seats[i]).gid_prefix, world.fabric.port_guid(seats[i]).raw()};
      wish.dgid = {world.fabric.port_info(to).gid_prefix, world.fabric.port_guid(to).raw()};
      clients[i]->ask(
          {.components = sa::PathRecord::has_sgid | sa::PathRecord::has_dgid, .record = test::bytes_of(wish)},
          world.ps());
    }
    (void)world.run([&] {
      for (const auto& client : clients) {
        if (!client->answer) return false;
      }
      return true;
    });
    whole += cpu_seconds() - before;
    for (std::size_t i = 0; i < askers; ++i) {
      const auto path = clients[i]->record<sa::PathRecord>();
      const bool loop = path.dlid == path.slid;
      if (clients[i]->answered().status == 0 && (loop || leads_there(world.fabric, seats[i], path))) ++right;
    }
  }
  fmt::print(
      "{}: {} hosts, {} Gets of PathRecords, {} right: administrator {:.3f} s CPU ({:.2f} us each), "
      "with the simulated fabric and those that ask {:.3f} s\n",
      generator, hosts.size(), gets, right, own, own / static_cast<double>(gets) * 1e6, whole);
  bool all_came = right == gets;
  for (const auto attribute :
       {sa::Attribute::NodeRecord, sa::Attribute::PortInfoRecord, sa::Attribute::PathRecord}) {
    sa::PathRecord wish;
    wish.slid = world.fabric.port_info(seats[0]).lid;
    test::SaQuestion question{.method = sa::method::get_table, .attribute = attribute};
    if (attribute == sa::Attribute::PathRecord) {
      question.components = sa::PathRecord::has_slid;
      question.record = test::bytes_of(wish);
    }
    own = 0;
    clients[0]->ask(question, world.ps());
    (void)world.run([&] { return clients[0]->answer.has_value(); });
    fmt::print("table of attribute 0x{:x}: {} records, {:.1f} ms CPU with all segments\n",
               static_cast<unsigned>(attribute), clients[0]->records(), own * 1e3);
    all_came = all_came && clients[0]->records() > 0;
  }
  return all_came ? 0 : 1;
}

}  // namespace
}  // namespace heddle

int main(int argc, char** argv) {
  return heddle::run(heddle::fabric_argument(argc, argv, 1, "tree:k=18,n=3,full"),
                     argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 100000);
}
