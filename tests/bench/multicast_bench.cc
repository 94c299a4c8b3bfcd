// What hosts that join multicast groups cost the subnet manager, on a simulated fabric: all join three groups
// as IPoIB has them do it (two that all are in, one of their own: the solicited-node group of IPv6), then
// some of them leave the last one and join it again, one after the other. Time is that of the processor, the
// simulated fabric's included. Every tree is looked at afterwards.
// Usage: multicast_bench [GENERATOR]

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "authority/own/subnet_manager.h"
#include "authority/own/up_down_keeper.h"
#include "bench/cpu_seconds.h"
#include "bench/fabric_argument.h"
#include "discovery/discovery.h"
#include "support/sa_client.h"
#include "support/sim_world.h"

namespace heddle {
namespace {

using R = sa::McMemberRecord;

/// The simulated switches have 1,024 multicast LIDs.
constexpr std::size_t own_groups = 1000;

class Site {
 public:
  explicit Site(std::string_view generator)
      : world_{generator},
        sm_{world_.engine, world_, options(), [this](const Fabric& fabric) { return routes_.route(fabric); },
            [this](const provision::ProvisionReport& report) { configured_ = !report.failure; }},
        discovery_{
            world_.engine,
            {.change_bits = discovery::ChangeBits::Clear},
            [this](const discovery::SweepReport& report) { sm_.configure(report.survey, world_.now); }} {
    world_.engine.unsolicited_to(
        [this](const mad::Packet& packet, Instant at) { (void)sm_.on_unsolicited(packet, at); });
    world_.next_deadline = [this] { return sm_.next_deadline(); };
    world_.on_timer = [this](Instant now) { sm_.on_timer(now); };
  }

  [[nodiscard]] bool bring_up() {
    discovery_.full(world_.now);
    if (!world_.run([this] { return configured_ && !sm_.busy(); })) return false;
    const Fabric& truth = world_.fabric.description();
    for (std::uint32_t p = 0; p < truth.ports().size(); ++p) {
      const Port& port = truth.ports()[p];
      if (truth.node(port.node).type == NodeType::ChannelAdapter && port.link != no_link)
        hosts_.emplace_back(p);
    }
    return true;
  }
  [[nodiscard]] std::size_t hosts() const { return hosts_.size(); }

  /// Of these hosts, at once; false: somebody was not answered, or refused.
  [[nodiscard]] bool change(std::size_t first, std::size_t count, mad::Method method, unsigned group) {
    std::vector<std::unique_ptr<test::SaClient>> clients;
    for (std::size_t i = first; i < std::min(first + count, hosts_.size()); ++i) {
      clients.push_back(std::make_unique<test::SaClient>(world_.fabric, hosts_[i]));
      clients.back()->ask(question(i, method, group), world_.ps());
    }
    const auto is_well = [](const auto& client) { return client->answer && client->answered().status == 0; };
    (void)world_.run([&] { return std::ranges::all_of(clients, is_well); }, std::chrono::seconds{10});
    return std::ranges::all_of(clients, is_well);
  }
  void rest() {
    (void)world_.run([] { return false; }, std::chrono::seconds{1});
  }
  /// Ports of hosts that hear this LID's packets.
  [[nodiscard]] std::size_t hearing(Lid group) const {
    const Fabric& truth = world_.fabric.description();
    return static_cast<std::size_t>(std::ranges::count_if(hosts_, [&](PortIndex host) {
      const LinkEnd at = *truth.peer({truth.port(host).node, truth.port(host).num});
      return world_.fabric.multicasts(at.node, group, at.port);
    }));
  }

 private:
  static provision::ProvisionOptions options() {
    provision::ProvisionOptions options;
    options.administrator = sa::AdministratorOptions{};
    return options;
  }
  [[nodiscard]] test::SaQuestion question(std::size_t host, mad::Method method, unsigned group) const {
    R wish;
    wish.mgid = sa::ipoib_broadcast;
    if (group == 1) wish.mgid.id = 1;
    if (group == 2) wish.mgid = {0xff12'601b'ffff'0000, 0x1'ff00'0000 + host % own_groups};
    wish.port = {world_.fabric.port_info(hosts_[host]).gid_prefix,
                 world_.fabric.port_guid(hosts_[host]).raw()};
    wish.pkey = sa::default_pkey;
    wish.qkey = 0x0b1b;
    wish.join_state = sa::join::full;
    std::uint64_t components = R::has_mgid | R::has_port_gid | R::has_join_state;
    if (method == mad::Method::Set)
      components |= R::has_pkey | R::has_qkey | R::has_traffic_class | R::has_sl | R::has_flow_label;
    return {.method = method,
            .attribute = sa::Attribute::McMemberRecord,
            .components = components,
            .record = test::bytes_of(wish)};
  }

  test::SimWorld world_;
  provision::UpDownKeeper routes_;
  bool configured_ = false;
  provision::SubnetManager sm_;
  discovery::Discovery discovery_;
  std::vector<PortIndex> hosts_;
};

int run(std::string_view generator) {
  Site site{generator};
  if (!site.bring_up()) return 1;
  constexpr std::size_t at_once = 100;
  double before = cpu_seconds();
  bool well = true;
  for (std::size_t host = 0; host < site.hosts(); host += at_once) {
    for (unsigned group = 0; group < 3; ++group)
      well = site.change(host, at_once, mad::Method::Set, group) && well;
  }
  site.rest();
  fmt::print("{}: {} hosts join 3 groups each: {:.3f} s CPU with the simulated fabric; {} hear the first\n",
             generator, site.hosts(), cpu_seconds() - before, site.hearing(Lid{0xc000}));
  constexpr std::size_t times = 20;
  before = cpu_seconds();
  for (std::size_t i = 0; i < times; ++i) {
    for (const auto method : {sa::method::remove, mad::Method::Set}) {
      well = site.change(i, 1, method, 2) && well;
      site.rest();
    }
  }
  fmt::print("a host that leaves a group, and joins it again: {:.1f} ms CPU each\n",
             (cpu_seconds() - before) / (2 * times) * 1e3);
  return well ? 0 : 1;
}

}  // namespace
}  // namespace heddle

int main(int argc, char** argv) {
  return heddle::run(heddle::fabric_argument(argc, argv, 1, "tree:k=18,n=3,full"));
}
