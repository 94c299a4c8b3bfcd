#include "qos/designer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <functional>

#include "base/random.h"
#include "qos_support.h"

namespace heddle::qos {
namespace {

using testing::HasSubstr;

SlRequest sl(unsigned number, double share, Priority priority = Priority::High) {
  return {Sl{static_cast<std::uint8_t>(number)}, share, priority, {}, {}};
}

SlRequest bounded(unsigned number, double share, double latency_ns) {
  auto out = sl(number, share);
  out.latency_ns = latency_ns;
  return out;
}

/// The design's own figures are those of the analyzer.
void expect_consistent(const DesignRequest& request, const Design& design) {
  EXPECT_TRUE(
      check(design.tables, {request.port.high_entries, request.port.low_entries, request.port.data_vls}));
  AnalyzerOptions options;
  options.grant = request.grant;
  options.rounding = request.rounding;
  options.packets = AnalyzerOptions::every_vl(request.port.mtu);
  const auto analysis = analyze(design.tables, options);
  ASSERT_TRUE(analysis) << analysis.error().message;
  ASSERT_EQ(analysis->vls.size(), request.sls.size());
  for (const auto& each : design.sls) {
    const auto& service = analysis->vls[each.vl.raw()];
    EXPECT_EQ(design.map.vl[each.request.sl.raw()], each.vl);
    EXPECT_EQ(each.service.share, service.share);
    EXPECT_LE(std::abs(service.share.value() - each.request.share), request.error + 1e-12);
    EXPECT_LE(std::abs(service.share.value() - each.request.share), design.largest_error + 1e-12);
    EXPECT_LE(service.max_distance, design.largest_distance);
    EXPECT_LE(service.max_distance, each.request.distance.value_or(service.max_distance));
    EXPECT_LE(each.wait_ns.value(), each.request.latency_ns.value_or(each.wait_ns.value()));
  }
}

TEST(Designer, OnFewerVlsSlsShareOneWithAddedSharesAndTheTightestBound) {
  DesignRequest request;
  request.port.data_vls = 3;
  request.sls = {sl(0, 0.4),
                 sl(1, 0.1),
                 bounded(2, 0.1, 50'000),
                 bounded(3, 0.1, 20'000),
                 sl(4, 0.2, Priority::Low),
                 sl(5, 0.1, Priority::Low)};
  const auto result = design(request);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(check(result->tables, {64, 64, 3}));
  const auto on = [&](unsigned sl) { return result->map.vl[sl]; };
  EXPECT_EQ(on(4), on(5));
  EXPECT_EQ(on(0), on(1)) << "those without a bound before those with different ones";
  EXPECT_EQ(on(2), on(3));
  ASSERT_EQ(result->sls.size(), 6U);
  for (const auto& each : result->sls) {
    const unsigned number = each.request.sl.raw();
    EXPECT_NEAR(each.vl_share, number < 2 ? 0.5 : number < 4 ? 0.2 : 0.3, 1e-12);
    EXPECT_NEAR(each.service.share.value(), each.vl_share, request.error);
    if (number == 2 || number == 3) {
      EXPECT_LE(each.wait_ns.value(), 20'000);
    }
  }
  EXPECT_LE(result->largest_error, request.error);
}

TEST(Designer, ShorterTablesThanSlsAreShared) {
  DesignRequest request;
  request.port.high_entries = 2;
  request.sls = {sl(0, 0.5), sl(1, 0.2), sl(2, 0.3)};
  const auto result = design(request);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->map.vl[1], result->map.vl[2]);
  EXPECT_NE(result->map.vl[0], result->map.vl[1]);
}

TEST(Designer, WhatCannotShareIsRefusedPrecisely) {
  DesignRequest request;
  request.port.data_vls = 1;
  request.sls = {sl(0, 0.5), sl(1, 0.3), sl(2, 0.2, Priority::Low)};
  auto result = design(request);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message,
              HasSubstr("SLs of high and of low priority need 2 VLs, and the port has 1"));
  request.port.data_vls = 8;
  request.port.low_entries = 0;
  result = design(request);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("no low table"));
  // The bound of SLs that share is refused in the name of both.
  request = {};
  request.port.data_vls = 2;
  request.sls = {sl(0, 0.6), bounded(3, 0.05, 10), bounded(4, 0.35, 10)};
  result = design(request);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("SLs 3, 4's bound of 0.01 us"));
}

TEST(Designer, SimpleSharesAreMetExactly) {
  DesignRequest request;
  request.sls = {sl(0, 0.6), sl(1, 0.3), sl(5, 0.1, Priority::Low)};
  const auto result = design(request);
  ASSERT_TRUE(result) << result.error().message;
  expect_consistent(request, *result);
  EXPECT_LT(result->largest_error, 1e-12);
  EXPECT_TRUE(result->proof.least_error);
  EXPECT_EQ(result->map.vl[5], Vl{2});
  EXPECT_EQ(result->map.vl[9], Vl{2}) << "SLs without a request share the first low VL";
}

TEST(Designer, UnitsLeaveRoomForFineShares) {
  DesignRequest request;
  request.rounding = Rounding::Units;
  request.sls = {sl(0, 0.3286),
                 sl(1, 0.1),
                 sl(2, 0.1414),
                 sl(3, 0.13),
                 sl(4, 0.11, Priority::Low),
                 sl(5, 0.09, Priority::Low),
                 sl(6, 0.1, Priority::Low)};
  const auto result = design(request);
  ASSERT_TRUE(result) << result.error().message;
  expect_consistent(request, *result);
  EXPECT_LT(result->largest_error, 1e-5);
}

TEST(Designer, LatencyBoundsHold) {
  DesignRequest request;
  request.port.rate = BitRate{100e9};
  request.sls = {sl(0, 0.6), bounded(3, 0.1, 3500), sl(2, 0.3, Priority::Low)};
  const auto result = design(request);
  ASSERT_TRUE(result) << result.error().message;
  expect_consistent(request, *result);
}

TEST(Designer, DistanceClassesHold) {
  DesignRequest request;
  request.sls = {sl(0, 0.25), sl(1, 0.25), sl(2, 0.5)};
  request.sls[2].distance = 2;
  const auto result = design(request);
  ASSERT_TRUE(result) << result.error().message;
  expect_consistent(request, *result);
  request.sls[1].distance = 2;
  request.sls[0].distance = 2;
  const auto refused = design(request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Refused);
}

TEST(Designer, RefusesPreciselyWhatCannotBeMet) {
  DesignRequest request;
  request.port.rate = BitRate{100e9};
  // Nine packets of 4,096 bytes stand between two of SL 3: 2.949 us.
  request.sls = {sl(0, 0.6), bounded(3, 0.1, 1000), sl(2, 0.3)};
  request.error = 1e-4;
  const auto refused = design(request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Refused);
  EXPECT_EQ(refused.error().message,
            "SL 3's bound of 1 us cannot be met together with SL 0's 60 %: best is 2.95 us");
}

TEST(Designer, RefusesSharesThatTheTablesAreTooSmallFor) {
  DesignRequest request;
  request.port.high_entries = 2;
  request.sls = {sl(0, 0.95), sl(1, 0.05)};
  EXPECT_THAT(design(request).error().message, HasSubstr("cannot be met within 1 %: best is"));
}

TEST(Designer, RefusesRequestsThatContradictThemselves) {
  DesignRequest request;
  EXPECT_THAT(design(request).error().message, HasSubstr("no SL"));
  request.sls = {sl(0, 0.5), sl(1, 0.4)};
  EXPECT_THAT(design(request).error().message, HasSubstr("sum to 0.9"));
  request.sls = {sl(0, 0.5), sl(0, 0.5)};
  EXPECT_THAT(design(request).error().message, HasSubstr("SL 0: named twice"));
  request.sls = {sl(0, 1, Priority::Low)};
  EXPECT_THAT(design(request).error().message, HasSubstr("no SL has high priority"));
  request.sls = {sl(0, 0.5), sl(1, 0.5)};
  request.port.mtu = 100;
  EXPECT_THAT(design(request).error().message, HasSubstr("mtu 100"));
}

/// All tables of whole packets, three at most an entry; each class in its table.
class BruteForce {
 public:
  explicit BruteForce(const DesignRequest& request) : request_{request} {
    options_.grant = request.grant;
    options_.packets = AnalyzerOptions::every_vl(request.port.mtu);
    for (const auto& each : request.sls) high_ += each.priority == Priority::High ? 1 : 0;
    fill(0, high_, request.port.high_entries, highs_);
    fill(high_, static_cast<unsigned>(request.sls.size()), request.port.low_entries, lows_);
  }

  std::pair<double, std::uint64_t> best() {
    std::pair<double, std::uint64_t> best{9, 0};
    for (const auto& high : highs_) {
      for (const auto& low : lows_) {
        for (unsigned limit = 0; limit <= request_.largest_limit; ++limit) {
          const auto found = score({high, low, HighLimit{static_cast<std::uint8_t>(limit)}});
          if (found.first < best.first - 1e-12 ||
              (found.first < best.first + 1e-12 && found.second < best.second)) {
            best = found;
          }
        }
      }
    }
    return best;
  }

 private:
  void fill(unsigned from, unsigned to, std::size_t room, std::vector<ArbTable>& out) {
    if (!table_.empty()) out.push_back(table_);
    if (table_.size() == room) return;
    for (unsigned vl = from; vl < to; ++vl) {
      for (unsigned packets = 1; packets <= 3; ++packets) {
        table_.push_back(entry(vl, packets * request_.port.mtu / weight_unit_bytes));
        fill(from, to, room, out);
        table_.pop_back();
      }
    }
  }

  [[nodiscard]] std::pair<double, std::uint64_t> score(const VlArbitration& tables) const {
    const auto analysis = analyze(tables, options_);
    if (!analysis || analysis->vls.size() != request_.sls.size()) return {9, 0};
    std::pair<double, std::uint64_t> score{0, 0};
    for (std::size_t i = 0; i < request_.sls.size(); ++i) {
      const auto& vl = analysis->vls[i];
      if (vl.share.num == 0) return {9, 0};
      score.first = std::max(score.first, std::abs(vl.share.value() - request_.sls[i].share));
      score.second = std::max(score.second, vl.max_distance);
    }
    return score;
  }

  const DesignRequest& request_;
  AnalyzerOptions options_;
  unsigned high_ = 0;
  ArbTable table_;
  std::vector<ArbTable> highs_;
  std::vector<ArbTable> lows_;
};

TEST(DesignerProperty, BruteForceOnSmallTablesFindsNothingBetter) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Random random{seed};
    DesignRequest request;
    request.port = {.high_entries = 2, .low_entries = 2, .mtu = 5440, .rate = BitRate{100e9}, .data_vls = 8};
    request.error = 1;
    request.largest_limit = static_cast<std::uint8_t>(random.below(4));
    if (random.chance(0.3)) request.grant = LowGrant::Packet;
    double sum = 0;
    const unsigned high = 1 + static_cast<unsigned>(random.below(2));
    for (unsigned i = 0; i < high + 1; ++i) {
      request.sls.push_back(sl(i, 0.05 + random.unit(), i < high ? Priority::High : Priority::Low));
      sum += request.sls.back().share;
    }
    for (auto& each : request.sls) each.share /= sum;
    const auto result = design(request);
    ASSERT_TRUE(result) << result.error().message;
    const auto [error, distance] = BruteForce{request}.best();
    EXPECT_NEAR(result->largest_error, error, 1e-9) << "seed " << seed;
    EXPECT_LE(result->largest_distance, distance) << "seed " << seed;
    EXPECT_TRUE(result->proof.least_error) << "seed " << seed;
    EXPECT_LE(result->proof.distance_bound, distance) << "seed " << seed;
  }
}

TEST(DesignerProperty, DesignsAreWithinTheStatedError) {
  EXPECT_TRUE(rc::check([] {
    Random random{*rc::gen::arbitrary<std::uint64_t>()};
    DesignRequest request;
    request.port.data_vls = 15;
    request.error = 0.03;
    double sum = 0;
    const auto count = 1 + random.below(6);
    for (unsigned i = 0; i < count; ++i) {
      request.sls.push_back(
          sl(i, 0.05 + random.unit(), i > 0 && random.chance(0.4) ? Priority::Low : Priority::High));
      sum += request.sls.back().share;
    }
    for (auto& each : request.sls) each.share /= sum;
    const auto result = design(request);
    if (!result) RC_DISCARD("cannot be met");
    expect_consistent(request, *result);
    RC_ASSERT(!testing::Test::HasFailure());
  }));
}

TEST(DesignRequestText, AllKeys) {
  const auto request = parse_design_request(R"(
[port]
high_entries = 32
low_entries = 16
mtu = 2048
rate = "4xHDR"
vls = 4
[design]
error = 0.005
low_grant = "packet"
rounding = "units"
largest_limit = 20
[[sl]]
sl = 3
share = 0.25
latency_ns = 2000
[[sl]]
sl = 4
share = 0.75
priority = "low"
distance = 8
)",
                                            "r.toml");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->port.high_entries, 32U);
  EXPECT_DOUBLE_EQ(request->port.rate.value(), 200e9);
  EXPECT_EQ(request->grant, LowGrant::Packet);
  EXPECT_EQ(request->rounding, Rounding::Units);
  ASSERT_EQ(request->sls.size(), 2U);
  EXPECT_EQ(request->sls[0].sl, Sl{3});
  EXPECT_DOUBLE_EQ(request->sls[0].latency_ns.value(), 2000);
  EXPECT_EQ(request->sls[1].priority, Priority::Low);
  EXPECT_EQ(request->sls[1].distance, 8U);
}

TEST(DesignRequestText, ErrorsNameFileAndLine) {
  const auto message = [](const char* text) { return parse_design_request(text, "r.toml").error().message; };
  EXPECT_THAT(message("[[sl]]\nsl = 0\n"), HasSubstr("r.toml:1: [[sl]]: no share"));
  EXPECT_THAT(message("[[sl]]\nsl = 16\nshare = 1\n"),
              HasSubstr("r.toml:2: [[sl]]: sl is not a whole number"));
  EXPECT_THAT(message("[port]\ncolour = 1\n"), HasSubstr("r.toml:2: [port]: unknown key 'colour'"));
  EXPECT_THAT(message("[port]\nrate = \"fast\"\n"), HasSubstr("r.toml:2: [port]: rate 'fast'"));
  EXPECT_THAT(message("[port]\nrate = \"\"\n"), HasSubstr("r.toml:2: [port]: rate ''"));
  EXPECT_THAT(message("[design]\nrounding = \"down\"\n"), HasSubstr("rounding is none of \"up\""));
  EXPECT_THAT(message("x ="), HasSubstr("r.toml:1: "));
  EXPECT_THAT(message(""), HasSubstr("no [[sl]]"));
  EXPECT_THAT(message("sl = [1]"), HasSubstr("sl is not a table"));
}

TEST(DesignRequestText, AnyBytesAreARequestOrAnError) {
  EXPECT_TRUE(rc::check([](const std::string& text) {
    const auto request = parse_design_request(text, "r");
    RC_ASSERT(request || request.error().message.starts_with("r:"));
  }));
}

}  // namespace
}  // namespace heddle::qos
