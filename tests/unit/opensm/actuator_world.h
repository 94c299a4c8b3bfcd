/// OpenSM with the plugin in small, and the actuator beside it, over a simulated fabric.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "authority/opensm/opensm_actuator.h"
#include "authority/own/table_writer.h"
#include "authority/plan_file.h"
#include "discovery/discovery.h"
#include "planned/route_maker.h"
#include "sim/bring_up.h"
#include "support/desks.h"
#include "support/scratch.h"
#include "support/sim_world.h"
#include "support/trunks.h"

namespace heddle::opensm {

/// OpenSM with the plugin, in small: routes by the plan with the plugin's own code, writes the tables into
/// the simulated fabric, and says so.
class World final : private PluginPort, private regulate::FabricSeat {
 public:
  explicit World(const std::string& generator, unsigned planes = 1)
      : sim{generator},
        discovery_{sim.engine, {}, [this](const discovery::SweepReport& report) { current = report.survey; }},
        writer_{sim.engine, 0} {
    sim::bring_up(sim.fabric, {static_cast<std::uint8_t>(planes > 1 ? 1 : 0), Lid{1}});
    discovery_.full(sim.now);
    EXPECT_TRUE(sim.run([this] { return current != nullptr; }));
    OpenSmActuatorOptions options;
    options.planes = planes;
    Desk desk = test::at_once([this] { return sim.now; });
    desk.run = [this, at_once = desk.run](std::function<void()> work, std::function<void()> then) {
      (slow ? disk.desk({}).run : at_once)(std::move(work), std::move(then));
    };
    store.emplace(plan_path(), desk);
    actuator.emplace(sim.engine, static_cast<regulate::FabricSeat&>(*this), static_cast<PluginPort&>(*this),
                     *store, nullptr, options);
    PluginEvent hello;
    hello.kind = PluginEvent::Kind::Hello;
    hello.state = "master";
    hello.window = true;
    actuator->on_plugin(hello, sim.now);
    route();
    run([this] { return routings == 1; });
  }

  [[nodiscard]] bool connected() const override { return is_connected; }
  void tell(PluginCommand command) override {
    if (command != PluginCommand::NewPlan) return;
    plans.push_back(read_plan(plan_path()).value());
    if (answers) route();
  }

  bool run(const std::function<bool()>& done, FabricClock::duration limit = std::chrono::seconds{200}) {
    const Instant end = sim.now + limit;
    while (!done()) {
      const auto due = actuator->next_deadline();
      if (due && *due <= sim.now) {
        actuator->on_timer(sim.now);
        continue;
      }
      const Instant until = due && *due < end ? *due : end;
      if (sim.run([&] { return done() || actuator->next_deadline() != due; }, until - sim.now)) continue;
      sim.now = until;
      sim.fabric.advance(sim.ps());
      if (until == end) return done();
    }
    return true;
  }

  Result<void> write(std::optional<unsigned> plane, const std::vector<LinkRef>& avoid) {
    std::optional<Result<void>> answer;
    actuator->write_tables(plane, avoid, sim.now,
                           [&](const Result<void>& result, Instant) { answer = result; });
    EXPECT_FALSE(answer) << "answered from within the call";
    EXPECT_TRUE(run([&] { return answer.has_value(); }));
    return answer.value_or(Result<void>{fail(ErrorCode::Invalid, "no answer")});
  }
  std::optional<Error> set(const LinkRef& link, regulate::LinkTo to) {
    std::optional<std::vector<regulate::LinkOutcome>> answer;
    actuator->set_links({{link, link.a, to, full()}}, sim.now,
                        [&](const auto& outcomes, Instant) { answer = outcomes; });
    EXPECT_FALSE(answer) << "answered from within the call";
    EXPECT_TRUE(run([&] { return answer.has_value(); }));
    if (!answer) return Error{ErrorCode::Invalid, "no answer"};
    return answer->at(0).failure;
  }

  [[nodiscard]] static power::LinkMode full() { return {LinkWidth::X4, LinkSpeed::Hdr}; }
  [[nodiscard]] std::string plan_path() const { return directory_ / "plan.json"; }
  [[nodiscard]] LinkRef trunk(std::size_t number) const {
    const Fabric& fabric = *current->fabric;
    return link_ref(fabric, fabric.link(test::trunk_links(fabric).at(number)));
  }
  [[nodiscard]] PortState state_of(const PortRef& port) const {
    return sim.fabric.port_info(sim.fabric.description().find_port(port)).state;
  }
  void say(PluginEvent event) {
    event.epoch = event.epoch != 0 ? event.epoch : epoch;
    actuator->on_plugin(event, sim.now);
  }
  void say(PluginEvent::Kind kind) {
    PluginEvent event;
    event.kind = kind;
    say(event);
  }

  /// Makes the tables of the plan and writes them; then says so.
  void route() {
    const auto plan = read_plan(plan_path());
    epoch = plan ? plan->epoch : 0;
    auto routes =
        maker_
            .make(planned::make_subnet(planned::records_of(*current->fabric), {}), plan ? &*plan : nullptr, 1)
            .value();
    PluginEvent done;
    done.kind = PluginEvent::Kind::RoutingDone;
    done.reroute = true;
    done.epoch = epoch;
    done.relaxed = routes.relaxed;
    done.stages = routes.stages;
    done.switches_behind = behind;
    done.groups = groups;
    done.blocks = blocks;
    done.packet_life = packet_life;
    if (lies) return finish(done);
    auto tables = std::make_shared<provision::Routes>(std::move(routes.tables));
    writer_.write(current, tables, provision::Waits::Leave, sim.now,
                  [this, done](const provision::WriteReport& report, Instant) {
                    EXPECT_TRUE(report.confirmed());
                    finish(done);
                  });
  }
  void finish(const PluginEvent& done) {
    ++routings;
    actuator->on_plugin(done, sim.now);
  }

  test::SimWorld sim;
  std::shared_ptr<const Survey> current;
  std::optional<PlanStore> store;
  std::optional<OpenSmActuator> actuator;
  std::vector<plan::Plan> plans;  ///< that the plugin was told of
  std::uint64_t epoch = 0;
  int routings = 0;
  std::set<NodeGuid> looked_at;
  bool is_connected = true;
  bool answers = true;
  bool lies = false;
  bool slow = false;  ///< the disk does what it is given when disk.work() is called
  test::SlowDesk disk;
  std::size_t behind = 0;
  std::size_t groups = 0;
  std::uint64_t blocks = 0;
  std::chrono::microseconds packet_life{};

 private:
  [[nodiscard]] std::shared_ptr<const Survey> survey() const override { return current; }
  void take_routes(std::shared_ptr<const Survey> survey) override { current = std::move(survey); }
  void look_at(const std::vector<NodeGuid>& nodes, Instant) override {
    looked_at.insert(nodes.begin(), nodes.end());
  }

  test::Scratch directory_;
  discovery::Discovery discovery_;
  provision::TableWriter writer_;
  planned::RouteMaker maker_;
};

}  // namespace heddle::opensm
