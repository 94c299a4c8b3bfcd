#include "fabric/unique_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/printable.h"
#include "base/text.h"

namespace heddle {
namespace {

constexpr std::size_t least_digits = 4;
constexpr std::size_t all_digits = 16;
constexpr std::size_t most_listed = 10;

std::string digits_of(NodeGuid guid, std::size_t digits) {
  return fmt::format("{:016x}", guid.raw()).substr(all_digits - digits);
}

/// What find_node would take for something else.
bool misleads(std::string_view name) {
  return name.starts_with("0x") || name.find(" -- ") != std::string_view::npos;
}

/// Positions in a fabric of nodes that are called alike.
using Namesakes = std::vector<std::uint32_t>;

std::size_t digits_needed(const Fabric& fabric, const Namesakes& nodes) {
  for (std::size_t digits = least_digits; digits < all_digits; ++digits) {
    const std::uint64_t mask = (std::uint64_t{1} << (4 * digits)) - 1;
    std::unordered_set<std::uint64_t> seen;
    const auto own = [&](std::uint32_t n) { return seen.insert(fabric.nodes()[n].guid.raw() & mask).second; };
    if (std::ranges::all_of(nodes, own)) return digits;
  }
  return all_digits;
}

}  // namespace

std::string plain_name(const Node& node) {
  const std::string text = printable(node.description);
  constexpr std::string_view blanks = " \t\r\v\f";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string::npos) return to_string(node.guid);
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string> unique_names(const Fabric& fabric, std::vector<std::string> names) {
  std::unordered_map<std::string, Namesakes> called;
  for (std::uint32_t n = 0; n < names.size(); ++n) called[names[n]].push_back(n);
  for (const auto& [name, nodes] : called) {
    if (misleads(name)) {
      for (const std::uint32_t n : nodes) names[n] = to_string(fabric.nodes()[n].guid);
    } else if (nodes.size() > 1) {
      const std::size_t digits = digits_needed(fabric, nodes);
      for (const std::uint32_t n : nodes) {
        std::string form = fmt::format("{}#{}", name, digits_of(fabric.nodes()[n].guid, digits));
        // Somebody may have given just this name to another node.
        names[n] = called.contains(form) ? to_string(fabric.nodes()[n].guid) : std::move(form);
      }
    }
  }
  return names;
}

std::vector<std::string> unique_names(const Fabric& fabric) {
  std::vector<std::string> plain;
  plain.reserve(fabric.nodes().size());
  for (const Node& node : fabric.nodes()) plain.push_back(plain_name(node));
  return unique_names(fabric, std::move(plain));
}

std::string unique_name(const Fabric& fabric, NodeIndex node) {
  const Node& wanted = fabric.node(node);
  Namesakes namesakes;
  for (std::uint32_t n = 0; n < fabric.nodes().size(); ++n) {
    if (fabric.nodes()[n].description == wanted.description) namesakes.push_back(n);
  }
  std::string name = plain_name(wanted);
  if (misleads(name)) return to_string(wanted.guid);
  if (namesakes.size() == 1) return name;
  return fmt::format("{}#{}", name, digits_of(wanted.guid, digits_needed(fabric, namesakes)));
}

ShownNames::ShownNames(NodeNames given, const Fabric& fabric) : given_{std::move(given)} {
  std::vector<std::string> plain;
  plain.reserve(fabric.nodes().size());
  for (const Node& node : fabric.nodes()) plain.push_back(given_.of(node));
  std::vector<std::string> unique = unique_names(fabric, plain);
  for (std::size_t n = 0; n < unique.size(); ++n) {
    if (unique[n] != plain[n]) forms_.emplace(fabric.nodes()[n].guid, std::move(unique[n]));
  }
}

std::string ShownNames::of(const Node& node) const {
  const auto form = forms_.find(node.guid);
  return form == forms_.end() ? given_.of(node) : form->second;
}

bool NameAndDigits::fit(NodeGuid guid) const { return digits_of(guid, digits.size()) == digits; }

std::optional<NameAndDigits> name_and_digits(std::string_view text) {
  const std::size_t mark = text.rfind('#');
  if (mark == std::string_view::npos) return std::nullopt;
  const NameAndDigits parts{text.substr(0, mark), text.substr(mark + 1)};
  const bool counted = parts.digits.size() >= least_digits && parts.digits.size() <= all_digits;
  if (!counted || parts.digits.find_first_not_of("0123456789abcdef") != std::string_view::npos) {
    return std::nullopt;
  }
  return parts;
}

std::string say_which(std::string_view text, const std::vector<std::string>& forms) {
  return fmt::format("{} nodes are called {}; say which: {}", forms.size(), in_quotes(text),
                     list_of(forms, most_listed, std::identity{}));
}

}  // namespace heddle
