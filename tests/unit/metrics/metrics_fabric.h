/// A switch with a host, and a sweep over them, for the tests of metrics/.
#pragma once

#include "load/sample.h"
#include "transport/transport.h"

namespace heddle::metrics {

class NoTransport final : public transport::Transport {
 public:
  void receive_with(Receiver) override {}
  Result<void> send(const mad::Packet&) override { return {}; }
  [[nodiscard]] transport::LocalPort local() const override { return {}; }
};

struct FabricChoice {
  bool with_host = true;
  std::string host_name = "node01 HCA-1";
};

// Switch 1 (LID 1, four ports), host 10 with port GUID 11 (LID 11) on its port 1; HDR.
inline std::shared_ptr<const Fabric> a_fabric(const FabricChoice& choice = {}) {
  FabricBuilder builder;
  Node node;
  node.guid = NodeGuid{1};
  node.type = NodeType::Switch;
  node.port_count = 4;
  node.description = "spine";
  const NodeIndex sw = *builder.add_node(node);
  Port port;
  port.lid = Lid{1};
  static_cast<void>(builder.set_port(sw, port));
  if (choice.with_host) {
    node.guid = NodeGuid{10};
    node.type = NodeType::ChannelAdapter;
    node.port_count = 1;
    node.description = choice.host_name;
    const NodeIndex host = *builder.add_node(node);
    static_cast<void>(builder.add_link({sw, PortNum{1}}, {host, PortNum{1}}, LinkWidth::X4, LinkSpeed::Hdr));
    port = builder.port(host, PortNum{1});
    port.guid = PortGuid{11};
    port.lid = Lid{11};
    static_cast<void>(builder.set_port(host, port));
  }
  return builder.build();
}

// Every cabled port: 4000 bytes, 7 symbol errors, a quarter used, 9 saturated readings.
inline std::shared_ptr<const load::Sample> a_sample(std::shared_ptr<const Fabric> fabric) {
  auto sample = std::make_shared<load::Sample>();
  sample->ports.resize(fabric->ports().size());
  sample->nodes.resize(fabric->nodes().size());
  for (std::size_t i = 0; i < sample->ports.size(); ++i) {
    if (fabric->ports()[i].link == no_link) continue;
    load::PortSample& port = sample->ports[i];
    port.known = load::all_counters & ~load::cast_counters;
    port.totals[load::at(load::Counter::XmitData)] = 1000;
    port.totals[load::at(load::Counter::RcvData)] = 1000;
    port.totals[load::at(load::Counter::SymbolErrors)] = 7;
    port.utilization = 0.25;
    port.saturations = 9;
    port.status = load::PortStatus::Fresh;
  }
  sample->fabric = std::move(fabric);
  sample->ended = sample->began + std::chrono::milliseconds{250};
  sample->set_names = std::make_shared<const std::vector<std::string>>(1, "racks");
  sample->locality = {{.generated = 0.5}};
  return sample;
}

}  // namespace heddle::metrics
