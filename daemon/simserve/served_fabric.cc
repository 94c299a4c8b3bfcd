#include "simserve/served_fabric.h"

namespace heddle::simserve {

Result<std::unique_ptr<ServedFabric>> ServedFabric::open(const Surroundings& around, TrafficSource traffic,
                                                         const ServerOptions& options) {
  std::unique_ptr<ServedFabric> served{new ServedFabric(around.fabric, traffic)};
  auto commands = CommandSocket::open(around.io, options.name, served->commands_, around.clock, around.wake);
  if (!commands) return fail(commands.error());
  auto server = Server::open(around, options);
  if (!server) return fail(server.error());
  served->command_socket_ = std::move(*commands);
  served->server_ = std::move(*server);
  return served;
}

void ServedFabric::stop() {
  server_->stop();
  command_socket_->stop();
}

}  // namespace heddle::simserve
