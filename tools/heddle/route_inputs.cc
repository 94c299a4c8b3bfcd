#include "heddle/route_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ostream>

#include "base/printable.h"
#include "fabric/link_name.h"
#include "fabric/source.h"
#include "heddle/fabric_source.h"

namespace heddle::cli {

bool has_lids(const Fabric& fabric) {
  return std::any_of(fabric.ports().begin(), fabric.ports().end(),
                     [](const Port& port) { return port.lid != no_lid; });
}

Result<std::shared_ptr<const Fabric>> with_lids(std::shared_ptr<const Fabric> fabric,
                                                const routing::LftDump& dump) {
  if (has_lids(*fabric)) return fabric;
  return routing::with_lids_of(dump, *fabric);
}

Result<std::shared_ptr<const Fabric>> fabric_as_it_is(const std::string& source, Context& context) {
  return read_fabric(source, context);
}

Result<std::shared_ptr<const Fabric>> fabric_with_lids(const std::string& source, std::optional<unsigned> lmc,
                                                       Context& context) {
  auto fabric = fabric_as_it_is(source, context);
  if (!fabric || (!lmc && has_lids(**fabric))) return fabric;
  return assign_lids(**fabric, static_cast<std::uint8_t>(lmc.value_or(0)));
}

Result<routing::LinkSet> links_without(const std::shared_ptr<const Fabric>& fabric,
                                       const std::vector<std::string>& names) {
  routing::LinkSet active = routing::LinkSet::all(*fabric);
  if (names.empty()) return active;
  const FabricNames known(fabric);
  for (const std::string& name : names) {
    const auto link = known.find_link(name);
    if (!link) return fail("--without", link.error());
    if (!active.contains(*link)) {
      return fail(ErrorCode::Invalid,
                  fmt::format("--without: the link {} is named twice", known.link(*link)));
    }
    active.erase(*link);
  }
  return active;
}

Result<std::vector<NodeGuid>> read_roots(const std::string& path) {
  const auto text = read_text_file(path);
  if (!text) return fail(text.error());
  std::vector<NodeGuid> roots;
  std::string_view rest = *text;
  for (unsigned number = 1; !rest.empty(); ++number) {
    const std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    line = line.substr(0, line.find('#'));
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) continue;
    line = line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
    std::string_view digits = line;
    if (digits.starts_with("0x")) digits.remove_prefix(2);
    std::uint64_t guid = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), guid, 16);
    if (error != std::errc{} || stop != digits.data() + digits.size()) {
      return fail(ErrorCode::Invalid,
                  fmt::format("{}:{}: \"{}\" is no GUID; one hexadecimal GUID a line is wanted", path, number,
                              printable(line)));
    }
    roots.push_back(NodeGuid{guid});
  }
  if (roots.empty())
    return fail(ErrorCode::Invalid, fmt::format("{}: no root in it; leave --roots out", path));
  return roots;
}

Result<routing::Engine> engine_called(const std::string& name) {
  if (const auto engine = routing::engine_from(name)) return *engine;
  return fail(ErrorCode::Invalid, fmt::format("no engine \"{}\"; updn, ftree, dor or minhop", name));
}

Result<routing::LftDump> read_lfts(const std::string& path) {
  const auto text = read_text_file(path);
  if (!text) return fail(text.error());
  return routing::parse_lft_dump(*text, path);
}

}  // namespace heddle::cli
