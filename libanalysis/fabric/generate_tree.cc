#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "fabric/sketch.h"

namespace heddle::sketch {
namespace {

/// A node of level i is named by the digits a_h .. a_{i+1} (which subtree) and b_1 .. b_i (which of its
/// copies); digit j counts to m_j above the level and to w_j up to it. The last of them runs fastest in a
/// level's numbering.
class Xgft {
 public:
  explicit Xgft(const XgftSpec& spec) : spec_{spec} {}

  [[nodiscard]] std::size_t height() const { return spec_.children.size(); }
  [[nodiscard]] unsigned radix(std::size_t level, std::size_t digit) const {
    return digit <= level ? spec_.parents[digit - 1] : spec_.children[digit - 1];
  }
  /// Saturates above the limit on nodes.
  [[nodiscard]] std::uint64_t count(std::size_t level) const {
    std::uint64_t product = 1;
    for (std::size_t j = 1; j <= height(); ++j) product = std::min(product * radix(level, j), 2 * max_nodes);
    return product;
  }
  /// digits[j] for j = 1..h
  [[nodiscard]] std::vector<unsigned> digits(std::size_t level, std::size_t number) const {
    std::vector<unsigned> result(height() + 1);
    for (std::size_t place = height(); place >= 1; --place) {
      const std::size_t j = digit_at(level, place);
      result[j] = static_cast<unsigned>(number % radix(level, j));
      number /= radix(level, j);
    }
    return result;
  }
  [[nodiscard]] std::size_t number(std::size_t level, const std::vector<unsigned>& digits) const {
    std::size_t result = 0;
    for (std::size_t place = 1; place <= height(); ++place) {
      const std::size_t j = digit_at(level, place);
      result = result * radix(level, j) + digits[j];
    }
    return result;
  }
  [[nodiscard]] unsigned down_ports(std::size_t level) const { return spec_.children[level - 1]; }
  [[nodiscard]] unsigned up_ports(std::size_t level) const {
    return level < height() ? spec_.parents[level] : 0;
  }
  [[nodiscard]] std::string name(std::size_t level, std::size_t number) const {
    constexpr std::array<const char*, 3> kinds{"leaf", "spine", "core"};
    std::string text = level <= kinds.size() ? kinds.at(level - 1) : fmt::format("level{}", level);
    const auto label = digits(level, number);
    const std::size_t bare = text.size();
    for (std::size_t place = 1; place <= height(); ++place) {
      const std::size_t j = digit_at(level, place);
      if (radix(level, j) > 1) text += fmt::format("-{}", label[j]);
    }
    return text.size() == bare ? text + "-0" : text;
  }

 private:
  /// h .. level + 1, then 1 .. level
  [[nodiscard]] std::size_t digit_at(std::size_t level, std::size_t place) const {
    const std::size_t above = height() - level;
    return place <= above ? height() + 1 - place : place - above;
  }

  const XgftSpec& spec_;
};

Result<void> check(const GeneratorSpec& spec, const XgftSpec& shape) {
  const auto positive = [](unsigned n) { return n > 0; };
  if (shape.children.empty() || shape.children.size() != shape.parents.size() ||
      !std::ranges::all_of(shape.children, positive) || !std::ranges::all_of(shape.parents, positive)) {
    return fail(ErrorCode::Invalid, "an XGFT needs as many m as w as levels, all of them 1 or more");
  }
  const Xgft tree{shape};
  std::uint64_t nodes = 0;
  for (std::size_t level = 0; level <= tree.height(); ++level) nodes += tree.count(level);
  if (auto ok = check_nodes(nodes); !ok) return ok;
  if (shape.parents[0] > max_switch_ports) {
    return fail(ErrorCode::Invalid, fmt::format("a host would need {} ports", shape.parents[0]));
  }
  for (std::size_t level = 1; level <= tree.height(); ++level) {
    if (auto ok = check_ports(spec, std::uint64_t{tree.down_ports(level)} + tree.up_ports(level)); !ok)
      return ok;
  }
  return {};
}

}  // namespace

Drawing draw(const GeneratorSpec& spec, const XgftSpec& shape) {
  if (auto ok = check(spec, shape); !ok) return fail(ok.error());
  const Xgft tree{shape};
  Sketch sketch{spec.width, spec.speed, spec.switch_ports};
  std::vector<std::vector<NodeIndex>> nodes(tree.height() + 1);
  for (std::size_t level = 1; level <= tree.height(); ++level) {
    for (std::size_t i = 0; i < tree.count(level); ++i) {
      nodes[level].push_back(
          sketch.add_switch(tree.name(level, i), tree.down_ports(level) + tree.up_ports(level)));
    }
  }
  for (std::size_t i = 0; i < tree.count(0); ++i) nodes[0].push_back(sketch.add_host(shape.parents[0]));

  for (std::size_t level = 1; level <= tree.height(); ++level) {
    const unsigned first_up = level == 1 ? 1 : tree.down_ports(level - 1) + 1;
    for (std::size_t i = 0; i < nodes[level - 1].size(); ++i) {
      auto digits = tree.digits(level - 1, i);
      const unsigned down = digits[level] + 1;
      for (unsigned b = 0; b < shape.parents[level - 1]; ++b) {
        digits[level] = b;
        sketch.cable(nodes[level - 1][i], first_up + b, nodes[level][tree.number(level, digits)], down);
      }
    }
  }
  return sketch.finish();
}

Drawing draw(const GeneratorSpec& spec, const TreeSpec& shape) {
  if (shape.k < 1 || shape.k > max_switch_ports / 2 || shape.n < 1 || shape.n > 16) {
    return fail(ErrorCode::Invalid,
                fmt::format("a k-ary n-tree needs k from 1 to {} and n from 1 to 16", max_switch_ports / 2));
  }
  XgftSpec xgft;
  xgft.children.assign(shape.n, shape.k);
  xgft.parents.assign(shape.n, shape.k);
  xgft.parents[0] = 1;
  if (shape.form == TreeForm::Full) xgft.children.back() = 2 * shape.k;
  GeneratorSpec same_switches = spec;
  if (same_switches.switch_ports == 0) same_switches.switch_ports = 2 * shape.k;
  return draw(same_switches, xgft);
}

Drawing draw(const GeneratorSpec& spec, const FatTreeSpec& shape) {
  if (shape.radix < 2 || shape.radix % 2 != 0 || shape.radix > max_switch_ports) {
    return fail(ErrorCode::Invalid, fmt::format("radix={}: an even number from 2 to {} is needed",
                                                shape.radix, max_switch_ports));
  }
  const unsigned half = shape.radix / 2;
  const std::uint64_t most = std::uint64_t{half} * half * shape.radix;
  if (shape.hosts < 1 || shape.hosts > most) {
    return fail(ErrorCode::Invalid,
                fmt::format("hosts={}: three levels of {}-port switches carry 1 to {} hosts", shape.hosts,
                            shape.radix, most));
  }
  const unsigned leaves = (shape.hosts + half - 1) / half;
  const unsigned pods = (leaves + half - 1) / half;
  // Each spine has `half` links upwards; they go to `tops` core switches, a trunk of half/tops to each.
  unsigned tops = 1;
  while (half % tops != 0 || half / tops * pods > shape.radix) ++tops;
  const unsigned trunk = half / tops;
  const std::uint64_t nodes = std::uint64_t{shape.hosts} + leaves + std::uint64_t{half} * (pods + tops);
  if (auto ok = check_nodes(nodes); !ok) return fail(ok.error());
  if (auto ok = check_ports(spec, shape.radix); !ok) return fail(ok.error());

  Sketch sketch{spec.width, spec.speed, spec.switch_ports};
  std::vector<NodeIndex> leaf_nodes;
  std::vector<NodeIndex> spines;
  std::vector<NodeIndex> cores;
  for (unsigned l = 0; l < leaves; ++l) {
    leaf_nodes.push_back(sketch.add_switch(fmt::format("leaf-{}-{}", l / half, l % half), shape.radix));
  }
  for (unsigned s = 0; s < pods * half; ++s) {
    spines.push_back(sketch.add_switch(fmt::format("spine-{}-{}", s / half, s % half), shape.radix));
  }
  for (unsigned c = 0; c < half * tops; ++c) {
    cores.push_back(sketch.add_switch(fmt::format("core-{}-{}", c / tops, c % tops), shape.radix));
  }
  for (unsigned h = 0; h < shape.hosts; ++h) {
    sketch.cable(sketch.add_host(1), 1, leaf_nodes[h / half], h % half + 1);
  }
  for (unsigned l = 0; l < leaves; ++l) {
    for (unsigned s = 0; s < half; ++s) {
      sketch.cable(leaf_nodes[l], half + 1 + s, spines[l / half * half + s], l % half + 1);
    }
  }
  for (unsigned s = 0; s < pods * half; ++s) {
    const unsigned pod = s / half;
    for (unsigned up = 0; up < half; ++up) {
      const NodeIndex core = cores[s % half * tops + up / trunk];
      sketch.cable(spines[s], half + 1 + up, core, pod * trunk + up % trunk + 1);
    }
  }
  return sketch.finish();
}

}  // namespace heddle::sketch
