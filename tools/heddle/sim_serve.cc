#include "heddle/sim_serve.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <ostream>

#include "heddle/fabric_source.h"
#include "sim/bring_up.h"
#include "sim/flow/fabric_view.h"
#include "sim/make_plane.h"
#include "sim/scenario_player.h"
#include "simserve/kernel_adapters.h"
#include "simserve/served_fabric.h"
#include "transport/clock.h"
#include "transport/paced_schedule.h"
#include "transport/sim_pump.h"

namespace heddle::cli {
namespace {

sim::Options simulated(const SimServeOptions& options) {
  sim::Options simulated;
  simulated.seed = options.seed;
  simulated.traits.data_vls = static_cast<std::uint8_t>(options.data_vls);
  simulated.traits.optimized_sl2vl = options.optimized_sl2vl;
  // umad2sim hands over 232 of the 256 bytes of a MAD: the 64-bit XmitWait would be what the program's memory
  // held before. The kernel hands over all.
  simulated.traits.extended_errors = !options.kernel.empty();
  const auto seconds = [](double value) {
    return std::chrono::duration_cast<Picoseconds>(std::chrono::duration<double>(value));
  };
  simulated.training_delay = seconds(options.training_delay);
  simulated.longest_training = seconds(options.longest_training);
  return simulated;
}

}  // namespace

Result<void> sim_serve(const SimServeOptions& options, Context& context) {
  const auto described = read_fabric(options.source, context);
  if (!described) return fail(described.error());

  boost::asio::io_context io;
  const transport::SteadyClock clock{options.time_scale};
  sim::SimulatedFabric fabric{*described, simulated(options)};
  if (options.configured) sim::bring_up(fabric);
  const sim::FabricView view{fabric};
  const auto made =
      sim::make_plane(view, {options.plane, static_cast<int>(options.data_vls), options.time_scale});
  if (!made) return fail(made.error());
  sim::TrafficPlane& plane = **made;
  sim::ScenarioPlayer player{fabric.description()};
  transport::PacedSchedule paced{player, clock};
  plane.set_schedule(&paced);
  fabric.set_counter_source(&plane);
  fabric.set_change_listener(&plane);
  if (!options.scenario.empty()) {
    const auto scenario = sim::load_scenario(options.scenario);
    if (!scenario) return fail(scenario.error());
    if (const auto added = player.add(*scenario); !added) return fail(added.error());
  }

  transport::SimPump pump{io, fabric, clock};
  pump.carry(plane);
  simserve::ServerOptions server;
  server.name = options.name;
  server.udp_port = options.udp_port;
  auto served =
      simserve::ServedFabric::open({io, fabric, clock, [&pump] { pump.wake(); }}, {&plane, &player}, server);
  if (!served) return fail(served.error());
  std::unique_ptr<simserve::KernelAdapters> adapters;
  if (!options.kernel.empty()) {
    auto opened =
        simserve::KernelAdapters::open({io, fabric, clock, [&pump] { pump.wake(); }}, options.kernel, &plane);
    if (!opened) return fail(opened.error());
    adapters = *std::move(opened);
  }

  boost::asio::signal_set signals{io, SIGINT, SIGTERM};
  signals.async_wait([&](const boost::system::error_code&, int) {
    (*served)->stop();
    pump.stop();
    io.stop();
  });
  *context.out << fmt::format("serving {} switches and {} channel adapters as IBSIM_SOCKNAME={}\n",
                              fabric.description().switch_count(),
                              fabric.description().channel_adapter_count(), options.name)
               << std::flush;
  io.run();
  adapters.reset();
  served->reset();
  fabric.set_change_listener(nullptr);
  fabric.set_counter_source(nullptr);
  return {};
}

}  // namespace heddle::cli
