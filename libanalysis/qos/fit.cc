#include "qos/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "qos/designer.h"

namespace heddle::qos {
namespace {

/// VLs that share one on the port.
struct Lane {
  std::vector<Vl> vls;  ///< of the wanted tables
  double share = 0;
  Priority priority = Priority::High;
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
    put_together();
    if (auto designed = design_tables(); !designed) return fail(designed.error());
    auto after = analyze(out_.programming.tables, options_);
    if (!after) return fail(after.error());
    compare(*after);
    out_.fit = Fit::Reduced;
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool starves() const { return wanted_.tables.limit == no_limit; }

  /// The VLs that carry something.
  void list_lanes() {
    double sum = 0;
    for (const auto& service : before_.vls) {
      if (sls_on(wanted_.map, service.vl).empty()) continue;
      Lane lane{{service.vl}, service.share.value(), Priority::High};
      if (!serves(wanted_.tables.high, service.vl) && port_.low_entries > 0) lane.priority = Priority::Low;
      sum += lane.share;
      lanes_.push_back(std::move(lane));
    }
    for (auto& lane : lanes_) lane.share = sum > 0 ? lane.share / sum : 1;
    // The high table must not be empty.
    if (std::ranges::none_of(lanes_, [](const Lane& lane) { return lane.priority == Priority::High; })) {
      for (auto& lane : lanes_) lane.priority = Priority::High;
    }
  }

  [[nodiscard]] std::size_t count(Priority priority) const {
    return static_cast<std::size_t>(std::ranges::count(lanes_, priority, &Lane::priority));
  }

  void put_together() {
    while (count(Priority::High) > port_.high_entries) merge(Priority::High);
    while (count(Priority::Low) > port_.low_entries) merge(Priority::Low);
    while (lanes_.size() > port_.data_vls) {
      const std::size_t high = count(Priority::High);
      const std::size_t low = lanes_.size() - high;
      if (high < 2 && low < 2) {  // one of each on a port of one VL
        for (auto& lane : lanes_) lane.priority = Priority::High;
        merge(Priority::High);
      } else {
        const bool in_low = high < 2 || (low >= 2 && least_pair(Priority::Low) <= least_pair(Priority::High));
        merge(in_low ? Priority::Low : Priority::High);
      }
    }
  }

  /// The lanes of this priority, least share first.
  [[nodiscard]] std::vector<std::size_t> by_share(Priority priority) const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      if (lanes_[i].priority == priority) out.push_back(i);
    }
    std::ranges::stable_sort(out, {}, [this](std::size_t i) { return lanes_[i].share; });
    return out;
  }

  [[nodiscard]] double least_pair(Priority priority) const {
    const auto order = by_share(priority);
    return lanes_[order[0]].share + lanes_[order[1]].share;
  }

  void merge(Priority priority) {
    const auto order = by_share(priority);
    const auto [into, from] = std::minmax(order[0], order[1]);
    lanes_[into].share += lanes_[from].share;
    lanes_[into].vls.insert(lanes_[into].vls.end(), lanes_[from].vls.begin(), lanes_[from].vls.end());
    lanes_.erase(lanes_.begin() + static_cast<std::ptrdiff_t>(from));
  }

  /// Lanes stand for SLs here: what the designer needs are classes.
  Result<void> design_tables() {
    DesignRequest request;
    request.port.high_entries = static_cast<std::uint32_t>(port_.high_entries);
    request.port.low_entries = static_cast<std::uint32_t>(port_.low_entries);
    request.port.mtu = packet_bytes_;
    request.port.data_vls = port_.data_vls;
    request.error = 1;
    double shares = 0;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      if (starves() && lanes_[i].priority == Priority::Low) continue;
      SlRequest sl;
      sl.sl = Sl{static_cast<std::uint8_t>(i)};
      sl.share = lanes_[i].share;
      sl.priority = lanes_[i].priority;
      shares += sl.share;
      request.sls.push_back(sl);
    }
    for (auto& sl : request.sls) sl.share /= shares;
    const auto designed = design(request);
    if (!designed) return fail(designed.error());
    out_.programming.tables = designed->tables;
    lane_vl_.assign(lanes_.size(), drop_vl);
    for (const auto& sl : designed->sls) lane_vl_[sl.request.sl.raw()] = sl.vl;
    if (starves()) add_starved(designed->sls.size());
    map_sls();
    return {};
  }

  /// Behind limit 255 the low table has no share to keep: one entry a lane, of the largest weight it had.
  void add_starved(std::size_t next_vl) {
    out_.programming.tables.limit = no_limit;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      if (lanes_[i].priority != Priority::Low) continue;
      lane_vl_[i] = Vl{static_cast<std::uint8_t>(next_vl++)};
      std::uint8_t weight = 1;
      for (const auto& entry : wanted_.tables.low) {
        if (std::ranges::find(lanes_[i].vls, entry.vl) != lanes_[i].vls.end())
          weight = std::max(weight, entry.weight);
      }
      out_.programming.tables.low.push_back({lane_vl_[i], weight});
    }
  }

  void map_sls() {
    for (unsigned sl = 0; sl < sl_count; ++sl) {
      Vl& to = out_.programming.map.vl[sl] = drop_vl;
      for (std::size_t i = 0; i < lanes_.size(); ++i) {
        const auto& vls = lanes_[i].vls;
        if (std::ranges::find(vls, wanted_.map.vl[sl]) != vls.end()) to = lane_vl_[i];
      }
    }
  }

  void compare(const Analysis& after) {
    for (const auto& service : before_.vls) {
      for (std::size_t i = 0; i < lanes_.size(); ++i) {
        const auto& vls = lanes_[i].vls;
        const VlService* got = find(after, lane_vl_[i]);
        if (std::ranges::find(vls, service.vl) == vls.end() || got == nullptr) continue;
        out_.lanes.push_back({sls_on(wanted_.map, service.vl), service, *got, lanes_[i].share});
      }
    }
  }

  const Programming& wanted_;
  const PortCapability& port_;
  std::uint32_t packet_bytes_;
  AnalyzerOptions options_;
  Analysis before_;
  std::vector<Lane> lanes_;
  std::vector<Vl> lane_vl_;  ///< on the port
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
