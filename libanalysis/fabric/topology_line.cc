#include "fabric/topology_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/printable.h"
#include "fabric/topology_scanner.h"

namespace heddle::topology {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

tl::unexpected<Error> expected(std::string_view what, std::string_view found) {
  return fail(ErrorCode::Invalid, found.empty()
                                      ? fmt::format("expected {}, but the line ends", what)
                                      : fmt::format("expected {}, found {}", what, in_quotes(found)));
}

Result<PortNum> port_number(Scanner& in) {
  const std::string_view before = in.rest();
  const auto value = in.number(10);
  if (!value || *value > 254) return expected("a port number from 0 to 254", before);
  return PortNum{static_cast<std::uint8_t>(*value)};
}

/// `[7]`, and after it perhaps `[ext 3]`, the number that stands on the chassis.
Result<PortNum> bracketed_port(Scanner& in) {
  if (!in.accept("[")) return expected("a port in brackets", in.rest());
  auto port = port_number(in);
  if (!port) return port;
  if (!in.accept("]")) return expected("a closing bracket", in.rest());
  if (in.accept("[ext ")) {
    if (!in.number(10) || !in.accept("]")) return expected("[ext NUMBER]", in.rest());
  }
  return port;
}

Result<std::optional<PortGuid>> parenthesized_guid(Scanner& in) {
  if (!in.accept("(")) return std::optional<PortGuid>{};
  in.accept("0x");
  const auto guid = in.number(16);
  if (!guid || !in.accept(")")) return expected("a port GUID in parentheses", in.rest());
  return std::optional{PortGuid{*guid}};
}

Result<Lid> lid_after(Scanner& in) {
  in.skip_space();
  const auto value = in.number();
  if (!value || *value > 0xffff) return expected("a LID from 0 to 65535", in.rest());
  // Some tools write the permissive LID (IBA 4.1.3) for none.
  return *value == permissive_lid.raw() ? no_lid : Lid{static_cast<std::uint16_t>(*value)};
}

Result<std::uint8_t> lmc_after(Scanner& in) {
  in.skip_space();
  const auto value = in.number();
  if (!value || *value > 7) return expected("an LMC from 0 to 7", in.rest());
  return static_cast<std::uint8_t>(*value);
}

/// "4xHDR"; "??" and "???" stand for what ibnetdiscover did not know itself.
Result<void> parse_rate(std::string_view text, PortLine& line) {
  const std::size_t x = text.find('x');
  const std::size_t width_end = text.starts_with("??") ? 2 : x == std::string_view::npos ? 0 : x + 1;
  const std::string_view width_text = text.substr(0, width_end);
  const std::string_view speed_text = text.substr(width_end);
  line.width = width_text == "??" ? LinkWidth::None : link_width(width_text);
  line.speed = speed_text == "???" ? LinkSpeed::None : link_speed(speed_text);
  if (width_end == 0 || !line.width || !line.speed) {
    return expected("width and speed of the link, as in 4xHDR", text);
  }
  return {};
}

/// After the '#' of a port: `lid 1 lmc 0 "description" lid 7 4xQDR ...`, of which the first two words are of
/// a channel adapter's own port. Without quotation marks it is anybody's remark.
Result<void> parse_port_comment(std::string_view comment, PortLine& line) {
  if (comment.find('"') == std::string_view::npos) return {};
  Scanner in{comment};
  in.skip_space();
  if (in.accept("lid ")) {
    const auto lid = lid_after(in);
    if (!lid) return fail(lid.error());
    line.lid = *lid;
    in.skip_space();
  }
  if (in.accept("lmc ")) {
    const auto lmc = lmc_after(in);
    if (!lmc) return fail(lmc.error());
    line.lmc = *lmc;
    in.skip_space();
  }
  if (!in.description()) return expected("a description between quotation marks", in.rest());
  in.skip_space();
  if (in.at_end()) return {};
  if (!in.accept("lid ")) return expected("lid NUMBER after the description", in.rest());
  if (const auto peer_lid = lid_after(in); !peer_lid) return fail(peer_lid.error());
  in.skip_space();
  return in.at_end() ? Result<void>{} : parse_rate(in.word(), line);
}

/// ibsim's `w=MASK s=MASK e=MASK`, separated by blanks.
Result<void> parse_port_options(Scanner& in, PortLine& line) {
  while (true) {
    in.skip_space();
    if (in.at_end() || in.next() == '#') return {};
    const std::string_view before = in.rest();
    const char key = in.next();
    in.accept(before.substr(0, 1));
    in.skip_space();
    if (!in.accept("="))
      return expected("w=, s= or e= with a number, a comment after '#', or nothing", before);
    in.skip_space();
    const auto value = in.number();
    if (!value) return expected("a number", in.rest());
    switch (key) {
      case 'w':
        line.width = fastest_width(*value);
        break;
      case 's':
        line.speed = std::max(line.speed.value_or(LinkSpeed::None), fastest_speed(*value));
        break;
      case 'e':
        line.speed = std::max(line.speed.value_or(LinkSpeed::None), fastest_extended_speed(*value));
        break;
      default:
        return expected("w=, s= or e=", before);
    }
  }
}

Result<Line> parse_port(std::string_view text) {
  Scanner in{text};
  PortLine line;
  const auto port = bracketed_port(in);
  if (!port) return fail(port.error());
  line.port = *port;
  const auto guid = parenthesized_guid(in);
  if (!guid) return fail(guid.error());
  line.guid = *guid;
  in.skip_space();
  const auto peer = in.quoted_text();
  if (!peer || peer->empty())
    return expected("the name of the node at the other end in quotation marks", in.rest());
  line.peer = *peer;
  in.skip_space();
  if (in.next() == '[') {
    const auto peer_port = bracketed_port(in);
    if (!peer_port) return fail(peer_port.error());
    line.peer_port = *peer_port;
    in.skip_space();
  }
  const auto peer_guid = parenthesized_guid(in);
  if (!peer_guid) return fail(peer_guid.error());
  line.peer_guid = *peer_guid;
  if (auto ok = parse_port_options(in, line); !ok) return fail(ok.error());
  if (in.accept("#")) {
    if (auto ok = parse_port_comment(in.rest(), line); !ok) return fail(ok.error());
  }
  return line;
}

/// After the '#' of a node: its description, in quotation marks or up to the first of the words that may
/// follow.
Result<void> parse_node_comment(std::string_view comment, NodeLine& line) {
  Scanner in{comment};
  in.skip_space();
  if (in.next() == '"') {
    line.description = in.description();
    if (!line.description) return expected("a description between quotation marks", in.rest());
  } else {
    std::size_t end = in.rest().size();
    for (const std::string_view mark : {" enhanced port ", " base port ", " lid ", " lmc "}) {
      end = std::min(end, in.rest().find(mark));
    }
    std::string_view text = in.rest().substr(0, end);
    in.accept(text);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    if (!text.empty()) line.description = text;
  }
  for (in.skip_space(); !in.at_end(); in.skip_space()) {
    const std::string_view word = in.word();
    if (word == "enhanced") {
      line.enhanced_port0 = true;
    } else if (word == "lid") {
      const auto lid = lid_after(in);
      if (!lid) return fail(lid.error());
      line.lid = *lid;
    } else if (word == "lmc") {
      const auto lmc = lmc_after(in);
      if (!lmc) return fail(lmc.error());
      line.lmc = *lmc;
    }
  }
  return {};
}

struct NodeWord {
  std::string_view word;
  NodeType type;
};
constexpr std::array node_words{NodeWord{"Switch", NodeType::Switch},
                                NodeWord{"Ca", NodeType::ChannelAdapter},
                                NodeWord{"Hca", NodeType::ChannelAdapter}, NodeWord{"Rt", NodeType::Router},
                                NodeWord{"Router", NodeType::Router}};

Result<Line> parse_node(NodeType type, Scanner in) {
  NodeLine line;
  line.type = type;
  in.skip_space();
  if (in.next() == ':') {
    return fail(ErrorCode::Unsupported,
                "this is ibnetdiscover's list of nodes, which has no links; run ibnetdiscover without -l, "
                "-S, -H, -R");
  }
  const std::string_view before = in.rest();
  const auto ports = in.number(10);
  if (!ports || *ports < 1 || *ports > 254) return expected("a number of ports from 1 to 254", before);
  line.ports = static_cast<std::uint8_t>(*ports);
  in.skip_space();
  const auto name = in.quoted_text();
  if (!name || name->empty()) return expected("the name of the node in quotation marks", in.rest());
  line.name = *name;
  in.skip_space();
  if (in.accept("#")) {
    if (auto ok = parse_node_comment(in.rest(), line); !ok) return fail(ok.error());
  } else if (!in.at_end()) {
    return expected("a comment after '#', or nothing", in.rest());
  }
  return line;
}

constexpr std::array directives{
    std::string_view{"vendid"},   std::string_view{"devid"},       std::string_view{"sysimgguid"},
    std::string_view{"caguid"},   std::string_view{"switchguid"},  std::string_view{"rtguid"},
    std::string_view{"hcaguid"},  std::string_view{"hcaguids"},    std::string_view{"caguids"},
    std::string_view{"width"},    std::string_view{"switchguids"}, std::string_view{"speed"},
    std::string_view{"extspeed"}, std::string_view{"pdebug"},
};

/// "src/query_smp.c:228; umad (DR path slid 0; dlid 0; 0,1) bad status 110", "ibwarn: [4711] mad_rpc: ...",
/// "-W- ...", and the line that PuTTY begins a log with.
bool is_complaint(std::string_view text) {
  for (const std::string_view mark : {"ibwarn:", "ibpanic:", "iberror:", "ibdebug:", "ibnetdiscover:",
                                      "ibdiagnet:", "iblinkinfo:", "-I-", "-W-", "-E-", "=~=~"}) {
    if (text.starts_with(mark)) return true;
  }
  const std::size_t source = text.substr(0, text.find_first_of(" \t\"")).find(".c:");
  return source != std::string_view::npos && text.size() > source + 3 && is_digit(text[source + 3]);
}

Line foreign(std::string_view text, std::string_view what) {
  return Foreign{is_complaint(text), fmt::format("expected {}, found {}", what, in_quotes(text))};
}

Result<Line> parse_assignment(std::string_view text, std::size_t sign) {
  std::string_view key = text.substr(0, sign);
  while (!key.empty() && is_space(key.back())) key.remove_suffix(1);
  Scanner in{text.substr(sign + 1)};
  in.skip_space();
  if (key == "module") {
    const auto prefix = in.quoted_text();
    if (!prefix) return expected("a prefix in quotation marks", in.rest());
    return Module{*prefix};
  }
  Directive line;
  line.relative = text[sign] == '+';
  const auto known = std::ranges::find(directives, key);
  if (known == directives.end()) {
    return foreign(
        text, "a node, a port, or an assignment to vendid, devid, sysimgguid, switchguid, caguid or rtguid");
  }
  line.key = *known;
  const auto value = in.number();
  if (!value) return expected(fmt::format("a number after {}=", key), in.rest());
  line.value = *value;
  const auto port_guid = parenthesized_guid(in);
  if (!port_guid) return fail(port_guid.error());
  if (*port_guid) line.port_guid = (*port_guid)->raw();
  in.skip_space();
  if (!in.at_end() && in.next() != '#') return expected("a comment after '#', or nothing", in.rest());
  return line;
}

/// "[root@sm ~]# ibnetdiscover", "$ ibnetdiscover > topo", "sw-1 [ha-active] (config) # " (of a switch's own
/// shell): left over where somebody copied a terminal.
bool is_prompt(std::string_view text) {
  if (text.find('"') != std::string_view::npos) return false;
  const std::size_t end = text.find_last_of("#$>%");
  if (end == std::string_view::npos) return false;
  const bool runs_it = text.find("ibnetdiscover") != std::string_view::npos;
  const bool is_empty = std::ranges::all_of(text.substr(end + 1), is_space);
  const bool of_a_shell = text.find('@') != std::string_view::npos || text.find_first_of("#$>%") == 0;
  const bool of_a_switch = end > 0 && is_space(text[end - 1]) && text.find('=') == std::string_view::npos;
  return runs_it || (is_empty && (of_a_shell || of_a_switch));
}

/// `SW    16  1 0x0008f10500108c5c 4x QDR - ...`
bool is_port_report(std::string_view text) {
  Scanner in{text};
  if (!in.accept("SW ") && !in.accept("CA ") && !in.accept("RT ")) return false;
  in.skip_space();
  if (!in.number(10)) return false;
  in.skip_space();
  if (!in.number(10)) return false;
  in.skip_space();
  return in.accept("0x");
}

bool is_heading(std::string_view text) {
  Scanner in{text};
  if (in.accept("Chassis ")) return is_digit(in.next());
  return in.accept("Hostname:") || text == "Non-Chassis Nodes";
}

template <class Value>
struct Bit {
  std::uint64_t bit;
  Value value;
};

template <class Value, std::size_t N>
Value last_of(const std::array<Bit<Value>, N>& bits, std::uint64_t mask) {
  Value result = Value::None;
  for (const auto& [bit, value] : bits) {
    if ((mask & bit) != 0) result = value;
  }
  return result;
}

}  // namespace

LinkWidth fastest_width(std::uint64_t mask) {
  constexpr std::array<Bit<LinkWidth>, 5> bits{
      {{1, LinkWidth::X1}, {16, LinkWidth::X2}, {2, LinkWidth::X4}, {4, LinkWidth::X8}, {8, LinkWidth::X12}}};
  return last_of(bits, mask);
}

LinkSpeed fastest_speed(std::uint64_t mask) {
  constexpr std::array<Bit<LinkSpeed>, 3> bits{
      {{1, LinkSpeed::Sdr}, {2, LinkSpeed::Ddr}, {4, LinkSpeed::Qdr}}};
  return last_of(bits, mask);
}

LinkSpeed fastest_extended_speed(std::uint64_t mask) {
  constexpr std::array<Bit<LinkSpeed>, 5> bits{{{1, LinkSpeed::Fdr},
                                                {2, LinkSpeed::Edr},
                                                {4, LinkSpeed::Hdr},
                                                {8, LinkSpeed::Ndr},
                                                {32, LinkSpeed::Xdr}}};
  return last_of(bits, mask);
}

Result<Line> parse_line(std::string_view text) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  if (text.empty()) return Blank{};
  if (text.front() == '#') return Remark{};
  if (text.front() == '[' && text.size() > 1 && is_digit(text[1])) return parse_port(text);
  if (text.front() == '@') {
    return fail(ErrorCode::Unsupported,
                "ibsim's port aliases ('@[1] \"name\"') cannot be read; name node and port");
  }
  for (const auto& [word, type] : node_words) {
    if (!text.starts_with(word) || text.size() == word.size()) continue;
    if (is_space(text[word.size()]) || is_digit(text[word.size()])) {  // a digit: the tab was lost
      return parse_node(type, Scanner{text.substr(word.size())});
    }
  }
  Scanner in{text};
  if (in.accept("include")) {
    in.skip_space();
    const auto path = in.quoted_text();
    if (!path) return expected("a file name in quotation marks after include", in.rest());
    return Include{*path};
  }
  if (in.accept("do ")) return ConsoleCommand{in.rest()};
  if (is_heading(text)) return Remark{};
  if (is_port_report(text)) {
    return fail(
        ErrorCode::Unsupported,
        "this is ibnetdiscover's report of ports (-p), not its topology; run ibnetdiscover without -p");
  }
  if (is_prompt(text)) return Remark{};
  const std::size_t sign = text.find_first_of("=+");
  if (sign != std::string_view::npos) return parse_assignment(text, sign);
  return foreign(text, "a node, a port or an assignment, as ibnetdiscover prints them");
}

}  // namespace heddle::topology
