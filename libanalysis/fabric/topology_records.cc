#include "fabric/topology_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/printable.h"
#include "fabric/topology_line.h"

namespace heddle::topology {
namespace {

constexpr std::size_t max_nodes = 200'000;
constexpr std::size_t max_ports = 4'000'000;
constexpr std::size_t max_files = 64;

/// The GUIDs of one type of node: a directive sets where they go on, and unnamed nodes count them up.
struct GuidCounter {
  std::uint64_t base = 0;
  std::uint64_t next = 0;
  bool given = false;  ///< for the very next node of the type
};

class Reader {
 public:
  explicit Reader(const IncludeReader& include) : include_{include} {}

  Result<void> read(std::string_view text, const std::string& file);
  [[nodiscard]] Records take() { return std::move(records_); }

 private:
  // One for each kind of line.
  Result<void> on(const Blank&);
  Result<void> on(const Remark&) { return {}; }
  Result<void> on(const Foreign& line);
  Result<void> on(const Directive& line);
  Result<void> on(const Module& line);
  Result<void> on(const Include& line);
  Result<void> on(const ConsoleCommand& line);
  Result<void> on(const NodeLine& line);
  Result<void> on(const PortLine& line);

  void set_guid(const Directive& line);
  void identify(const NodeLine& line, NodeRecord& record);
  void note_other_guid(const NodeLine& line, std::uint64_t given, Node& node);
  [[nodiscard]] std::string full_name(std::string_view name) const;
  GuidCounter& guids(NodeType type) { return guids_.at(static_cast<std::size_t>(type) - 1); }

  const IncludeReader& include_;
  Records records_;
  Place place_;
  bool in_node_ = false;
  bool begun_ = false;  ///< a line of the format came: what stood before it may be a terminal's
  std::size_t port_count_ = 0;
  // What directives say of the nodes or ports that follow. The GUIDs are those with which ibsim begins.
  std::array<GuidCounter, 3> guids_{{{0x100000, 0x100000}, {0x200000, 0x200000}, {0x300000, 0x300000}}};
  std::optional<std::uint64_t> port0_guid_;
  std::uint32_t vendor_ = 0;
  std::uint16_t device_ = 0;
  std::uint64_t system_image_ = 0;
  LinkWidth width_ = LinkWidth::X4;
  LinkSpeed speed_ = LinkSpeed::Sdr;
  LinkSpeed extended_speed_ = LinkSpeed::None;
  std::string prefix_;
};

Result<void> Reader::read(std::string_view text, const std::string& file) {
  if (records_.files.size() == max_files) {
    return fail(ErrorCode::Invalid, fmt::format("more than {} files are included", max_files));
  }
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    return fail(ErrorCode::Invalid, fmt::format("{}: this is UTF-16 text; save it as UTF-8", file));
  }
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const Place outer = std::exchange(place_, Place{static_cast<std::uint32_t>(records_.files.size()), 0});
  records_.files.push_back(file);
  while (!text.empty()) {
    ++place_.line;
    const std::size_t end = text.find('\n');
    const std::string_view line_text = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    const auto line = parse_line(line_text);
    if (!line) return fail(records_.at(place_), line.error());
    auto done = std::visit([this](const auto& parts) { return on(parts); }, *line);
    if (!done) return done;
  }
  in_node_ = false;
  place_ = outer;
  return {};
}

Result<void> Reader::on(const Blank&) {
  in_node_ = false;
  return {};
}

void Reader::set_guid(const Directive& line) {
  GuidCounter& counter = guids(line.key.starts_with('s')   ? NodeType::Switch
                               : line.key.starts_with('r') ? NodeType::Router
                                                           : NodeType::ChannelAdapter);
  if (!line.relative) counter.base = line.value;
  counter.next = line.relative ? counter.base + line.value : line.value;
  counter.given = true;
  port0_guid_ = line.port_guid;
}

/// What a terminal's log begins with, and what a tool complained of while it wrote, is passed over.
Result<void> Reader::on(const Foreign& line) {
  if (begun_ && !line.is_complaint) {
    return fail(ErrorCode::Invalid, fmt::format("{}: {}", records_.at(place_), line.why));
  }
  records_.findings.add(Kind::ForeignLine, fmt::format("{}: passed over: {}", records_.at(place_), line.why));
  return {};
}

Result<void> Reader::on(const Directive& line) {
  begun_ = true;
  in_node_ = false;
  const auto too_large = [&](unsigned bits) {
    return fail(ErrorCode::Invalid, fmt::format("{}: {}={:#x} has more than {} bits", records_.at(place_),
                                                line.key, line.value, bits));
  };
  if (line.key == "vendid") {
    if (line.value > 0xffffffff) return too_large(32);
    vendor_ = static_cast<std::uint32_t>(line.value);
  } else if (line.key == "devid") {
    if (line.value > 0xffff) return too_large(16);
    device_ = static_cast<std::uint16_t>(line.value);
  } else if (line.key == "sysimgguid") {
    system_image_ = line.value;
  } else if (line.key == "width") {
    width_ = fastest_width(line.value);
  } else if (line.key == "speed") {
    speed_ = fastest_speed(line.value);
  } else if (line.key == "extspeed") {
    extended_speed_ = fastest_extended_speed(line.value);
  } else if (line.key != "pdebug") {
    set_guid(line);
  }
  return {};
}

Result<void> Reader::on(const Module& line) {
  begun_ = true;
  prefix_ = line.prefix;
  return {};
}

Result<void> Reader::on(const Include& line) {
  in_node_ = false;
  if (!include_) {
    return fail(ErrorCode::Unsupported,
                fmt::format("{}: include is possible in files only", records_.at(place_)));
  }
  const auto text = include_(std::string{line.path});
  if (!text) return fail(records_.at(place_), text.error());
  return read(*text, std::string{line.path});
}

Result<void> Reader::on(const ConsoleCommand& line) {
  begun_ = true;
  records_.findings.add(Kind::ConsoleCommand, fmt::format("{}: ibsim's command {} is not carried out",
                                                          records_.at(place_), in_quotes(line.text)));
  return {};
}

std::string Reader::full_name(std::string_view name) const {
  const bool has_prefix = name.find('#') != std::string_view::npos;
  return prefix_.empty() || has_prefix ? std::string{name} : fmt::format("{}#{}", prefix_, name);
}

void Reader::identify(const NodeLine& line, NodeRecord& record) {
  GuidCounter& counter = guids(line.type);
  const auto named = guid_in_name(line.name);
  const std::uint64_t given = counter.next;
  if (counter.given || !named) {
    // ibsim counts on by one GUID for a switch, and by one for each port besides the node's for the others.
    counter.next += line.type == NodeType::Switch ? 1U : line.ports + 1U;
  }
  const std::uint64_t guid = named.value_or(given);
  record.node.system_image_guid = std::exchange(system_image_, 0U);
  if (counter.given && guid != given) note_other_guid(line, given, record.node);
  counter.given = false;
  record.node.guid = NodeGuid{guid};
  record.port0_guid = PortGuid{std::exchange(port0_guid_, std::nullopt).value_or(guid)};
  record.node.vendor_id = std::exchange(vendor_, 0U);
  record.node.device_id = std::exchange(device_, std::uint16_t{0});
}

/// ibdiagnet 2 gives the system image's GUID where ibnetdiscover gives the node's, and the node's in the name
/// and, of a switch, in parentheses.
void Reader::note_other_guid(const NodeLine& line, std::uint64_t given, Node& node) {
  const std::uint64_t named = *guid_in_name(line.name);
  Kind kind = Kind::OtherGuidGiven;
  std::string_view whose = "another GUID";
  if (given == node.system_image_guid || port0_guid_ == named) {
    kind = Kind::SystemImageGiven;
    whose = "the GUID of its system image";
    if (node.system_image_guid == 0) node.system_image_guid = given;
  } else if (line.type != NodeType::Switch && given > named && given - named <= line.ports) {
    kind = Kind::PortGuidGiven;
    whose = "the GUID of a port";
  }
  records_.findings.add(kind,
                        fmt::format("{}: the node is called {}, which holds its GUID, and is given with "
                                    "{}, {:#x}",
                                    records_.at(place_), in_quotes(line.name), whose, given));
}

Result<void> Reader::on(const NodeLine& line) {
  begun_ = true;
  port_count_ += line.ports + 1U;
  if (records_.nodes.size() == max_nodes || port_count_ > max_ports) {
    return fail(ErrorCode::Invalid, fmt::format("{}: more than {} nodes or {} ports; no fabric has so many",
                                                records_.at(place_), max_nodes, max_ports));
  }
  NodeRecord record;
  record.place = place_;
  record.name = full_name(line.name);
  record.node.type = line.type;
  record.node.port_count = line.ports;
  record.node.enhanced_port0 = line.enhanced_port0;
  record.node.description = line.description ? std::string{*line.description} : record.name;
  record.lid = line.lid;
  record.lmc = line.lmc;
  identify(line, record);
  records_.nodes.push_back(std::move(record));
  in_node_ = true;
  return {};
}

Result<void> Reader::on(const PortLine& line) {
  if (!in_node_) {
    return fail(ErrorCode::Invalid,
                fmt::format("{}: port {} stands below no node; expected a line with Switch, Ca or "
                            "Rt and no empty line before the port",
                            records_.at(place_), line.port.raw()));
  }
  PortRecord record;
  record.place = place_;
  record.port = line.port;
  record.guid = line.guid;
  record.lid = line.lid;
  record.lmc = line.lmc.value_or(0);
  record.peer = full_name(line.peer);
  record.peer_port = line.peer_port;
  record.peer_guid = line.peer_guid;
  record.width = line.width.value_or(width_);
  record.speed = line.speed.value_or(std::max(speed_, extended_speed_));
  records_.nodes.back().ports.push_back(std::move(record));
  return {};
}

}  // namespace

std::optional<std::uint64_t> guid_in_name(std::string_view name) {
  if (name.size() != 18 || (name[0] != 'S' && name[0] != 'H' && name[0] != 'R') || name[1] != '-') {
    return std::nullopt;
  }
  std::uint64_t guid = 0;
  const auto [end, error] = std::from_chars(name.data() + 2, name.data() + name.size(), guid, 16);
  if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return guid;
}

std::string Records::at(Place place) const { return fmt::format("{}:{}", files[place.file], place.line); }

Result<Records> read_records(std::string_view text, const std::string& file, const IncludeReader& include) {
  Reader reader{include};
  if (auto ok = reader.read(text, file); !ok) return fail(ok.error());
  return reader.take();
}

}  // namespace heddle::topology
