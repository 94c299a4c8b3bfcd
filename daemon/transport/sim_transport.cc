#include "transport/sim_transport.h"

#include <utility>

#include "sim/host.h"

namespace heddle::transport {

Result<std::unique_ptr<SimTransport>> SimTransport::open(sim::SimulatedFabric& fabric, const Clock& clock,
                                                         std::string_view node, Wake wake) {
  const auto port = sim::find_host(fabric.description(), node);
  if (!port) return fail(port.error());
  std::unique_ptr<SimTransport> transport{new SimTransport(fabric, clock, *port, std::move(wake))};
  const auto client =
      fabric.attach(*port, [own = transport.get()](const mad::Packet& packet, Picoseconds at) {
        if (own->receiver_) own->receiver_(packet, from_sim(at));
      });
  if (!client) return fail(client.error());
  transport->client_ = *client;
  return transport;
}

SimTransport::SimTransport(sim::SimulatedFabric& fabric, const Clock& clock, PortIndex port, Wake wake)
    : fabric_{fabric}, clock_{clock}, port_{port}, client_{0xffffffff}, wake_{std::move(wake)} {}

SimTransport::~SimTransport() { fabric_.detach(client_); }

Result<void> SimTransport::send(const mad::Packet& packet) {
  fabric_.send(to_sim(clock_.now()), client_, packet);
  if (wake_) wake_();
  return {};
}

LocalPort SimTransport::local() const {
  const Fabric& description = fabric_.description();
  const mad::PortInfo& info = fabric_.port_info(port_);
  const PortRef ref = description.ref(port_);
  return {.node = ref.node,
          .guid = fabric_.port_guid(port_),
          .port = ref.port,
          .lid = info.lid,
          .sm_lid = info.master_sm_lid};
}

Result<void> SimTransport::set_is_sm(sim::IsSm is_sm) {
  return fabric_.set_is_sm(client_, is_sm, to_sim(clock_.now()));
}

}  // namespace heddle::transport
