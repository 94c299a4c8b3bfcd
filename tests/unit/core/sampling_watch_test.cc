#include "core/sampling_watch.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/generators.h"

namespace heddle::core {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

class SamplingWatchTest : public testing::Test {
 protected:
  /// A sweep without an answer from so many of the first ports.
  void sweep(std::size_t silent, std::uint64_t late = 0) {
    load::Sample sample;
    sample.fabric = fabric_;
    for (std::uint32_t i = 0; i < silent; ++i) {
      const Link& link = fabric_->link(LinkIndex{i});
      sample.failures.push_back({fabric_->port_index(link.a), load::SampleFailure::Reason::Timeout});
    }
    watch_.saw(sample, late);
  }
  [[nodiscard]] Problems problems() const {
    return watch_.problems(*fabric_, [](const Node& node) { return node.description; });
  }

  std::shared_ptr<const Fabric> fabric_ = generate("tree:k=4,n=2").value();
  SamplingWatch watch_;
};

TEST_F(SamplingWatchTest, NamesPortsThatAreSilentForSeveralSweeps) {
  sweep(2);
  sweep(2);
  EXPECT_THAT(problems(), IsEmpty());
  sweep(1);
  const Link& link = fabric_->link(LinkIndex{0});
  const std::string name = fmt::format("{}/{}", fabric_->node(link.a.node).description, link.a.port.raw());
  EXPECT_THAT(problems(), ElementsAre(AllOf(Field(&Problem::kind, ProblemKind::SilentPorts),
                                            Field(&Problem::text, HasSubstr("no answer from 1 port")),
                                            Field(&Problem::text, HasSubstr(name)))));
  sweep(0);
  EXPECT_THAT(problems(), IsEmpty());
  for (int i = 0; i < 5; ++i) sweep(9);
  EXPECT_THAT(problems(), ElementsAre(Field(&Problem::text, AllOf(HasSubstr("no answer from 9 ports"),
                                                                  HasSubstr("and 1 more")))));
}

TEST_F(SamplingWatchTest, SaysThatSweepsAreLateWhenHalfOfThemAre) {
  std::uint64_t late = 0;
  for (std::size_t i = 0; i < 100; ++i) sweep(0, i % 3 == 0 ? ++late : late);
  EXPECT_THAT(problems(), IsEmpty());
  for (std::size_t i = 0; i < SamplingWatch::window; ++i) sweep(0, i % 2 == 0 ? ++late : late);
  EXPECT_THAT(problems(), ElementsAre(Field(&Problem::kind, ProblemKind::LateSweeps)));
  for (std::size_t i = 0; i < SamplingWatch::window; ++i) sweep(0, late);
  EXPECT_THAT(problems(), IsEmpty());
}

}  // namespace
}  // namespace heddle::core
