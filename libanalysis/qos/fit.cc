#include "qos/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "qos/designer.h"

namespace heddle::qos {
namespace {

/// A VL that carries something.
struct CarryingLane {
  Vl wanted;
  double share = 0;
  Priority priority = Priority::High;
  Vl vl = drop_vl;      ///< on the port
  double vl_share = 0;  ///< of all lanes that are on it
};

bool serves(const ArbTable& table, Vl vl) {
  return std::ranges::any_of(table,
                             [vl](const ArbEntry& entry) { return entry.vl == vl && entry.weight != 0; });
}

const VlService* find(const Analysis& analysis, Vl vl) {
  const auto found = std::ranges::find(analysis.vls, vl, &VlService::vl);
  return found == analysis.vls.end() ? nullptr : &*found;
}

std::vector<Sl> sls_on(const Sl2Vl& map, Vl vl) {
  std::vector<Sl> out;
  for (unsigned sl = 0; sl < sl_count; ++sl) {
    if (map.vl[sl] == vl) out.push_back(Sl{static_cast<std::uint8_t>(sl)});
  }
  return out;
}

class Fitter {
 public:
  Fitter(const Programming& wanted, const PortCapability& port, std::uint32_t packet_bytes)
      : wanted_{wanted}, port_{port}, packet_bytes_{packet_bytes} {
    options_.packets = AnalyzerOptions::every_vl(packet_bytes);
  }

  Result<Fitted> run() {
    auto analysis = analyze(wanted_.tables, options_);
    if (!analysis) return fail(analysis.error());
    before_ = *std::move(analysis);
    list_lanes();
    if (auto designed = design_tables(); !designed) return fail(designed.error());
    auto after = analyze(out_.programming.tables, options_);
    if (!after) return fail(after.error());
    compare(*after);
    out_.fit = Fit::Reduced;
    return std::move(out_);
  }

 private:
  /// The VLs that carry something.
  void list_lanes() {
    double sum = 0;
    for (const auto& service : before_.vls) {
      if (sls_on(wanted_.map, service.vl).empty()) continue;
      CarryingLane lane{service.vl, service.share.value(), Priority::High};
      const bool room = port_.low_entries > 0 && port_.data_vls > 1;
      if (!serves(wanted_.tables.high, service.vl) && room) lane.priority = Priority::Low;
      sum += lane.share;
      lanes_.push_back(lane);
    }
    for (auto& lane : lanes_) lane.share = sum > 0 ? lane.share / sum : 1;
    // The high table must not be empty.
    if (std::ranges::none_of(lanes_,
                             [](const CarryingLane& lane) { return lane.priority == Priority::High; })) {
      for (auto& lane : lanes_) lane.priority = Priority::High;
    }
  }

  [[nodiscard]] bool is_starved(const CarryingLane& lane) const {
    return wanted_.tables.limit == no_limit && lane.priority == Priority::Low;
  }

  /// Lanes stand for SLs here: what the designer needs are classes, which it puts together where it must.
  Result<void> design_tables() {
    DesignRequest request;
    request.port.high_entries = static_cast<std::uint32_t>(port_.high_entries);
    request.port.low_entries = static_cast<std::uint32_t>(port_.low_entries);
    request.port.mtu = packet_bytes_;
    request.port.data_vls = port_.data_vls;
    request.error = 1;
    request.effort = brief_search;
    double shares = 0;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      if (is_starved(lanes_[i])) continue;
      SlRequest sl;
      sl.sl = Sl{static_cast<std::uint8_t>(i)};
      sl.share = lanes_[i].share;
      sl.priority = lanes_[i].priority;
      shares += sl.share;
      request.sls.push_back(sl);
    }
    for (auto& sl : request.sls) sl.share /= shares;
    if (std::ranges::any_of(lanes_, [this](const CarryingLane& lane) { return is_starved(lane); }))
      --request.port.data_vls;
    const auto designed = design(request);
    if (!designed) return fail(designed.error());
    out_.programming.tables = designed->tables;
    std::uint8_t used = 0;
    for (const auto& sl : designed->sls) {
      CarryingLane& lane = lanes_[sl.request.sl.raw()];
      lane.vl = sl.vl;
      lane.vl_share = sl.vl_share * shares;
      used = std::max<std::uint8_t>(used, sl.vl.raw() + 1U);
    }
    if (wanted_.tables.limit == no_limit) add_starved(used);
    map_sls();
    return {};
  }

  /// Behind limit 255 the low table has no share to keep: one entry a VL, of the largest weight that it had.
  void add_starved(std::uint8_t first_vl) {
    auto& tables = out_.programming.tables;
    tables.limit = no_limit;
    const std::size_t room = std::min<std::size_t>(port_.data_vls - first_vl, port_.low_entries);
    for (CarryingLane& lane : lanes_) {
      if (!is_starved(lane)) continue;
      std::uint8_t weight = 1;
      for (const auto& entry : wanted_.tables.low) {
        if (entry.vl == lane.wanted) weight = std::max(weight, entry.weight);
      }
      if (tables.low.size() < room) {
        const auto vl = static_cast<std::uint8_t>(first_vl + tables.low.size());
        tables.low.push_back({Vl{vl}, weight});
      } else {
        tables.low.back().weight = std::max(tables.low.back().weight, weight);
      }
      lane.vl = tables.low.back().vl;
    }
  }

  void map_sls() {
    for (unsigned sl = 0; sl < sl_count; ++sl) {
      const auto lane = std::ranges::find(lanes_, wanted_.map.vl[sl], &CarryingLane::wanted);
      out_.programming.map.vl[sl] = lane == lanes_.end() ? drop_vl : lane->vl;
    }
  }

  void compare(const Analysis& after) {
    for (const CarryingLane& lane : lanes_) {
      const VlService* got = find(after, lane.vl);
      const VlService* wanted = find(before_, lane.wanted);
      if (got == nullptr || wanted == nullptr) continue;
      out_.lanes.push_back({sls_on(wanted_.map, lane.wanted), *wanted, *got, lane.vl_share});
    }
  }

  const Programming& wanted_;
  const PortCapability& port_;
  std::uint32_t packet_bytes_;
  AnalyzerOptions options_;
  Analysis before_;
  std::vector<CarryingLane> lanes_;
  Fitted out_;
};

}  // namespace

Result<Fitted> fit(const Programming& wanted, const PortCapability& port, std::uint32_t packet_bytes) {
  if (auto good = check(wanted, PortCapability{}); !good) return fail(good.error());
  if (check(wanted, port)) return Fitted{Fit::AsWanted, wanted, {}};
  if (port.high_entries == 0 || port.data_vls == 0)
    return fail(ErrorCode::Unsupported, "the port has no high table");
  return Fitter{wanted, port, packet_bytes}.run();
}

std::string to_string(const FittedLane& lane) {
  std::string sls;
  for (const Sl sl : lane.sls) sls += fmt::format("{}{}", sls.empty() ? "" : ", ", sl.raw());
  return fmt::format("SL {} on VL{}: {:.2f} % for {:.2f} %, largest distance {} for {}", sls,
                     lane.got.vl.raw(), 100 * lane.got.share.value(), 100 * lane.share, lane.got.max_distance,
                     lane.wanted.max_distance);
}

}  // namespace heddle::qos
