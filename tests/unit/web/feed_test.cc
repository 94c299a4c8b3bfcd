#include "web/feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <optional>

#include "unit/web/sampled_fabric.h"
#include "unit/web/vlq_decode.h"

namespace heddle::web {
namespace {

namespace json = boost::json;

/// Somebody who looks at the page: takes pieces when told to, as a connection does.
class Viewer {
 public:
  explicit Viewer(control::Pieces pieces) : pieces_{std::move(pieces)} {}

  void ask() {
    asking_ = true;
    pieces_([this](const control::Piece& piece) {
      asking_ = false;
      take(*piece);
    });
  }
  [[nodiscard]] bool asking() const { return asking_; }

  std::vector<std::string> kinds;
  std::vector<std::size_t> sizes;
  std::vector<const void*> texts;
  std::uint64_t sequence = 0;
  std::int64_t least = 0;
  Column utilization;

 private:
  void take(const std::string& text) {
    const auto kind_at = text.find("event: ") + 7;
    const auto data_at = text.find("\ndata: ");
    ASSERT_NE(data_at, std::string::npos);
    ASSERT_TRUE(text.ends_with("\n\n"));
    kinds.push_back(text.substr(kind_at, data_at - kind_at));
    sizes.push_back(text.size());
    texts.push_back(&text);
    const json::value frame = json::parse(text.substr(data_at + 7));
    if (kinds.back() == "whole") utilization.assign(utilization.size(), unknown_ratio);
    const auto number = frame.at("seq").to_number<std::uint64_t>();
    if (kinds.back() == "delta") {
      EXPECT_EQ(number, sequence + 1) << "a frame is missing";
    }
    sequence = number;
    least = frame.at("least").to_number<std::int64_t>();
    const auto& column = frame.at("utilization").as_string();
    add_difference(utilization, {column.data(), column.size()});
  }

  control::Pieces pieces_;
  bool asking_ = false;
};

class FeedTest : public testing::Test {
 protected:
  std::unique_ptr<Viewer> viewer() {
    auto pieces = feed->subscribe();
    EXPECT_TRUE(pieces) << pieces.error().message;
    auto made = std::make_unique<Viewer>(std::move(*pieces));
    made->utilization.resize(2 * fabric.fabric->links().size());
    return made;
  }
  void run() {
    for (auto& then : std::exchange(waiting, {})) then();
  }

  SampledFabric fabric{"tree:k=3,n=2"};
  std::vector<std::function<void()>> waiting;
  std::string shape = "a";
  std::unique_ptr<Feed> feed = std::make_unique<Feed>(
      [this](std::function<void()> then) { waiting.push_back(std::move(then)); },
      [this](const std::shared_ptr<const load::Sample>&) { return shape; },
      [](const load::Sample& sample) { return picture_of(sample); }, FeedLimits{3, 100'000, 2});
};

TEST_F(FeedTest, BeginsWithThePictureAndGoesOnWithWhatChanges) {
  feed->publish(fabric.sample(0.5F));
  const auto one = viewer();
  one->ask();
  EXPECT_TRUE(one->asking()) << "answered from within";
  run();
  EXPECT_THAT(one->kinds, testing::ElementsAre("whole"));
  EXPECT_THAT(one->utilization, testing::Each(500));
  one->ask();
  run();
  EXPECT_TRUE(one->asking()) << "there is nothing to send yet";
  feed->publish(fabric.sample(0.6F));
  EXPECT_THAT(one->kinds, testing::ElementsAre("whole", "delta"));
  EXPECT_THAT(one->utilization, testing::Each(600));
  one->ask();
  feed->publish(fabric.sample(0.6F));
  EXPECT_LT(one->sizes.back(), 400U) << "nothing has changed";
}

// What is too much for a frame is left out, and a picture that is sent later is no finer than the frames
// were.
TEST_F(FeedTest, WhoComesLateIsToldHowCoarseThePictureIs) {
  feed = std::make_unique<Feed>([this](std::function<void()> then) { waiting.push_back(std::move(then)); },
                                [this](const std::shared_ptr<const load::Sample>&) { return shape; },
                                [](const load::Sample& sample) { return picture_of(sample); },
                                FeedLimits{3, 20, 2});
  const auto one = viewer();
  one->ask();
  feed->publish(fabric.sample(0.5F));
  run();
  EXPECT_EQ(one->least, 1);
  one->ask();
  auto sample = fabric.sample(0.5F);
  for (std::size_t i = 0; i < sample->ports.size(); ++i)
    sample->ports[i].utilization = 0.5F + static_cast<float>(i) / 100;
  feed->publish(sample);
  run();
  ASSERT_EQ(one->kinds.back(), "delta");
  EXPECT_GT(one->least, 1);
  const auto late = viewer();
  late->ask();
  run();
  EXPECT_EQ(late->kinds.back(), "whole");
  EXPECT_EQ(late->utilization, one->utilization);
  EXPECT_EQ(late->least, one->least);
}

TEST_F(FeedTest, AllViewersShareOneText) {
  feed->publish(fabric.sample(0.5F));
  const auto one = viewer();
  const auto two = viewer();
  for (const auto* each : {&one, &two}) (*each)->ask();
  run();
  for (const auto* each : {&one, &two}) (*each)->ask();
  feed->publish(fabric.sample(0.7F));
  EXPECT_EQ(one->texts, two->texts);
  EXPECT_EQ(one->utilization, two->utilization);
}

TEST_F(FeedTest, OneWhoLagsMissesFramesAndIsSentThePicture) {
  feed->publish(fabric.sample(0.5F));
  const auto slow = viewer();
  slow->ask();
  run();
  for (const float load : {0.1F, 0.2F}) feed->publish(fabric.sample(load));
  slow->ask();
  run();
  slow->ask();
  run();
  EXPECT_THAT(slow->kinds, testing::ElementsAre("whole", "delta", "delta"));
  EXPECT_THAT(slow->utilization, testing::Each(200));
  for (const float load : {0.1F, 0.2F, 0.3F, 0.4F}) feed->publish(fabric.sample(load));
  slow->ask();
  run();
  EXPECT_EQ(slow->kinds.back(), "whole");
  EXPECT_THAT(slow->utilization, testing::Each(400));
}

TEST_F(FeedTest, AnotherFabricBeginsWithItsPicture) {
  feed->publish(fabric.sample(0.5F));
  const auto one = viewer();
  one->ask();
  run();
  one->ask();
  shape = "b";
  feed->publish(fabric.sample(0.5F));
  EXPECT_THAT(one->kinds, testing::ElementsAre("whole", "whole"));
}

TEST_F(FeedTest, TakesNoMoreViewersThanItsLimitAndForgetsThoseWhoLeft) {
  feed->publish(fabric.sample(0.5F));
  std::vector<std::unique_ptr<Viewer>> viewers;
  for (int i = 0; i < 3; ++i) viewers.push_back(viewer());
  const auto fourth = feed->subscribe();
  ASSERT_FALSE(fourth);
  EXPECT_EQ(fourth.error().code, ErrorCode::Unreachable);
  viewers.pop_back();
  EXPECT_EQ(feed->viewers(), 2U);
  EXPECT_TRUE(feed->subscribe());
}

TEST_F(FeedTest, DropsWhoWaitsWhenItEnds) {
  feed->publish(fabric.sample(0.5F));
  auto pieces = feed->subscribe();
  ASSERT_TRUE(pieces);
  auto connection = std::make_shared<int>(0);
  const std::weak_ptr<int> alive = connection;
  (*pieces)([held = std::move(connection)](const control::Piece&) {});
  EXPECT_FALSE(alive.expired());
  feed.reset();
  EXPECT_TRUE(alive.expired());
  run();
  bool called = false;
  (*pieces)([&](const control::Piece&) { called = true; });
  EXPECT_FALSE(called);
}

}  // namespace
}  // namespace heddle::web
