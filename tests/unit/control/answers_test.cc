#include "control/answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <zlib.h>

#include <system_error>
#include <thread>

#include "support/still_answers.h"

namespace heddle::control {
namespace {

using testing::HasSubstr;

std::string unpacked(std::string packed) {
  std::string text(1U << 24U, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) return {};
  stream.next_in = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

/// Jobs run when the test says so.
class AnswersTest : public testing::Test {
 protected:
  static constexpr AnswerLimits limits{.waiting = 2, .waiting_for_changers = 4, .least_bytes = 0};

  /// Asks for a text of so many bytes.
  void ask(const std::string& path, std::size_t bytes = 10, Access access = Access::Read,
           Encoding encoding = Encoding::Plain) {
    Answers::Order order;
    order.encoding = encoding;
    order.key = path;
    order.lane = path.starts_with("/metrics") ? Lane::Metrics : Lane::Views;
    order.access = access;
    order.make = [this, path, bytes](BodyWriter& out) -> Result<void> {
      made.push_back(path);
      if (bytes == 0) return fail(ErrorCode::NotFound, "nothing here");
      out.write(std::string(bytes, 'x'));
      return {};
    };
    serve(std::move(order));
  }
  void serve(Answers::Order order) {
    got.emplace_back();
    const std::size_t place = got.size() - 1;
    answers.serve(std::move(order), [this, place](Response response) { got[place] = std::move(response); });
  }
  /// For the number of the latest sample, as a scraper does.
  void scrape(Encoding encoding = Encoding::Gzip) {
    const auto make = [this]() -> Answers::Make {
      return [this, number = samples](BodyWriter& out) -> Result<void> {
        made.push_back("/metrics");
        out.write(std::to_string(number));
        return {};
      };
    };
    serve({.key = "/metrics",
           .encoding = encoding,
           .lane = Lane::Metrics,
           .make = make(),
           .peer = "scraper",
           .again = make});
  }
  /// Samples follow each other once a second; what is to be made is made at once.
  void pass(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      now += std::chrono::seconds{1};
      ++samples;
      answers.sampled();
      run_all();
    }
  }
  void run_one() {
    ASSERT_FALSE(jobs.empty());
    auto job = std::move(jobs.front());
    jobs.pop_front();
    job();
  }
  void run_all() {
    while (!jobs.empty()) run_one();
  }

  std::deque<std::function<void()>> jobs;
  std::vector<std::string> made;
  std::deque<Response> got;
  int samples = 0;
  std::chrono::steady_clock::time_point now{};
  Answers answers{[this](Lane, std::function<void()> job) { jobs.push_back(std::move(job)); }, back_at_once(),
                  [this] { return now; }, limits};
};

TEST_F(AnswersTest, AllWhoAskForOneSampleShareOneBody) {
  ask("/links");
  ask("/links");
  EXPECT_EQ(jobs.size(), 1U);
  run_all();
  ask("/links");
  EXPECT_EQ(made.size(), 1U);
  EXPECT_EQ(got[0].shared, got[1].shared);
  EXPECT_EQ(got[0].shared, got[2].shared);
  EXPECT_EQ(body_of(got[0]), std::string(10, 'x'));
  answers.outdate();
  ask("/links");
  run_all();
  EXPECT_EQ(made.size(), 2U);
}

TEST_F(AnswersTest, WhatNobodyTakesTakesNoMemoryAfterItsSample) {
  ask("/links", 1000);
  run_all();
  EXPECT_EQ(answers.bytes(), 1000U);
  got.clear();
  answers.outdate();
  EXPECT_EQ(answers.bytes(), 0U);
}

TEST_F(AnswersTest, TooManyReadersAreToldToAskAgain) {
  for (const char* path : {"/a", "/b", "/c", "/d"}) ask(path);
  EXPECT_EQ(got[2].status, 200U);  // one is being made, and two wait
  EXPECT_EQ(got[3].status, 503U);
  EXPECT_THAT(got[3].headers, testing::Contains(testing::Pair("Retry-After", "1")));
  run_all();
  EXPECT_THAT(made, testing::ElementsAre("/a", "/b", "/c"));
}

TEST_F(AnswersTest, WhoMayChangeThingsGoesFirst) {
  for (const char* path : {"/a", "/b", "/c"}) ask(path);
  ask("/status", 10, Access::Change);
  ask("/metrics");
  run_all();
  EXPECT_THAT(made, testing::ElementsAre("/a", "/metrics", "/status", "/b", "/c"));
}

TEST_F(AnswersTest, AReaderTakesWhatIsBeingMadeAnOperatorWhatIsTrue) {
  ask("/links");
  answers.outdate();
  ask("/links");
  ask("/links", 20, Access::Change);
  run_all();
  EXPECT_EQ(got[0].shared, got[1].shared);
  EXPECT_EQ(got[2].shared->bytes(), 20U);
}

// Clients that take nothing hold old answers: newcomers get what there is, and after a while the old ones go.
TEST_F(AnswersTest, SlowReadersHoldAtMostTwiceTheLargest) {
  for (int sample = 0; sample < 2; ++sample) {
    ask("/metrics", 1000);
    run_all();
    answers.outdate();
  }
  EXPECT_EQ(answers.bytes(), 2000U);
  ask("/metrics", 1000);
  EXPECT_TRUE(jobs.empty());
  EXPECT_EQ(got[2].shared, got[1].shared);
  now += limits.grace;
  ask("/metrics", 1000);
  run_all();
  EXPECT_EQ(answers.bytes(), 2000U);
  EXPECT_EQ(got[0].shared->slice(0), nullptr);
  EXPECT_NE(got[3].shared, got[1].shared);
}

TEST_F(AnswersTest, AScraperGoesBeforeWhoeverIsSlow) {
  for (int sample = 0; sample < 2; ++sample) {
    ask("/metrics", 1000);
    run_all();
    answers.outdate();
  }
  ask("/metrics?other", 1000);
  run_all();
  EXPECT_EQ(got[2].shared->bytes(), 1000U);
  EXPECT_EQ(answers.bytes(), 2000U);
}

TEST_F(AnswersTest, OtherAnswersLeaveRoomForMetrics) {
  ask("/metrics", 1000);
  run_all();
  got.clear();
  answers.outdate();
  for (int i = 0; i < 10; ++i) {
    ask("/links?" + std::to_string(i), 400);
    run_all();
  }
  EXPECT_EQ(got.back().status, 503U);
  EXPECT_LE(answers.bytes(), 800U);
  ask("/metrics", 1000);
  run_all();
  EXPECT_EQ(got.back().shared->bytes(), 1000U);
}

/// Its text was made twice, and a scraper waited for both among clients who ask for the plain one.
TEST_F(AnswersTest, ACompressedAnswerIsMadeOfAPlainOneOfTheSameSample) {
  const auto ask_compressed = [this] { ask("/metrics", 5000, Access::Read, Encoding::Gzip); };
  ask("/metrics", 5000);
  ask_compressed();
  run_all();
  EXPECT_EQ(made.size(), 1U);
  EXPECT_EQ(unpacked(body_of(got[1])), std::string(5000, 'x'));

  answers.outdate();
  ask_compressed();
  run_all();
  EXPECT_EQ(made.size(), 2U) << "the plain one was of another sample";
  EXPECT_EQ(unpacked(body_of(got[2])), std::string(5000, 'x'));
}

/// A scraper among clients who ask for the plain one waited for that, and then for a second text of the next
/// sample.
TEST_F(AnswersTest, ACompressedAnswerIsMadeOfThePlainOneThatWasBeingMadeWhenItWasAskedFor) {
  const auto ask_compressed = [this](Access access) { ask("/metrics", 5000, access, Encoding::Gzip); };
  ask("/metrics", 5000);
  answers.outdate();
  ask_compressed(Access::Read);
  answers.outdate();
  run_all();
  EXPECT_EQ(made.size(), 1U);
  EXPECT_EQ(unpacked(body_of(got[1])), std::string(5000, 'x'));
  got.clear();

  ask("/metrics", 5000);
  answers.outdate();
  ask_compressed(Access::Read);
  ask_compressed(Access::Change);
  run_all();
  EXPECT_EQ(made.size(), 3U) << "who may have changed something sees what is true";
}

TEST_F(AnswersTest, ACompressedAnswerIsMadeAnewWhereThePlainOneIsWithdrawnMeanwhile) {
  ask("/metrics", 5000);
  run_all();
  ask("/metrics", 5000, Access::Read, Encoding::Gzip);
  got[0].shared->withdraw();
  run_all();
  EXPECT_EQ(made.size(), 2U);
  EXPECT_EQ(unpacked(body_of(got[1])), std::string(5000, 'x'));
}

/// It waited as long as a large answer takes, each time, and longer among many others.
TEST_F(AnswersTest, WhatIsAskedForAtASteadyPaceIsReadyBeforeItIsAskedFor) {
  for (int i = 0; i < 3; ++i) {
    pass(15);
    now += std::chrono::milliseconds{300};
    scrape();
    run_all();
    now -= std::chrono::milliseconds{300};
    EXPECT_EQ(made.size(), static_cast<std::size_t>(i) + 1);
  }
  pass(15);
  EXPECT_EQ(made.size(), 4U) << "of one sample only";
  now += std::chrono::milliseconds{301};
  scrape();
  EXPECT_TRUE(jobs.empty());
  EXPECT_EQ(unpacked(body_of(got[3])), "60");
  EXPECT_EQ(made.size(), 4U);
}

TEST_F(AnswersTest, WhatTakesLongIsBegunASampleEarlierAndGoodForOneMore) {
  pass(15);
  now += std::chrono::milliseconds{100};
  scrape();
  now += std::chrono::milliseconds{400};
  run_all();
  now -= std::chrono::milliseconds{500};
  pass(14);
  EXPECT_EQ(made.size(), 2U) << "it will be asked for 0.1 s after the next sample, and takes 0.4 s";
  pass(1);
  now += std::chrono::milliseconds{100};
  scrape();
  EXPECT_TRUE(jobs.empty());
  EXPECT_EQ(unpacked(body_of(got[1])), "29");
  // Later in that sample it is too old.
  now += std::chrono::milliseconds{800};
  scrape();
  run_all();
  EXPECT_EQ(unpacked(body_of(got[2])), "30");
}

TEST_F(AnswersTest, NothingIsMadeBeforeForWhoeverDoesNotCompressOrHasNoPace) {
  for (int i = 0; i < 4; ++i) {
    pass(15);
    scrape(Encoding::Plain);
    run_all();
  }
  EXPECT_EQ(made.size(), 4U);
  for (const int gap : {3, 9, 4, 12, 7}) {
    pass(gap);
    scrape();
    run_all();
  }
  pass(30);
  EXPECT_EQ(made.size(), 9U);
}

TEST_F(AnswersTest, AScrapersSecondTimeIsAwaited) {
  pass(15);
  scrape();
  run_all();
  pass(15);
  EXPECT_EQ(made.size(), 2U);
  scrape();
  EXPECT_TRUE(jobs.empty());
  pass(60);
  EXPECT_EQ(made.size(), 3U) << "one in vain";
}

TEST_F(AnswersTest, WhoStopsAskingCostsOneAnswer) {
  for (int i = 0; i < 3; ++i) {
    pass(15);
    scrape();
    run_all();
  }
  pass(100);
  EXPECT_EQ(made.size(), 4U);
  got.clear();
  EXPECT_EQ(answers.bytes(), 0U) << "nor does it take memory";
}

TEST_F(AnswersTest, AFailureIsToldToAllAndNotKept) {
  ask("/a", 0);
  ask("/a", 0);
  run_all();
  EXPECT_EQ(got[0].status, 404U);
  EXPECT_EQ(got[1].status, 404U);
  ask("/a");
  run_all();
  EXPECT_EQ(got[2].status, 200U);
}

TEST(BodyWriter, CutsIntoSlicesOfOneSize) {
  BodyWriter writer;
  const std::string text(slice_bytes * 2 + 5, 'y');
  writer.write(text.substr(0, 100));
  writer.write(text.substr(100));
  const auto ledger = std::make_shared<BodyLedger>(0);
  auto body = writer.finish(ledger);
  ASSERT_EQ(body->slices(), 3U);
  EXPECT_EQ(body->slice(0)->size(), slice_bytes);
  EXPECT_EQ(body->slice(2)->size(), 5U);
  EXPECT_EQ(*ledger, text.size());
  body = nullptr;
  EXPECT_EQ(*ledger, 0U);
}

// Sanitizers look into stacks, and cannot be told that there is no room for one.
#ifndef HEDDLE_SANITIZED
TEST(BodyWriter, CompressesAllTheSameWhereNoThreadCanBeHad) {
  pthread_attr_t before;
  pthread_attr_t none;
  ASSERT_EQ(pthread_getattr_default_np(&before), 0);
  ASSERT_EQ(pthread_attr_init(&none), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&none, std::size_t{1} << 47U), 0);
  ASSERT_EQ(pthread_setattr_default_np(&none), 0);
  std::string text;
  for (int i = 0; text.size() < 3 * slice_bytes; ++i) text += "heddle_port " + std::to_string(i) + "\n";
  BodyWriter writer{Encoding::Gzip};
  EXPECT_THROW(std::thread{[] {}}.join(), std::system_error);
  writer.write(text);
  const auto body = writer.finish(std::make_shared<BodyLedger>(0));
  ASSERT_EQ(pthread_setattr_default_np(&before), 0);
  std::string packed;
  for (std::size_t i = 0; i < body->slices(); ++i) packed += *body->slice(i);
  EXPECT_EQ(unpacked(packed), text);
}
#endif

TEST(BodyWriter, CompressesAsGzipDoes) {
  BodyWriter writer{Encoding::Gzip};
  std::string text;
  for (int i = 0; i < 900000; ++i) text += "line " + std::to_string(i) + '\n';  // more slices than may wait
  for (std::size_t at = 0; at < text.size(); at += 1000)
    writer.write(std::string_view{text}.substr(at, 1000));
  const auto body = writer.finish(std::make_shared<BodyLedger>(0));
  std::string packed;
  for (std::size_t i = 0; i < body->slices(); ++i) packed += *body->slice(i);
  EXPECT_LT(packed.size(), text.size() / 3);
  EXPECT_EQ(unpacked(packed), text);
}

TEST(BodyWriter, WhatIsCompressedMayBeLeftUnfinished) {
  BodyWriter writer{Encoding::Gzip};
  for (int i = 0; i < 200; ++i) writer.write(std::string(slice_bytes, 'x'));
}

TEST(BodyWriter, ABodyThatIsWithdrawnCannotBeCompressed) {
  const auto ledger = std::make_shared<BodyLedger>(0);
  BodyWriter plain;
  plain.write(std::string(3 * slice_bytes, 'x'));
  const auto body = plain.finish(ledger);
  BodyWriter whole{Encoding::Gzip};
  EXPECT_TRUE(whole.write(*body));
  EXPECT_LT(whole.finish(ledger)->bytes(), slice_bytes);
  body->withdraw();
  BodyWriter writer{Encoding::Gzip};
  EXPECT_FALSE(writer.write(*body));
}

}  // namespace
}  // namespace heddle::control
