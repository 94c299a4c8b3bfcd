#include "transport/sim_pump.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "sim/traffic_plane.h"
#include "transport/sim_transport.h"

namespace heddle::transport {

struct SimPump::State : std::enable_shared_from_this<State> {
  State(boost::asio::io_context& context, sim::SimulatedFabric& the_fabric, const Clock& the_clock)
      : fabric{the_fabric}, clock{the_clock}, timer{context} {}

  void wake() {
    if (posted || stopped) return;
    posted = true;
    boost::asio::post(timer.get_executor(), [self = shared_from_this()] { self->pump(); });
  }

  void pump() {
    posted = false;
    if (stopped) return;
    const Picoseconds now = to_sim(clock.now());
    // Traffic changes in turn with the fabric, so that it meets the routes of its time.
    for (auto next = traffic_event(); next && *next <= now; next = traffic_event()) {
      if (fabric.now() < *next) fabric.advance(*next);
      plane->advance(*next);
    }
    fabric.advance(std::max(now, fabric.now()));
    arm();
  }

  [[nodiscard]] std::optional<Picoseconds> traffic_event() const {
    return plane == nullptr ? std::nullopt : plane->next_event();
  }

  void arm() {
    auto next = fabric.next_event();
    if (const auto traffic = traffic_event(); traffic && (!next || *traffic < *next)) next = traffic;
    if (!next) return;
    const Picoseconds wait = *next - to_sim(clock.now());
    if (wait <= Picoseconds{0}) {
      wake();
      return;
    }
    // A clock that stands still, or nearly so, is looked at again now and then.
    constexpr std::chrono::duration<double> longest{1.0};
    const std::chrono::duration<double> real = wait / std::max(clock.scale(), 1e-9);
    timer.expires_after(
        std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::min(real, longest)));
    timer.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (!error) self->wake();
    });
  }

  sim::SimulatedFabric& fabric;
  const Clock& clock;
  sim::TrafficPlane* plane = nullptr;
  boost::asio::steady_timer timer;
  bool posted = false;
  bool stopped = false;
};

SimPump::SimPump(boost::asio::io_context& context, sim::SimulatedFabric& fabric, const Clock& clock)
    : state_{std::make_shared<State>(context, fabric, clock)} {
  state_->arm();
}

SimPump::~SimPump() { stop(); }

void SimPump::carry(sim::TrafficPlane& plane) {
  state_->plane = &plane;
  state_->wake();
}

void SimPump::wake() { state_->wake(); }

void SimPump::stop() {
  state_->stopped = true;
  state_->timer.cancel();
}

}  // namespace heddle::transport
