/// Advances a simulated fabric in real or scaled time on an Asio executor: at once when wake() says that
/// something was sent, and when the fabric's next event is due. Deliveries come out of handlers of their own.
#pragma once

#include <memory>

#include "sim/simulated_fabric.h"
#include "transport/transport.h"

namespace boost::asio {
class io_context;
}

namespace heddle::sim {
class TrafficPlane;
}

namespace heddle::transport {

class SimPump {
 public:
  /// Fabric and clock must outlive the pump; the executor's thread is the fabric's.
  SimPump(boost::asio::io_context& context, sim::SimulatedFabric& fabric, const Clock& clock);
  ~SimPump();
  SimPump(const SimPump&) = delete;
  SimPump& operator=(const SimPump&) = delete;

  /// Advances the plane's traffic as well; it must outlive the pump.
  void carry(sim::TrafficPlane& plane);
  /// After anything that may have given the fabric something to do. Cheap.
  void wake();
  /// No handler touches the fabric any more.
  void stop();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace heddle::transport
