#include "load/sample.h"

namespace heddle::load {
namespace {

float of_peer(const Fabric& fabric, const std::vector<PortSample>& ports, PortIndex port,
              float PortSample::*figure) {
  const Port& p = fabric.port(port);
  const auto peer = fabric.peer({p.node, p.num});
  return peer ? ports[fabric.port_index(*peer).raw()].*figure : unknown;
}

}  // namespace

float leaving(const Fabric& fabric, const std::vector<PortSample>& ports, PortIndex port) {
  const float own = ports[port.raw()].xmit_bytes_per_second;
  return is_known(own) ? own : of_peer(fabric, ports, port, &PortSample::rcv_bytes_per_second);
}

float entering(const Fabric& fabric, const std::vector<PortSample>& ports, PortIndex port) {
  const float own = ports[port.raw()].rcv_bytes_per_second;
  return is_known(own) ? own : of_peer(fabric, ports, port, &PortSample::xmit_bytes_per_second);
}

}  // namespace heddle::load
