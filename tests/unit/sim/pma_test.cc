#include "unit/sim/sim_fixture.h"

namespace heddle::sim {
namespace {

using mad::Method;
using mad::PmAttr;

/// Every port sends at a rate of its own.
class Rates : public CounterSource {
 public:
  PortTotals read(PortIndex port, Picoseconds now) override {
    ++reads;
    const auto seconds = static_cast<std::uint64_t>(now / Picoseconds{1s});
    PortTotals totals;
    totals.xmit_data = seconds * (port.raw() + 1) * 1'000'000'000;
    totals.rcv_data = totals.xmit_data + 1;
    totals.xmit_packets = seconds * 10;
    totals.rcv_packets = seconds * 20;
    totals.xmit_wait = seconds * 30;
    totals.xmit_discards = seconds * 3;
    totals.inactive_discards = seconds;
    return totals;
  }
  VlTotals read_vls(PortIndex, Picoseconds now) override {
    VlTotals totals;
    totals.xmit_data[2] = static_cast<std::uint64_t>(now / Picoseconds{1s}) * 5;
    totals.xmit_wait[3] = static_cast<std::uint64_t>(now / Picoseconds{1s}) * 50'000;
    return totals;
  }
  std::uint32_t queue_depth(PortIndex, Vl vl, Picoseconds) override { return 100U + vl.raw(); }

  int reads = 0;
};

class PmaTest : public SimTest {
 protected:
  PmaTest() {
    bring_up(*fabric);
    fabric->set_counter_source(&rates);
    pass(2s);
  }
  ~PmaTest() override { fabric->set_counter_source(nullptr); }

  template <class T>
  std::optional<T> read(PmAttr attribute, std::uint8_t port_select = 3, Method method = Method::Get,
                        const T* value = nullptr) {
    mad::Packet packet = perf(lid(0x100, 0), method, attribute, port_select);
    if (value != nullptr) encode_gmp(*value, mad::gmp_data(packet.mad));
    const auto answer = ask(packet);
    if (!answer || mad::read_header(answer->mad).status != mad::status::ok) return std::nullopt;
    return mad::decode_gmp<T>(mad::gmp_data(answer->mad));
  }
  std::optional<std::uint16_t> status_of(std::uint64_t guid, PmAttr attribute, std::uint8_t port_select) {
    const auto answer = ask(perf(lid(guid, guid >= 0x100 ? 0 : 1), Method::Get, attribute, port_select));
    if (!answer) return std::nullopt;
    return mad::read_header(answer->mad).status;
  }
  [[nodiscard]] std::uint64_t rate(std::uint8_t num) const {
    return (port(0x100, num).raw() + 1) * 1'000'000'000ULL;
  }

  Rates rates;
};

TEST_F(PmaTest, ExtendedCountersShowTheDataPlane) {
  const auto counters = read<mad::PortCountersExtended>(PmAttr::PortCountersExtended);
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->port_select, PortNum{3});
  EXPECT_EQ(counters->xmit_data, 2 * rate(3));
  EXPECT_EQ(counters->rcv_data, 2 * rate(3) + 1);
  EXPECT_EQ(counters->unicast_xmit_packets, 20U);
  EXPECT_EQ(counters->xmit_wait, 60U);
  EXPECT_EQ(counters->xmit_discards, 6U);
}

TEST_F(PmaTest, NothingIsReadBeforeItIsAsked) {
  pass(100s);
  EXPECT_EQ(rates.reads, 0);
}

TEST_F(PmaTest, NarrowCountersStickAtTheirLimit) {
  const auto counters = read<mad::PortCounters>(PmAttr::PortCounters);
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->xmit_data, 0xffffffffU);
  EXPECT_EQ(counters->xmit_packets, 20U);
  pass(1s);
  EXPECT_EQ(read<mad::PortCounters>(PmAttr::PortCounters)->xmit_data, 0xffffffffU);
  mad::PortCounters reset;
  reset.port_select = PortNum{3};
  reset.counter_select = 0x1000;
  const auto after = read(PmAttr::PortCounters, 3, Method::Set, &reset);
  ASSERT_TRUE(after);
  EXPECT_EQ(after->xmit_data, 0U);
  EXPECT_EQ(after->xmit_packets, 30U) << "not selected";
  EXPECT_EQ(read<mad::PortCountersExtended>(PmAttr::PortCountersExtended)->xmit_data, 3 * rate(3))
      << "the 64-bit set is reset by itself";
}

TEST_F(PmaTest, SetGivesTheSelectedCountersTheirValue) {
  mad::PortCountersExtended value;
  value.port_select = PortNum{3};
  value.counter_select = 0x1;
  value.xmit_data = 77;
  ASSERT_TRUE(read(PmAttr::PortCountersExtended, 3, Method::Set, &value));
  pass(1s);
  const auto counters = read<mad::PortCountersExtended>(PmAttr::PortCountersExtended);
  EXPECT_EQ(counters->xmit_data, 77 + rate(3));
  EXPECT_EQ(counters->xmit_packets, 30U);
}

TEST_F(PmaTest, PresetNearTheWrap) {
  PortTotals near;
  near.xmit_data = ~std::uint64_t{0} - 9;
  fabric->preset_counters(port(0x100, 3), near, now);
  EXPECT_EQ(read<mad::PortCountersExtended>(PmAttr::PortCountersExtended)->xmit_data, near.xmit_data);
  pass(1s);
  EXPECT_EQ(read<mad::PortCountersExtended>(PmAttr::PortCountersExtended)->xmit_data, rate(3) - 10);
}

TEST_F(PmaTest, ErrorCountersHaveTheirWidths) {
  fabric->add_errors(port(0x100, 3), ErrorCounter::LocalLinkIntegrity, 100, now);
  fabric->add_errors(port(0x100, 3), ErrorCounter::Symbol, 100'000, now);
  fabric->add_errors(port(0x100, 3), ErrorCounter::LinkRecovers, 300, now);
  const auto narrow = read<mad::PortCounters>(PmAttr::PortCounters);
  EXPECT_EQ(narrow->local_link_integrity_errors, 15);
  EXPECT_EQ(narrow->symbol_errors, 0xffff);
  EXPECT_EQ(narrow->link_recovers, 0xff);
  EXPECT_EQ(narrow->xmit_discards, 6);
  const auto wide = read<mad::PortCountersExtended>(PmAttr::PortCountersExtended);
  EXPECT_EQ(wide->symbol_errors, 100'000U);
  mad::PortCounters reset;
  reset.port_select = PortNum{3};
  reset.counter_select = 0x41;  // symbol errors, discards
  read(PmAttr::PortCounters, 3, Method::Set, &reset);
  EXPECT_EQ(read<mad::PortCounters>(PmAttr::PortCounters)->symbol_errors, 0);
  EXPECT_EQ(read<mad::PortCounters>(PmAttr::PortCounters)->xmit_discards, 0);
  EXPECT_EQ(read<mad::PortCounters>(PmAttr::PortCounters)->link_recovers, 0xff);
}

TEST_F(PmaTest, AllPortsAtOnce) {
  const auto all = read<mad::PortCountersExtended>(PmAttr::PortCountersExtended, 255);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->xmit_packets, 8 * 20U);
  fabric->set_traits(node(0x100), {.all_ports = false});
  EXPECT_FALSE(read<mad::PortCountersExtended>(PmAttr::PortCountersExtended, 255));
}

TEST_F(PmaTest, PortsThatAreNotThere) {
  EXPECT_EQ(status_of(0x100, PmAttr::PortCounters, 9), mad::status::bad_field);
  EXPECT_EQ(status_of(0x100, PmAttr::PortCounters, 0), mad::status::ok);
  EXPECT_EQ(status_of(0x20, PmAttr::PortCounters, 1), mad::status::ok);
  EXPECT_EQ(status_of(0x20, PmAttr::PortCounters, 2), mad::status::bad_field);
  EXPECT_EQ(status_of(0x20, PmAttr::PortCounters, 255), mad::status::bad_field);
  EXPECT_EQ(status_of(0x20, PmAttr{0x99}, 1), mad::status::bad_method_attribute);
}

TEST_F(PmaTest, ClassPortInfoSaysWhatThereIs) {
  const auto rich = read<mad::ClassPortInfo>(PmAttr::ClassPortInfo);
  EXPECT_NE(rich->capability_mask & mad::pm_cap::extended_width, 0);
  EXPECT_NE(rich->capability_mask & mad::pm_cap::xmit_wait, 0);
  EXPECT_NE(rich->capability_mask2 & mad::pm_cap::extended_errors, 0U);
  fabric->set_traits(node(0x100), {.extended_counters = false, .xmit_wait = false});
  const auto poor = read<mad::ClassPortInfo>(PmAttr::ClassPortInfo);
  EXPECT_EQ(poor->capability_mask & (mad::pm_cap::extended_width | mad::pm_cap::xmit_wait), 0);
  EXPECT_FALSE(read<mad::PortCountersExtended>(PmAttr::PortCountersExtended));
  EXPECT_EQ(read<mad::PortCounters>(PmAttr::PortCounters)->xmit_wait, 0U);
}

TEST_F(PmaTest, SamplesRunForTheirInterval) {
  mad::PortSamplesControl control;
  control.port_select = PortNum{3};
  control.tag = 42;
  control.sample_interval = 250'000'000;  // one second of 4 ns ticks
  control.counter_select[0] = mad::samples_select::xmit_packets;
  control.counter_select[1] = mad::samples_select::xmit_queue + 2;
  const auto begun = read(PmAttr::PortSamplesControl, 3, Method::Set, &control);
  ASSERT_TRUE(begun);
  EXPECT_EQ(begun->sample_status, 2);
  EXPECT_EQ(fabric->next_event(), now + 1s);
  EXPECT_EQ(read<mad::PortSamplesResult>(PmAttr::PortSamplesResult)->sample_status, 2);
  pass(3s);
  const auto result = read<mad::PortSamplesResult>(PmAttr::PortSamplesResult);
  EXPECT_EQ(result->tag, 42);
  EXPECT_EQ(result->sample_status, 0);
  EXPECT_EQ(result->counters[0], 10U);
  EXPECT_EQ(result->counters[1], 102U);
}

TEST_F(PmaTest, PerVlAndDetailCounters) {
  auto answer = ask(perf(lid(0x100, 0), Method::Get, PmAttr::PortVlOpData, 3));
  EXPECT_EQ(decode_per_vl(mad::gmp_data(answer->mad), mad::CounterWidth::Bits32).value[2], 10U);
  answer = ask(perf(lid(0x100, 0), Method::Get, PmAttr::PortVlXmitWaitCounters, 3));
  EXPECT_EQ(decode_per_vl(mad::gmp_data(answer->mad), mad::CounterWidth::Bits16).value[3], 0xffffU);
  mad::Packet reset = perf(lid(0x100, 0), Method::Set, PmAttr::PortVlOpData, 3);
  mad::PerVlCounters select;
  select.port_select = PortNum{3};
  select.counter_select = 0x4;
  encode_per_vl(select, mad::CounterWidth::Bits32, mad::gmp_data(reset.mad));
  ask(reset);
  pass(1s);
  answer = ask(perf(lid(0x100, 0), Method::Get, PmAttr::PortVlOpData, 3));
  EXPECT_EQ(decode_per_vl(mad::gmp_data(answer->mad), mad::CounterWidth::Bits32).value[2], 5U);
  const auto discards = read<mad::PortXmitDiscardDetails>(PmAttr::PortXmitDiscardDetails);
  EXPECT_EQ(discards->inactive, 3);
}

TEST_F(PmaTest, RedirectionPointsElsewhereAndIsServedThere) {
  fabric->set_redirect(node(0x100), Redirect{port(0x30, 1), 5});
  const auto refused = ask(perf(lid(0x100, 0), Method::Get, PmAttr::PortCounters, 3));
  ASSERT_TRUE(refused);
  EXPECT_EQ(mad::read_header(refused->mad).status, mad::status::redirect);
  const auto info = read<mad::ClassPortInfo>(PmAttr::ClassPortInfo);
  EXPECT_EQ(info->redirect_lid, lid(0x30, 1));
  EXPECT_EQ(info->redirect_qp, 5U);
  mad::Packet there = perf(info->redirect_lid, Method::Get, PmAttr::PortCountersExtended, 3);
  there.address.dqp = info->redirect_qp;
  const auto answer = ask(there);
  ASSERT_TRUE(answer);
  EXPECT_EQ(mad::decode_gmp<mad::PortCountersExtended>(mad::gmp_data(answer->mad)).xmit_data, 2 * rate(3));
  there.address.dqp = 9;
  EXPECT_FALSE(ask(there));
}

TEST_F(PmaTest, ManagementPacketsCountWhenAskedTo) {
  fabric->set_counter_source(nullptr);
  start({.count_management = true});
  bring_up(*fabric);
  const auto first = read<mad::PortCountersExtended>(PmAttr::PortCountersExtended, 1);
  const auto second = read<mad::PortCountersExtended>(PmAttr::PortCountersExtended, 1);
  EXPECT_EQ(second->rcv_packets - first->rcv_packets, 1U);
  EXPECT_EQ(second->xmit_data - first->xmit_data, 72U);
}

}  // namespace
}  // namespace heddle::sim
