#include <fmt/format.h>

#include <algorithm>

#include "base/printable.h"
#include "base/text.h"
#include "fabric/ibnetdiscover.h"

namespace heddle {
namespace {

/// Node descriptions end at a quotation mark for some readers of the format, among them ibsim.
std::string description(const Node& node) {
  std::string text = printable(node.description);
  std::ranges::replace(text, '"', '\'');
  return text;
}

char letter(NodeType type) {
  switch (type) {
    case NodeType::Switch:
      return 'S';
    case NodeType::Router:
      return 'R';
    case NodeType::ChannelAdapter:
      break;
  }
  return 'H';
}

std::string name(const Node& node) {
  return fmt::format("\"{}-{:016x}\"", letter(node.type), node.guid.raw());
}

std::string rate(const Port& port) {
  return fmt::format("{}{}", port.width == LinkWidth::None ? "??" : to_string(port.width),
                     port.speed == LinkSpeed::None ? "???" : to_string(port.speed));
}

class Writer {
 public:
  explicit Writer(const Fabric& fabric) : fabric_{fabric} {}

  std::string write() && {
    put("#\n# Topology file: {} switches, {} channel adapters, {} links\n#\n", fabric_.switch_count(),
        fabric_.channel_adapter_count(), fabric_.links().size());
    for (std::uint32_t n = 0; n < fabric_.nodes().size(); ++n) write_node(NodeIndex{n});
    return std::move(text_);
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> text, Args&&... args) {
    append_to(text_, text, std::forward<Args>(args)...);
  }

  void write_node(NodeIndex index) {
    const Node& node = fabric_.node(index);
    put("\nvendid={:#x}\ndevid={:#x}\n", node.vendor_id, node.device_id);
    if (node.system_image_guid != 0) put("sysimgguid={:#x}\n", node.system_image_guid);
    if (node.type == NodeType::Switch) {
      const Port& port0 = fabric_.port({index, PortNum{0}});
      const PortGuid guid = port0.guid == PortGuid{} ? PortGuid{node.guid.raw()} : port0.guid;
      put("switchguid={:#x}({:x})\n", node.guid.raw(), guid.raw());
      put("Switch\t{} {}\t\t# \"{}\" {} port 0 lid {} lmc {}\n", node.port_count, name(node),
          description(node), node.enhanced_port0 ? "enhanced" : "base", port0.lid.raw(), port0.lmc);
    } else {
      const bool router = node.type == NodeType::Router;
      put("{}guid={:#x}\n", router ? "rt" : "ca", node.guid.raw());
      put("{}\t{} {}\t\t# \"{}\"\n", router ? "Rt" : "Ca", node.port_count, name(node), description(node));
    }
    for (unsigned p = 1; p <= node.port_count; ++p)
      write_port({index, PortNum{static_cast<std::uint8_t>(p)}});
  }

  void write_port(LinkEnd end) {
    const auto peer = fabric_.peer(end);
    if (!peer) return;
    const Port& port = fabric_.port(end);
    const Node& node = fabric_.node(end.node);
    const Node& other = fabric_.node(peer->node);
    const bool to_switch = other.type == NodeType::Switch;
    const PortNum addressed = to_switch ? PortNum{0} : peer->port;  // the port that has the LID
    const Port& peer_port = fabric_.port({peer->node, addressed});
    put("[{}]", end.port.raw());
    if (node.type == NodeType::Switch) {
      put("\t{}[{}]", name(other), peer->port.raw());
      if (!to_switch) put("({:x}) ", peer_port.guid.raw());
      put("\t\t# ");
    } else {
      put("({:x}) \t{}[{}]", port.guid.raw(), name(other), peer->port.raw());
      if (!to_switch) put(" ({:x}) ", peer_port.guid.raw());
      put("\t\t# lid {} lmc {} ", port.lid.raw(), port.lmc);
    }
    put("\"{}\" lid {} {}\n", description(other), peer_port.lid.raw(), rate(port));
  }

  const Fabric& fabric_;
  std::string text_;
};

}  // namespace

std::string write_ibnetdiscover(const Fabric& fabric) { return Writer{fabric}.write(); }

}  // namespace heddle
