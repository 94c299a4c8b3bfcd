#include "metrics/error_series.h"

#include <gtest/gtest.h>

#include "fabric/generators.h"

namespace heddle::metrics {
namespace {

using namespace std::chrono_literals;
using load::Counter;

constexpr auto symbol = load::mask(Counter::SymbolErrors);

class ErrorSeriesTest : public testing::Test {
 protected:
  /// The sweep that ends then, with so many symbol errors at the first port of the switch.
  std::shared_ptr<const ErrorSeries::Shown> sweep(std::chrono::seconds at, std::uint64_t errors) {
    load::Sample sample;
    sample.fabric = fabric_;
    sample.number = ++number_;
    sample.ended = Instant{} + at;
    sample.ports.resize(fabric_->ports().size());
    for (auto& port : sample.ports) port.known = load::all_counters;
    sample.ports[port()].totals[load::at(Counter::SymbolErrors)] = errors;
    sample.ports[port()].totals[load::at(Counter::XmitWait)] = 5;
    return series_.look(sample);
  }
  [[nodiscard]] std::uint32_t port() const {
    return fabric_->node(fabric_->find_node(guid_)).first_port.raw() + 1;
  }

  std::shared_ptr<const Fabric> fabric_ = *generate("tree:k=2,n=2");
  NodeGuid guid_ = fabric_->nodes().front().guid;
  ErrorSeries series_;
  std::uint64_t number_ = 0;
};

TEST_F(ErrorSeriesTest, AnErrorBeginsWithZeroForAMinuteAndStays) {
  EXPECT_EQ(sweep(0s, 0)->all[port()], 0U);
  auto shown = sweep(10s, 3);
  EXPECT_EQ(shown->all[port()], symbol);
  EXPECT_EQ(shown->zero[port()], symbol);
  EXPECT_EQ(sweep(69s, 4)->zero[port()], symbol);
  shown = sweep(70s, 4);
  EXPECT_EQ(shown->all[port()], symbol);
  EXPECT_EQ(shown->zero[port()], 0U);
  // Of a counter that was reset by somebody the total stays; of one that is zero again the series would.
  EXPECT_EQ(sweep(71s, 0)->all[port()], symbol);
}

TEST_F(ErrorSeriesTest, WhatWasThereBeforeAnybodyLookedHasNotGrown) {
  const auto shown = sweep(0s, 3);
  EXPECT_EQ(shown->all[port()], symbol);
  EXPECT_EQ(shown->zero[port()], 0U);
}

TEST_F(ErrorSeriesTest, IsKnownOfAPortWhereverItStandsInAnotherFabric) {
  static_cast<void>(sweep(0s, 0));
  static_cast<void>(sweep(10s, 3));
  // The same nodes, in another order.
  FabricBuilder builder;
  for (auto i = fabric_->nodes().size(); i-- > 0;) static_cast<void>(builder.add_node(fabric_->nodes()[i]));
  const auto before = port();
  fabric_ = builder.build();
  ASSERT_NE(port(), before);
  EXPECT_EQ(sweep(20s, 3)->zero[port()], symbol);
  EXPECT_EQ(sweep(70s, 3)->zero[port()], 0U);
  EXPECT_EQ(sweep(71s, 3)->all[port()], symbol);
  // And of none that is not there any more.
  fabric_ = *generate("torus:3x3,hosts=1");
  guid_ = fabric_->nodes().front().guid;
  static_cast<void>(sweep(72s, 0));
}

}  // namespace
}  // namespace heddle::metrics
