#include "vlarb/targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace heddle::vlarb {
namespace {

constexpr std::uint32_t no_image = 0xffffffffU;

/// Kinds of ports that tables are searched for, which takes some milliseconds for each: a switch that lies
/// may have as many kinds as ports. Fabrics have a few for each plan.
constexpr std::size_t most_searched = 128;

/// What makes ports alike.
struct Kind {
  std::size_t assignment = 0;
  std::uint8_t high = 0;
  std::uint8_t low = 0;
  std::uint8_t vls = 0;  ///< code
  std::uint8_t mtu = 0;  ///< code
  bool maps = true;
  friend auto operator<=>(const Kind&, const Kind&) = default;
};

/// What is done with ports of one kind.
struct Treatment {
  std::uint32_t image = no_image;
  std::size_t shortfall = 0;  ///< 1 + position; 0: none
};

/// A port, and what it is.
struct Candidate {
  LinkEnd end;
  Kind kind;
};

std::uint32_t mtu_bytes(std::uint8_t code) {
  // IBA 14.2.5.6, NeighborMTU: 1..5 = 256..4096.
  return code >= 1 && code <= 5 ? 128U << code : 4096U;
}

class Maker {
 public:
  Maker(const Survey& survey, const std::vector<Assignment>& assignments, const NameOf& name_of)
      : survey_{survey}, assignments_{assignments}, name_of_{name_of} {}

  Targets run(const Only& only) {
    for (std::uint32_t i = 0; i < survey_.nodes.size(); ++i) {
      const std::string name = name_of_(survey_.fabric->nodes()[i]);
      for (std::size_t p = 1; p < survey_.nodes[i].ports.size(); ++p) {
        const LinkEnd end{NodeIndex{i}, PortNum{static_cast<std::uint8_t>(p)}};
        if (is_up(end) && (!only || only(end))) add(end, name);
      }
    }
    leave_out_the_rarest();
    for (const Candidate& port : candidates_) aim(port);
    std::ranges::stable_sort(out_.ports, {}, [](const Target& target) { return target.end.port; });
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool is_up(LinkEnd end) const {
    const SurveyPort& port = survey_.port(end);
    const PortState state = port.info.state;
    return port.known && survey_.fabric->peer(end).has_value() &&
           (state == PortState::Init || state == PortState::Armed || state == PortState::Active);
  }

  void add(LinkEnd end, const std::string& name) {
    const Node& node = survey_.fabric->node(end.node);
    const auto meant = std::find_if(assignments_.rbegin(), assignments_.rend(), [&](const Assignment& each) {
      return each.ports.matches(node, name, end.port);
    });
    if (meant == assignments_.rend()) return;
    const SurveyNode& known = survey_.node(end.node);
    const mad::PortInfo& info = survey_.port(end).info;
    const mad::PortInfo& spokesman = known.is_switch() ? known.ports[0].info : info;
    const Kind kind{static_cast<std::size_t>(assignments_.rend() - meant) - 1,
                    info.vl_arb_high_cap,
                    info.vl_arb_low_cap,
                    info.operational_vls,
                    info.neighbor_mtu,
                    (spokesman.capability_mask & mad::port_cap::sl_mapping) != 0};
    candidates_.push_back({end, kind});
    ++how_many_[kind];
  }

  static qos::PortCapability capability_of(const Kind& kind) {
    return {std::min<std::size_t>(kind.high, qos::max_entries),
            std::min<std::size_t>(kind.low, qos::max_entries), qos::data_vls(kind.vls).value_or(1)};
  }

  /// Of the kinds that tables are to be searched for.
  void leave_out_the_rarest() {
    std::vector<std::pair<std::size_t, Kind>> searched;
    for (const auto& [kind, ports] : how_many_) {
      const qos::PortCapability port = capability_of(kind);
      if (port.data_vls > 1 && !check(assignments_[kind.assignment].programming, port))
        searched.emplace_back(ports, kind);
    }
    if (searched.size() <= most_searched) return;
    std::ranges::stable_sort(searched, std::ranges::greater{}, &std::pair<std::size_t, Kind>::first);
    for (std::size_t i = most_searched; i < searched.size(); ++i) left_out_.insert(searched[i].second);
  }

  void aim(const Candidate& port) {
    auto found = treatments_.find(port.kind);
    if (found == treatments_.end()) found = treatments_.emplace(port.kind, treat(port.kind)).first;
    const Treatment& treatment = found->second;
    if (treatment.shortfall != 0) {
      const NodeGuid guid = survey_.node(port.end.node).guid();
      out_.shortfalls[treatment.shortfall - 1].ports.push_back({guid, port.end.port});
    }
    if (treatment.image != no_image) out_.ports.push_back({port.end, treatment.image, port.kind.maps});
  }

  Treatment treat(const Kind& kind) {
    const Assignment& plan = assignments_[kind.assignment];
    const auto vls = qos::data_vls(kind.vls);
    const qos::PortCapability port = capability_of(kind);
    Treatment treatment;
    if (left_out_.contains(kind)) {
      std::size_t& of_plan = rare_[kind.assignment];
      if (of_plan == 0) of_plan = fall_short(port, plan, too_many_kinds(), {});
      treatment.shortfall = of_plan;
      return treatment;
    }
    if (!vls) {
      treatment.shortfall = fall_short(port, plan, vls.error().message, {});
      return treatment;
    }
    if (*vls == 1) {  // IBA 7.6.9: then there is nothing to arbitrate
      treatment.shortfall = fall_short(port, plan, "it has one data VL: all SLs share it", {});
      return treatment;
    }
    auto fitted = qos::fit(plan.programming, port, mtu_bytes(kind.mtu));
    if (!fitted) {
      treatment.shortfall = fall_short(port, plan, fitted.error().message, {});
      return treatment;
    }
    if (fitted->fit == qos::Fit::Reduced) {
      const auto why = check(plan.programming, port);
      treatment.shortfall = fall_short(port, plan, why.error().message, std::move(fitted->lanes));
    }
    if (!kind.maps) treatment.shortfall = without_map(treatment.shortfall, port, plan);
    treatment.image = static_cast<std::uint32_t>(out_.images.size());
    out_.images.push_back(image_of(fitted->programming, port));
    out_.programmings.push_back(std::move(fitted->programming));
    return treatment;
  }

  static std::string too_many_kinds() {
    return fmt::format(
        "ports of this fabric say more than {} different things of their tables, and none are searched for "
        "the rarest: is what they say true?",
        most_searched);
  }

  std::size_t without_map(std::size_t shortfall, const qos::PortCapability& port, const Assignment& plan) {
    const std::string reason = "it has no SL2VL table: SLs stay on the VLs on which it puts them";
    if (shortfall == 0) return fall_short(port, plan, reason, {});
    out_.shortfalls[shortfall - 1].reason += "; " + reason;
    return shortfall;
  }

  std::size_t fall_short(const qos::PortCapability& port, const Assignment& plan, std::string reason,
                         std::vector<qos::FittedLane> losses) {
    out_.shortfalls.push_back({port, plan.name, std::move(reason), std::move(losses), {}});
    return out_.shortfalls.size();
  }

  const Survey& survey_;
  const std::vector<Assignment>& assignments_;
  const NameOf& name_of_;
  std::vector<Candidate> candidates_;
  std::map<Kind, std::size_t> how_many_;  ///< ports
  std::set<Kind> left_out_;
  std::map<std::size_t, std::size_t> rare_;  ///< the shortfall of those, by assignment
  std::map<Kind, Treatment> treatments_;
  Targets out_;
};

}  // namespace

Targets targets_of(const Survey& survey, const std::vector<Assignment>& assignments, const NameOf& name_of,
                   const Only& only) {
  return Maker{survey, assignments, name_of}.run(only);
}

}  // namespace heddle::vlarb
