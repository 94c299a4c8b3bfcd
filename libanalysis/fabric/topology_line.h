/// One line of a topology file, taken apart: the output of ibnetdiscover (rdma-core's infiniband-diags; also
/// with -f and -g) and the net files of ibsim, which are nearly the same. What the lines say together is for
/// topology_records.h. Views point into the line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/ids.h"
#include "base/result.h"
#include "fabric/fabric.h"

namespace heddle::topology {

struct Blank {};
/// A comment, a chassis heading, a shell prompt: nothing that describes a node.
struct Remark {};

/// What no tool writes that knows this format: a line of a terminal's log, a complaint of a tool, or damage.
struct Foreign {
  bool is_complaint = false;  ///< of a tool, as found between its lines
  std::string why;            ///< it is none of the format
};

/// `key=value`, and `key+value` for GUIDs relative to the last base.
struct Directive {
  std::string_view key;
  std::uint64_t value = 0;
  bool relative = false;
  std::optional<std::uint64_t> port_guid;  ///< in parentheses after a switch's GUID
};

/// `module="prefix"`: of the names of the nodes that follow.
struct Module {
  std::string_view prefix;
};

struct Include {
  std::string_view path;
};

/// `do COMMAND` for ibsim's console.
struct ConsoleCommand {
  std::string_view text;
};

/// `Switch 36 "S-0008f10500200b50"  # "description" enhanced port 0 lid 9 lmc 0`
struct NodeLine {
  NodeType type = NodeType::ChannelAdapter;
  std::uint8_t ports = 0;
  std::string_view name;
  std::optional<std::string_view> description;
  bool enhanced_port0 = false;
  Lid lid;
  std::uint8_t lmc = 0;
};

/// `[1](2c90300080d5b)  "S-0008f10500108bba"[9]  # lid 1 lmc 0 "description" lid 7 4xQDR`
struct PortLine {
  PortNum port;
  std::optional<PortGuid> guid;
  std::optional<Lid> lid;
  std::optional<std::uint8_t> lmc;
  std::string_view peer;
  PortNum peer_port{1};
  std::optional<PortGuid> peer_guid;
  std::optional<LinkWidth> width;
  std::optional<LinkSpeed> speed;
};

using Line =
    std::variant<Blank, Remark, Foreign, Directive, Module, Include, ConsoleCommand, NodeLine, PortLine>;

/// Errors say what was expected and what stands there; Unsupported for other reports of ibnetdiscover.
[[nodiscard]] Result<Line> parse_line(std::string_view text);

/// The fastest of a mask of PortInfo.LinkWidthEnabled, LinkSpeedEnabled or LinkSpeedExtEnabled
/// (IBA 14.2.5.6), which ibsim's `w=`, `s=` and `e=` are.
[[nodiscard]] LinkWidth fastest_width(std::uint64_t mask);
[[nodiscard]] LinkSpeed fastest_speed(std::uint64_t mask);
[[nodiscard]] LinkSpeed fastest_extended_speed(std::uint64_t mask);

}  // namespace heddle::topology
