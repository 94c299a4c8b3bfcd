#include "qos/dtable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace heddle::qos {
namespace {

/// k and w are searched in steps of 0.1, counted as whole tenths.
constexpr int tenths = 10;
constexpr int most_tenths = 1'000'000;
/// Shares are decimals: a product that should be whole may miss it by this much.
constexpr double whole = 1e-9;

double min_share(const DTableRequest& request, const DTableClass& each, double k) {
  return static_cast<double>(each.mtu) / (each.distance * static_cast<double>(request.gmtu) * k);
}

double max_share(const DTableClass& each, double k, double w) { return w / (each.distance * k); }

Result<void> check_classes(const DTableRequest& request) {
  if (request.entries == 0 || request.entries > 256) {
    return fail(ErrorCode::Invalid, fmt::format("{} entries: give 1 to 256", request.entries));
  }
  if (request.gmtu == 0 || request.gmtu > 1024) {
    return fail(ErrorCode::Invalid, fmt::format("a GMTU of {} credits: give 1 to 1024", request.gmtu));
  }
  if (request.classes.empty() || request.classes.size() > max_lanes) {
    return fail(ErrorCode::Invalid,
                fmt::format("{} classes: give 1 to {}", request.classes.size(), max_lanes));
  }
  double shares = 0;
  for (const auto& each : request.classes) {
    if (each.mtu == 0 || each.mtu > request.gmtu) {
      return fail(ErrorCode::Invalid, fmt::format("{}: messages of {} credits, and GMTU is {}", each.name,
                                                  each.mtu, request.gmtu));
    }
    if (!(each.share > 0 && each.share <= 1)) {
      return fail(ErrorCode::Invalid,
                  fmt::format("{}: a share of {}, give more than 0 and at most 1", each.name, each.share));
    }
    if (each.distance < 2 || each.distance > 64) {
      return fail(ErrorCode::Invalid,
                  fmt::format("{}: distance {} is none of 2, 4, 8, 16, 32, 64", each.name, each.distance));
    }
    shares += each.share;
  }
  if (shares > 1 + 1e-6)
    return fail(ErrorCode::Invalid, fmt::format("the shares sum to {:.6g}, above 1", shares));
  return {};
}

/// The first k, in tenths, from which weights of one MTU do not exceed any share.
Result<double> find_k(const DTableRequest& request) {
  for (int k = 1; k <= most_tenths; ++k) {
    const bool fits = std::ranges::all_of(request.classes, [&](const DTableClass& each) {
      return min_share(request, each, static_cast<double>(k) / tenths) < each.share;
    });
    if (fits) return static_cast<double>(k) / tenths;
  }
  return fail(ErrorCode::Invalid, "no k gives every class its share: the smallest shares are too small");
}

/// The first w from k, in tenths, with which weights of M reach every share.
Result<double> find_w(const DTableRequest& request, double k) {
  const int first = static_cast<int>(std::lround(k * tenths));
  for (int w = first; w <= first + most_tenths; ++w) {
    // Exactly k at the first step, also where a given k is no tenth.
    const double value = w == first ? k : static_cast<double>(w) / tenths;
    const bool fits = std::ranges::all_of(
        request.classes, [&](const DTableClass& each) { return max_share(each, k, value) > each.share; });
    if (fits) return value;
  }
  return fail(ErrorCode::Invalid, "no w gives every class its share: a distance is too long for its share");
}

Result<void> choose_k_and_w(const DTableRequest& request, DTableDesign& design) {
  if (request.k && !(*request.k > 0 && *request.k <= 1e5)) {
    return fail(ErrorCode::Invalid, fmt::format("k {}: give more than 0", *request.k));
  }
  if (request.w && !(*request.w > 0 && *request.w <= 1e5)) {
    return fail(ErrorCode::Invalid, fmt::format("w {}: give more than 0", *request.w));
  }
  auto k = request.k ? Result<double>{*request.k} : find_k(request);
  if (!k) return fail(k.error());
  auto w = request.w ? Result<double>{*request.w} : find_w(request, *k);
  if (!w) return fail(w.error());
  if (*k > *w) return fail(ErrorCode::Invalid, fmt::format("k {} is above w {}: raise w", *k, *w));
  design.k = *k;
  design.w = *w;
  design.max_weight = request.gmtu * *w;
  design.pool = static_cast<double>(request.entries) * request.gmtu * *k;
  for (const auto& each : request.classes) {
    if (min_share(request, each, *k) > each.share + whole) {
      return fail(
          ErrorCode::Invalid,
          fmt::format("{}: with k {} its entries give at least {:.5g}, and its share is {:.5g}: raise k or "
                      "its distance",
                      each.name, *k, min_share(request, each, *k), each.share));
    }
    if (max_share(each, *k, *w) < each.share - whole) {
      return fail(
          ErrorCode::Invalid,
          fmt::format("{}: with k {} and w {} its entries give at most {:.5g}, and its share is {:.5g}: "
                      "raise w or shorten its distance",
                      each.name, *k, *w, max_share(each, *k, *w), each.share));
    }
  }
  return {};
}

DTable filled(const DTableRequest& request, const std::vector<std::uint32_t>& offsets,
              const std::vector<DTableColumn>& columns) {
  DTable table(request.entries);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (std::size_t at = offsets[i]; at < table.size(); at += request.classes[i].distance) {
      table[at] = {Lane{static_cast<std::uint8_t>(i)}, columns[i].weight};
    }
  }
  return table;
}

void fill_corrected(DTableDesign& design) {
  std::uint64_t sum = 0;
  for (const auto& entry : design.corrected) {
    if (entry.weight == 0) continue;
    design.columns[entry.lane.raw()].corrected_total += entry.weight;
    sum += entry.weight;
  }
  for (auto& column : design.columns) {
    column.corrected_share = static_cast<double>(column.corrected_total) / static_cast<double>(sum);
  }
}

}  // namespace

Result<DTableDesign> design_dtable(const DTableRequest& request) {
  if (auto good = check_classes(request); !good) return fail(good.error());
  std::vector<std::uint32_t> distances;
  for (const auto& each : request.classes) distances.push_back(each.distance);
  const auto offsets = place_by_distance(request.entries, distances);
  if (!offsets) return fail(offsets.error());
  DTableDesign design;
  if (auto chosen = choose_k_and_w(request, design); !chosen) return fail(chosen.error());

  std::uint64_t sum = 0;
  for (const auto& each : request.classes) {
    DTableColumn column;
    column.entries = request.entries / each.distance;
    column.min_share = min_share(request, each, design.k);
    column.max_share = max_share(each, design.k, design.w);
    column.total = design.pool * each.share;
    const double weight = std::ceil(column.total / column.entries - whole);
    column.weight = std::max(each.mtu, static_cast<std::uint32_t>(weight));
    column.rounded_total = std::uint64_t{column.entries} * column.weight;
    sum += column.rounded_total;
    design.columns.push_back(column);
  }
  std::vector<std::int64_t> corrections;
  std::vector<std::uint32_t> least;
  for (std::size_t i = 0; i < design.columns.size(); ++i) {
    auto& column = design.columns[i];
    column.rounded_share = static_cast<double>(column.rounded_total) / static_cast<double>(sum);
    column.correction =
        -std::llround((column.rounded_share - request.classes[i].share) * static_cast<double>(sum));
    corrections.push_back(column.correction);
    least.push_back(request.classes[i].mtu);
  }
  design.rounded = filled(request, *offsets, design.columns);
  design.corrected = design.rounded;
  correct_weights(design.corrected, corrections, least);
  fill_corrected(design);
  return design;
}

}  // namespace heddle::qos
