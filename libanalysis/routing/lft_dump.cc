#include "routing/lft_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <map>
#include <optional>
#include <unordered_set>

#include "base/printable.h"
#include "base/text.h"

namespace heddle::routing {
namespace {

/// Takes `text` off the front of `from`, after spaces.
bool take(std::string_view& from, std::string_view text) {
  while (!from.empty() && from.front() == ' ') from.remove_prefix(1);
  if (!from.starts_with(text)) return false;
  from.remove_prefix(text.size());
  return true;
}

template <class T>
std::optional<T> take_number(std::string_view& from, int base) {
  while (!from.empty() && from.front() == ' ') from.remove_prefix(1);
  if (base == 16 && from.starts_with("0x")) from.remove_prefix(2);
  T value{};
  const auto [end, error] = std::from_chars(from.data(), from.data() + from.size(), value, base);
  if (error != std::errc{}) return std::nullopt;
  from.remove_prefix(static_cast<std::size_t>(end - from.data()));
  return value;
}

std::optional<LftDump::Switch> parse_head(std::string_view line) {
  LftDump::Switch head;
  if (!take(line, "Unicast lids [") || !take_number<unsigned>(line, 10) || !take(line, "-"))
    return std::nullopt;
  if (!take_number<unsigned>(line, 10) || !take(line, "] of switch Lid ")) return std::nullopt;
  const auto lid = take_number<std::uint16_t>(line, 10);
  if (!lid || !take(line, "guid ")) return std::nullopt;
  const auto guid = take_number<std::uint64_t>(line, 16);
  if (!guid) return std::nullopt;
  head.lid = Lid{*lid};
  head.guid = NodeGuid{*guid};
  return head;
}

std::optional<LftDump::Entry> parse_entry(std::string_view line) {
  LftDump::Entry entry;
  if (!line.starts_with("0x")) return std::nullopt;
  const auto lid = take_number<std::uint16_t>(line, 16);
  const auto port = take_number<std::uint8_t>(line, 10);
  if (!lid || !port) return std::nullopt;
  entry.lid = Lid{*lid};
  entry.port = PortNum{*port};
  const std::size_t at = line.find("portguid ");
  if (at != std::string_view::npos) {
    line.remove_prefix(at + std::string_view("portguid ").size());
    if (const auto guid = take_number<std::uint64_t>(line, 16)) entry.owner = PortGuid{*guid};
  }
  return entry;
}

bool is_trailer(std::string_view line) {
  return take_number<unsigned>(line, 10).has_value() && take(line, "lids dumped");
}

std::string at(const LftDump& dump, std::uint32_t line) { return fmt::format("{}:{}", dump.file, line); }

std::string shown(const Node& node) {
  return fmt::format("\"{}\" ({})", printable(node.description), to_string(node.guid));
}

/// Which port has each LID, by the remarks and the heads.
Result<std::map<Lid, PortIndex>> owners(const LftDump& dump, const Fabric& fabric) {
  std::map<Lid, PortIndex> result;
  const auto note = [&](Lid lid, PortIndex port, std::uint32_t line) -> Result<void> {
    if (lid == no_lid || port == no_port) return {};
    const auto [it, fresh] = result.emplace(lid, port);
    if (!fresh && it->second != port) {
      return fail(ErrorCode::Conflict,
                  fmt::format("{}: LID {} belongs to {}, and elsewhere in the file to {}", at(dump, line),
                              lid.raw(), to_string(fabric.ref(port)), to_string(fabric.ref(it->second))));
    }
    return {};
  };
  for (const LftDump::Switch& each : dump.switches) {
    if (auto good = note(each.lid, fabric.find_port(PortRef{each.guid, PortNum{0}}), each.line); !good) {
      return fail(good.error());
    }
    for (const LftDump::Entry& entry : each.entries) {
      if (entry.owner == PortGuid{}) continue;
      PortIndex port = fabric.find_port(entry.owner);
      // A switch's port 0 has the GUID of the switch where nothing else is known.
      if (port == no_port) port = fabric.find_port(PortRef{NodeGuid{entry.owner.raw()}, PortNum{0}});
      if (auto good = note(entry.lid, port, entry.line); !good) return fail(good.error());
    }
  }
  return result;
}

}  // namespace

Result<LftDump> parse_lft_dump(std::string_view text, const std::string& file) {
  LftDump dump;
  dump.file = file;
  std::unordered_set<NodeGuid> switches;
  std::unordered_set<Lid> lids;
  std::uint32_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos || line.starts_with('#')) continue;
    const auto wrong = [&](ErrorCode code, const std::string& what) {
      return fail(code, fmt::format("{}:{}: {}", file, number, what));
    };
    if (auto head = parse_head(line)) {
      if (!switches.insert(head->guid).second) {
        return wrong(ErrorCode::Conflict, fmt::format("switch {} comes twice", to_string(head->guid)));
      }
      head->line = number;
      lids.clear();
      dump.switches.push_back(std::move(*head));
      continue;
    }
    if (is_trailer(line)) continue;
    auto entry = parse_entry(line);
    if (!entry || dump.switches.empty()) {
      return wrong(ErrorCode::Invalid, fmt::format("\"{}\" is no line of an LFT dump; it has lines as in "
                                                   "\"Unicast lids [0-9] of switch Lid 1 guid "
                                                   "0x...\" and \"0x0004 003 # ...\"",
                                                   printable(line.substr(0, 60))));
    }
    if (entry->lid == no_lid || last_unicast_lid < entry->lid) {
      return wrong(ErrorCode::Invalid, fmt::format("LID {} is no unicast LID", entry->lid.raw()));
    }
    if (!lids.insert(entry->lid).second) {
      return wrong(ErrorCode::Conflict, fmt::format("a second entry for LID {}", entry->lid.raw()));
    }
    entry->line = number;
    dump.switches.back().entries.push_back(*entry);
  }
  if (dump.switches.empty()) {
    return fail(ErrorCode::Invalid,
                fmt::format("{}: no table in it; a dump as of opensm -D 0x40 is wanted", file));
  }
  return dump;
}

Result<ForwardingTables> tables_of(const LftDump& dump, const Fabric& fabric, const SwitchGraph& graph) {
  Lid top = graph.top_lid();
  for (const LftDump::Switch& each : dump.switches) {
    for (const LftDump::Entry& entry : each.entries) top = std::max(top, entry.lid);
  }
  ForwardingTables tables(graph.guids(), top);
  std::vector<std::uint8_t> seen(graph.size(), 0);
  for (const LftDump::Switch& each : dump.switches) {
    const NodeIndex index = fabric.find_node(each.guid);
    if (index == no_node || graph.find(index) == no_switch) {
      return fail(ErrorCode::NotFound, fmt::format("{}: {} is no switch of the fabric", at(dump, each.line),
                                                   to_string(each.guid)));
    }
    const Node& node = fabric.node(index);
    seen[graph.find(index).raw()] = 1;
    for (const LftDump::Entry& entry : each.entries) {
      if (entry.port.raw() > node.port_count) {
        return fail(ErrorCode::Conflict,
                    fmt::format("{}: LID {} leaves {} by port {}, but it has {} ports", at(dump, entry.line),
                                entry.lid.raw(), shown(node), entry.port.raw(), node.port_count));
      }
      const PortIndex owner = fabric.find_port(entry.owner);
      const PortIndex known = fabric.find_port(entry.lid);
      if (entry.owner != PortGuid{} && owner != no_port && known != no_port && owner != known) {
        return fail(
            ErrorCode::Conflict,
            fmt::format("{}: LID {} belongs to {} here, but to {} in the fabric", at(dump, entry.line),
                        entry.lid.raw(), to_string(fabric.ref(owner)), to_string(fabric.ref(known))));
      }
      tables.set(graph.find(index), entry.lid, entry.port);
    }
  }
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    if (seen[s] != 0) continue;
    return fail(ErrorCode::NotFound, fmt::format("{}: no table for switch {}", dump.file,
                                                 shown(fabric.node(graph.node(SwitchIndex{s})))));
  }
  return tables;
}

Result<std::shared_ptr<const Fabric>> with_lids_of(const LftDump& dump, const Fabric& fabric) {
  const auto by_lid = owners(dump, fabric);
  if (!by_lid) return fail(by_lid.error());
  std::map<PortIndex, std::pair<Lid, unsigned>> ranges;
  for (const auto& [lid, port] : *by_lid) {
    auto& [base, count] = ranges.emplace(port, std::pair(lid, 0U)).first->second;
    if (base.raw() + count != lid.raw()) count = 256;  // not in a row
    ++count;
  }
  FabricBuilder builder;
  for (const Node& node : fabric.nodes()) {
    const auto index = builder.add_node(node);
    if (!index) return fail(index.error());
    for (unsigned p = 0; p <= node.port_count; ++p) {
      const PortIndex at_old = fabric.port_index(*index, PortNum{static_cast<std::uint8_t>(p)});
      Port port = fabric.port(at_old);
      port.lid = no_lid;
      port.lmc = 0;
      const auto range = ranges.find(at_old);
      if (range != ranges.end()) {
        const auto [base, count] = range->second;
        if (count > 128 || !std::has_single_bit(count)) {
          return fail(ErrorCode::Conflict,
                      fmt::format("{}: the LIDs of port {} from {} on are no power of two in a row",
                                  dump.file, to_string(fabric.ref(at_old)), base.raw()));
        }
        port.lid = base;
        port.lmc = static_cast<std::uint8_t>(std::countr_zero(count));
      }
      if (auto good = builder.set_port(*index, port); !good) return fail(good.error());
    }
  }
  for (const Link& link : fabric.links()) {
    if (auto good = builder.add_link(link.a, link.b, link.width, link.speed); !good)
      return fail(good.error());
  }
  return builder.build(fabric.epoch());
}

std::string write_lft_dump(const Fabric& fabric, const SwitchGraph& graph, const ForwardingTables& tables,
                           std::span<const NodeGuid> leave_out) {
  std::vector<std::string> remarks(tables.stride());
  for (const Target& target : graph.targets()) {
    const Node& node = fabric.node(fabric.port(target.port).node);
    PortGuid guid = fabric.port(target.port).guid;
    if (guid == PortGuid{}) guid = PortGuid{node.guid.raw()};
    const char* type = node.type == NodeType::Switch           ? "Switch"
                       : node.type == NodeType::ChannelAdapter ? "Channel Adapter"
                                                               : "Router";
    for (unsigned i = 0; i < target.lid_count(); ++i) {
      remarks[target.base.raw() + i] =
          fmt::format("{} portguid {}: '{}'", type, to_string(guid), printable(node.description));
    }
  }
  std::string text;
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    const SwitchIndex s{i};
    const Node& node = fabric.node(graph.node(s));
    if (std::ranges::binary_search(leave_out, node.guid)) continue;
    append_to(text, "Unicast lids [0-{}] of switch Lid {} guid {} ('{}'):\n", tables.top().raw(),
              fabric.port(fabric.port_index(graph.node(s), PortNum{0})).lid.raw(), to_string(node.guid),
              printable(node.description));
    for (std::uint16_t lid = 1; lid <= tables.top().raw(); ++lid) {
      const PortNum port = tables.port(s, Lid{lid});
      if (port == no_path) continue;
      const std::string& remark = remarks[lid];
      append_to(text, "0x{:04x} {:03} # {}\n", lid, port.raw(),
                remark.empty() ? "unknown node and type" : remark);
    }
    append_to(text, "{} lids dumped\n", tables.top().raw());
  }
  return text;
}

}  // namespace heddle::routing
