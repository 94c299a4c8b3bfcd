#include "web/picture.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "unit/web/sampled_fabric.h"
#include "unit/web/vlq_decode.h"
#include "web/vlq.h"

namespace heddle::web {
namespace {

TEST(Vlq, SmallNumbersTakeOneCharacter) {
  std::string text;
  for (const std::int64_t value : {0, -1, 1, 15, -16}) append_signed(text, value);
  EXPECT_EQ(text, "ABCef");
  append_signed(text, 16);
  EXPECT_EQ(text, "ABCefgB");
}

RC_GTEST_PROP(Vlq, ComesBack, (std::int64_t value)) {
  const auto wanted = value / 2;  // the sign takes a bit
  std::string text;
  append_signed(text, wanted);
  RC_ASSERT(text.size() == vlq_length(zigzag(wanted)));
  std::string_view left = text;
  const std::uint64_t code = take_unsigned(left);
  RC_ASSERT(left.empty());
  RC_ASSERT((static_cast<std::int64_t>(code >> 1U) ^ -static_cast<std::int64_t>(code & 1U)) == wanted);
}

RC_GTEST_PROP(Difference, LeadsFromOneColumnToTheOther,
              (std::vector<std::pair<std::int16_t, std::int16_t>> pairs)) {
  Column shown;
  Column to;
  for (const auto& [before, after] : pairs) {
    shown.push_back(before);
    to.push_back(after);
  }
  Column viewer = shown;
  add_difference(viewer, difference(shown, to));
  RC_ASSERT(shown == to);
  RC_ASSERT(viewer == to);
}

RC_GTEST_PROP(Difference, LeavesOutWhatIsTooSmall,
              (std::vector<std::pair<std::int16_t, std::int16_t>> pairs, std::uint8_t least)) {
  Column shown;
  Column to;
  for (const auto& [before, after] : pairs) {
    shown.push_back(before);
    to.push_back(after);
  }
  Column viewer = shown;
  add_difference(viewer, difference(shown, to, least));
  RC_ASSERT(viewer == shown);
  for (std::size_t i = 0; i < to.size(); ++i)
    RC_ASSERT(shown[i] == to[i] || std::abs(to[i] - shown[i]) < least);
}

TEST(Picture, HasThousandthsOfBothDirections) {
  SampledFabric fabric{"tree:k=2,n=2"};
  const auto sample = fabric.sample(0.25F, 0.5F);
  const Link& link = fabric.fabric->links()[3];
  auto& port = sample->ports[fabric.fabric->port_index(link.b).raw()];
  port.utilization = load::unknown;
  port.totals[load::at(load::Counter::SymbolErrors)] = 5;
  port.totals[load::at(load::Counter::RcvErrors)] = 2;
  port.totals[load::at(load::Counter::XmitWait)] = 1000;
  sample->locality[0].total = -0.25F;
  const Picture picture = picture_of(*sample);
  EXPECT_EQ(picture.utilization[6], 250);
  EXPECT_EQ(picture.utilization[7], unknown_ratio);
  EXPECT_EQ(picture.congestion[7], 500);
  EXPECT_EQ(picture.errors[6], 0);
  EXPECT_EQ(picture.errors[7], 7);
  EXPECT_EQ(picture.locality[0], -250);
  EXPECT_EQ(picture.locality[1], unknown_locality);
}

TEST(Picture, OfAnEarlierSweepComesFromTheHistory) {
  SampledFabric fabric{"tree:k=2,n=2"};
  load::History history{4};
  history.rebase(fabric.fabric);
  for (const float load : {0.1F, 0.2F, 0.3F}) history.append(*fabric.sample(load));
  const auto now = fabric.sample(0.9F);
  EXPECT_EQ(picture_of(*now, history, 1).utilization[0], 200);
  EXPECT_EQ(picture_of(*now, history, 7).utilization[0], unknown_ratio);
  EXPECT_EQ(history.times().size(), 3U);
}

TEST(Picture, OfAnEarlierSweepHasItsLocalityAndErrors) {
  SampledFabric fabric{"tree:k=2,n=2"};
  load::History history{4};
  history.rebase(fabric.fabric);
  const Link& link = fabric.fabric->links()[3];
  const std::size_t port = fabric.fabric->port_index(link.b).raw();
  for (const std::uint64_t errors : {5U, 5U, 12U}) {
    const auto sample = fabric.sample(0);
    sample->ports[port].totals[load::at(load::Counter::SymbolErrors)] = errors;
    for (const Link& cable : fabric.fabric->links()) {
      // Hosts send, and in the second sweep nothing of it leaves their leaf.
      for (const auto end : {cable.a, cable.b}) {
        const bool host = fabric.fabric->node(end.node).type != NodeType::Switch;
        const bool between = fabric.fabric->node(cable.a.node).type == fabric.fabric->node(cable.b.node).type;
        if (host || (between && sample->number != 2))
          sample->ports[fabric.fabric->port_index(end).raw()].utilization = 0.5F;
      }
    }
    history.append(*sample);
  }
  const auto now = fabric.sample(0.9F);
  EXPECT_EQ(picture_of(*now, history, 0).errors[7], 5);
  EXPECT_EQ(picture_of(*now, history, 1).errors[7], 5);
  EXPECT_EQ(picture_of(*now, history, 2).errors[7], 12);
  EXPECT_EQ(picture_of(*now, history, 2).errors[6], 0);
  const std::size_t leaf = 0;  // each leaf with its hosts is a set
  EXPECT_EQ(picture_of(*now, history, 1, fabric.sets.get()).locality[leaf], 1000);
  EXPECT_LT(picture_of(*now, history, 2, fabric.sets.get()).locality[leaf], 500);
  EXPECT_EQ(picture_of(*now, history, 1).locality[leaf], unknown_locality);
}

TEST(FittingDifference, ShowsEverythingThatFits) {
  SampledFabric fabric{"tree:k=4,n=3"};
  const Picture before = picture_of(*fabric.sample(0.1F));
  const Picture after = picture_of(*fabric.sample(0.102F));
  EXPECT_EQ(fitting_difference(before, after, 100'000), 1);
}

TEST(FittingDifference, LeavesOutSmallChangesWhereAllWouldBeTooMuch) {
  SampledFabric fabric{"tree:k=4,n=3"};
  const auto sample = fabric.sample(0.1F);
  Picture shown = picture_of(*sample);
  Picture to = shown;
  for (std::size_t i = 0; i < to.utilization.size(); ++i)
    to.utilization[i] += static_cast<std::int64_t>(i % 50);
  const std::size_t room = to.utilization.size();  // a third of what all of them take
  const auto least = fitting_difference(shown, to, room);
  EXPECT_GT(least, 1);
  const auto text = difference(shown.utilization, to.utilization, least);
  EXPECT_LE(text.size(), room * 11 / 10);
  EXPECT_GT(text.size(), room / 2);
}

}  // namespace
}  // namespace heddle::web
