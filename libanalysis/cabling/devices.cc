#include "cabling/devices.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "base/printable.h"
#include "cabling/letters.h"
#include "fabric/unique_names.h"

namespace heddle::cabling {
namespace {

std::optional<unsigned> number(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Takes what begins the text away; false if it begins otherwise.
bool take(std::string_view& text, std::string_view beginning) {
  if (text.substr(0, beginning.size()) != beginning) return false;
  text.remove_prefix(beginning.size());
  return true;
}

/// "21", "Port 21", "IB Port 21", in small letters.
std::optional<unsigned> port_number(std::string_view port) {
  take(port, "ib ");
  if (take(port, "port")) {
    while (take(port, " ")) {
    }
  }
  return number(port);
}

/// "Blade 16_Port 2/20".
struct BladePort {
  unsigned blade;
  unsigned chip;
  unsigned port;
};

std::optional<BladePort> blade_port(std::string_view text) {
  if (!take(text, "blade ")) return std::nullopt;
  const auto line = text.find("_port ");
  const auto slash = text.find('/');
  if (line == std::string_view::npos || slash == std::string_view::npos || slash < line) return std::nullopt;
  const auto blade = number(text.substr(0, line));
  const auto chip = number(text.substr(line + 6, slash - line - 6));
  const auto port = number(text.substr(slash + 1));
  if (!blade || !chip || !port) return std::nullopt;
  return BladePort{*blade, *chip, *port};
}

std::string board_key(std::string_view system, char board, unsigned board_number, unsigned chip) {
  return fmt::format("{}\n{}{}/{}", system, board, board_number, chip);
}

/// A key that no name is, for all adapters of a host.
std::string host_key(std::string_view host) { return fmt::format("{}\nadapters", host); }

}  // namespace

std::optional<BoardName> board_name(std::string_view description) {
  if (!take(description, "MF0;")) return std::nullopt;
  const auto colon = description.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  BoardName name;
  name.system = description.substr(0, colon);
  std::string_view rest = description.substr(colon + 1);
  while (true) {
    const auto slash = rest.find('/');
    if (slash == std::string_view::npos) return name;
    rest.remove_prefix(slash + 1);
    const std::string_view part = rest.substr(0, rest.find('/'));
    const auto value = part.empty() ? std::nullopt : number(part.substr(1));
    if (!value) continue;
    if (part[0] == 'U') name.chip = *value;
    if (part[0] == 'L' || part[0] == 'S') {
      name.board = part[0];
      name.board_number = *value;
    }
  }
}

Devices::Devices(const Fabric& fabric) : fabric_{fabric}, names_{unique_names(fabric)} {
  for (std::uint32_t i = 0; i < fabric.nodes().size(); ++i) {
    const Node& node = fabric.nodes()[i];
    const auto remember = [&](std::string key) {
      Found& found = by_key_[std::move(key)];
      if (found.empty() || found.back() != NodeIndex{i}) found.emplace_back(i);
    };
    const std::string plain = in_small_letters(plain_name(node));
    remember(plain);
    remember(in_small_letters(names_[i]));
    if (node.type == NodeType::Switch) {
      const std::string description = printable(node.description);
      if (const auto board = board_name(description)) {
        const std::string system = in_small_letters(board->system);
        if (board->board == 0) remember(system);
        remember(board_key(system, board->board == 0 ? 'L' : board->board, board->board_number, board->chip));
      }
    } else if (!node.aggregation) {
      remember(host_key(plain.substr(0, plain.find(' '))));
    }
  }
}

const Devices::Found* Devices::nodes_called(const std::string& key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : &found->second;
}

Result<Place> Devices::find(const PlannedEnd& end) const {
  if (end.guid.raw() != 0) {
    if (const NodeIndex node = fabric_.find_node(end.guid); node != no_node)
      return place(end, node, end.port);
  }
  const std::string device = in_small_letters(end.device);
  const std::string port = in_small_letters(end.port);
  std::uint64_t guid = 0;
  if (device.substr(0, 2) == "0x" &&
      std::from_chars(device.data() + 2, device.data() + device.size(), guid, 16).ptr ==
          device.data() + device.size()) {
    const NodeIndex node = fabric_.find_node(NodeGuid{guid});
    return node == no_node ? Place{} : place(end, node, port);
  }
  if (const auto blade = blade_port(port)) {
    const auto* chips = nodes_called(board_key(device, 'L', blade->blade, blade->chip));
    return chips == nullptr ? Place{} : one_of(end, *chips, std::to_string(blade->port));
  }
  if (auto adapter = on_adapter(end, device)) return *adapter;
  if (!port_number(port)) {
    // What is called neither by a number nor as an adapter that is there may be an adapter that is not.
    const auto* named = nodes_called(device);
    if (named == nullptr || fabric_.node(named->front()).type != NodeType::Switch) return Place{};
    return fail(ErrorCode::Invalid,
                fmt::format("{} of {} is no port: write as in 21, Port 21 or Blade 16_Port 2/20",
                            in_quotes(end.port), in_quotes(end.device)));
  }
  if (const auto* named = nodes_called(device)) return one_of(end, *named, port);
  if (const auto* adapters = nodes_called(host_key(device))) return one_of(end, *adapters, port);
  return Place{};
}

/// The port names an adapter: whole, as in "HOST mlx5_0", or by what follows the host; with "/2" behind it
/// its second port. Nothing if no adapter is called so.
std::optional<Result<Place>> Devices::on_adapter(const PlannedEnd& end, const std::string& device) const {
  const std::string whole = in_small_letters(end.port);
  const auto slash = whole.rfind('/');
  const auto last =
      slash == std::string::npos ? std::nullopt : number(std::string_view{whole}.substr(slash + 1));
  for (const std::string& adapter : {whole, whole.substr(0, last ? slash : whole.size())}) {
    for (const std::string& name : {adapter, fmt::format("{} {}", device, adapter)}) {
      const auto* found = nodes_called(name);
      if (found == nullptr || fabric_.node(found->front()).type == NodeType::Switch) continue;
      if (name.substr(0, device.size()) != device) continue;  // an adapter of somebody else
      if (found->size() > 1) return one_of(end, *found, "1");
      const bool port_given = adapter.size() < whole.size();
      const unsigned port = port_given ? *last : cabled_port(found->front()).raw();
      return place(end, found->front(), std::to_string(port));
    }
  }
  return std::nullopt;
}

/// The only one that has a cable, or the first.
PortNum Devices::cabled_port(NodeIndex node) const {
  for (unsigned port = 1; port <= fabric_.node(node).port_count; ++port) {
    const PortNum number{static_cast<std::uint8_t>(port)};
    if (fabric_.port(LinkEnd{node, number}).link != no_link) return number;
  }
  return PortNum{1};
}

Result<Place> Devices::one_of(const PlannedEnd& end, const Found& found, std::string_view port) const {
  if (found.size() == 1) return place(end, found.front(), port);
  constexpr std::size_t shown = 3;
  std::string some;
  for (std::size_t i = 0; i < found.size() && i < shown; ++i) {
    some += fmt::format("{}{}", i == 0 ? "" : ", ", name(found[i]));
  }
  return fail(ErrorCode::Conflict,
              fmt::format("{} nodes are {}: say which, as in {}{}", found.size(), in_quotes(end.device), some,
                          found.size() > shown ? ", ..." : ""));
}

Result<Place> Devices::place(const PlannedEnd& end, NodeIndex node, std::string_view port) const {
  const auto number = port_number(in_small_letters(port));
  if (!number) {
    return fail(ErrorCode::Invalid,
                fmt::format("{} of {} is no port", in_quotes(end.port), in_quotes(end.device)));
  }
  const bool there = *number >= 1 && *number <= fabric_.node(node).port_count;
  return Place{node, PortNum{there ? static_cast<std::uint8_t>(*number) : std::uint8_t{0}}};
}

}  // namespace heddle::cabling
