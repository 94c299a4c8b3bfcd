/// Everything that opens a simulated fabric to the outside, together: libibumad programs (Server) and scripts
/// (CommandSocket), under one name. For `heddle sim serve` and for the daemon that simulates.
#pragma once

#include <memory>

#include "simserve/command_socket.h"
#include "simserve/server.h"

namespace heddle::simserve {

class ServedFabric {
 public:
  /// Everything in `around` and `traffic` must outlive it. Errors: Conflict when the name is taken.
  static Result<std::unique_ptr<ServedFabric>> open(const Surroundings& around, TrafficSource traffic,
                                                    const ServerOptions& options);
  void stop();
  [[nodiscard]] const Server& server() const { return *server_; }

 private:
  explicit ServedFabric(sim::SimulatedFabric& fabric, TrafficSource traffic) : commands_{fabric, traffic} {}

  Commands commands_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<CommandSocket> command_socket_;
};

}  // namespace heddle::simserve
