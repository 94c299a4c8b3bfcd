/// The subnet administrator as the daemon has it: discovery, subnet manager and hosts that ask, on a
/// simulated fabric.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "authority/own/subnet_manager.h"
#include "authority/own/up_down_keeper.h"
#include "discovery/discovery.h"
#include "support/sa_client.h"
#include "support/sim_world.h"

namespace heddle::provision {

using namespace std::chrono_literals;
using test::bytes_of;
using test::SaClient;
using test::SaQuestion;
using R = sa::McMemberRecord;

inline constexpr const char* small_tree = "tree:k=2,n=3";  // 8 hosts
inline constexpr const char* wide_tree = "tree:k=4,n=3";   // 64 hosts, 48 switches

class Asked : public ::testing::Test {
 protected:
  struct World {
    explicit World(std::string_view generator, std::uint8_t lmc = 0, const sim::Options& options = {},
                   const sa::PaceOptions& pace = {})
        : sim{generator, options},
          discovery{sim.engine,
                    {.change_bits = discovery::ChangeBits::Clear},
                    [this](const discovery::SweepReport& report) {
                      if (report.survey && report.survey != report.before)
                        sm.configure(report.survey, sim.now);
                    }},
          sm{sim.engine, sim, settings(lmc, pace),
             [this](const Fabric& fabric) { return routes.route(fabric); },
             [this](const ProvisionReport& report) {
               survey = report.survey;
               set += report.ports_set;
               if (!report.failure) discovery.adopt(report.survey);
             }} {
      sim.engine.unsolicited_to([this](const mad::Packet& packet, Instant at) {
        if (const auto notice = sm.on_unsolicited(packet, at)) discovery.on_notice(*notice, at);
      });
      sim.next_deadline = [this] {
        auto next = sm.next_deadline();
        if (asks_again_at && (!next || *asks_again_at < *next)) next = asks_again_at;
        return next;
      };
      sim.on_timer = [this](Instant now) {
        sm.on_timer(now);
        if (asks_again_at && *asks_again_at <= now && asking != nullptr) {
          asks_again_at = now + 300ms;
          asking->again(sim.ps());
        }
      };
    }
    static ProvisionOptions settings(std::uint8_t lmc, const sa::PaceOptions& pace) {
      ProvisionOptions options;
      options.ports.lmc = lmc;
      options.administrator = sa::AdministratorOptions{.pace = pace};
      return options;
    }
    void bring_up() {
      discovery.full(sim.now);
      ASSERT_TRUE(sim.run([&] { return survey && !discovery.busy() && !sm.busy(); }));
    }
    /// The nth port of a channel adapter with a cable; the first is where the subnet manager sits.
    [[nodiscard]] PortIndex host(std::size_t nth) const {
      const Fabric& truth = sim.fabric.description();
      for (std::uint32_t p = 0; p < truth.ports().size(); ++p) {
        const Port& port = truth.ports()[p];
        if (truth.node(port.node).type == NodeType::ChannelAdapter && port.link != no_link && nth-- == 0) {
          return PortIndex{p};
        }
      }
      return no_port;
    }
    [[nodiscard]] sa::Gid gid(PortIndex port) const {
      return {sim.fabric.port_info(port).gid_prefix, sim.fabric.port_guid(port).raw()};
    }
    /// Asked until it is answered, or `limit` has passed.
    bool ask(SaClient& client, const SaQuestion& question, FabricClock::duration limit = 60s) {
      client.ask(question, sim.ps());
      asking = &client;
      asks_again_at = sim.now + 300ms;
      const bool answered = sim.run([&] { return client.answer.has_value(); }, limit);
      asks_again_at.reset();
      return answered;
    }
    /// Groups too, which have their turn some time after others had.
    void rest() {
      (void)sim.run([] { return false; }, 1s);
      EXPECT_TRUE(sim.run([&] { return !sm.busy() && !discovery.busy(); }));
    }

    test::SimWorld sim;
    std::shared_ptr<const Survey> survey;
    std::size_t set = 0;
    discovery::Discovery discovery;
    UpDownKeeper routes;
    SubnetManager sm;
    SaClient* asking = nullptr;
    std::optional<Instant> asks_again_at;
  };

  static SaQuestion path_question(const sa::PathRecord& wish, std::uint64_t components) {
    return {.components = components, .record = bytes_of(wish)};
  }
  static SaQuestion join_question(const sa::Gid& mgid, const sa::Gid& port,
                                  std::uint8_t states = sa::join::full) {
    R wish;
    wish.mgid = mgid;
    wish.port = port;
    wish.pkey = sa::default_pkey;
    wish.qkey = 0x0b1b;
    wish.join_state = states;
    return {.method = mad::Method::Set,
            .attribute = sa::Attribute::McMemberRecord,
            .components = R::has_mgid | R::has_port_gid | R::has_pkey | R::has_join_state | R::has_qkey |
                          R::has_traffic_class | R::has_sl | R::has_flow_label,
            .record = bytes_of(wish)};
  }
  /// What a packet by the tables that the switches hold meets.
  static std::optional<sa::Capacity> walk(const sim::SimulatedFabric& fabric, PortIndex from, Lid to) {
    const Fabric& truth = fabric.description();
    PortIndex at = from;
    sa::Capacity least{5, 24};
    for (int hop = 0; hop < 32; ++hop) {
      const Port& port = truth.port(at);
      PortIndex out = at;
      if (truth.node(port.node).type == NodeType::Switch) {
        const PortNum next = fabric.forwarding_table(port.node)[to.raw()];
        if (next == PortNum{0}) return least;
        out = truth.port_index(port.node, next);
      } else if (hop > 0) {
        return fabric.port_of(to) == at ? std::optional{least} : std::nullopt;
      }
      if (!fabric.forwards(out)) return std::nullopt;
      least.mtu = std::min(least.mtu, fabric.port_info(out).neighbor_mtu);
      const auto rate = sa::rate_code(fabric.active_width(out), fabric.active_speed(out));
      if (sa::rate_of(rate) < sa::rate_of(least.rate)) least.rate = rate;
      at = truth.port_index(*truth.peer({truth.port(out).node, truth.port(out).num}));
    }
    return std::nullopt;
  }
  static std::vector<PortIndex> hearing(const World& world, Lid group) {
    std::vector<PortIndex> found;
    const Fabric& truth = world.sim.fabric.description();
    for (std::uint32_t p = 0; p < truth.ports().size(); ++p) {
      const Port& port = truth.ports()[p];
      if (truth.node(port.node).type != NodeType::ChannelAdapter || port.link == no_link) continue;
      const LinkEnd at = *truth.peer({port.node, port.num});
      if (world.sim.fabric.multicasts(at.node, group, at.port)) found.push_back(PortIndex{p});
    }
    return found;
  }
};

}  // namespace heddle::provision
