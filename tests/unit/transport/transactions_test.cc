#include "transport/transactions.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <set>

#include "support/scripted_transport.h"
#include "transport/requests.h"

namespace heddle::transport {
namespace {

using namespace std::chrono_literals;

Instant at(FabricClock::duration since_start) { return Instant{since_start}; }

mad::Packet get(std::uint32_t modifier = 0) {
  return lid_smp({.attribute = mad::SmAttr::PortInfo, .modifier = modifier}, Lid{7});
}

struct Seen {
  Outcome outcome;
  std::uint16_t status;
  std::uint64_t context;
  bool with_answer;
};

class Client : public TransactionClient {
 public:
  void on_completion(const Completion& completion) override {
    seen.push_back({completion.outcome, completion.status, completion.context, completion.answer != nullptr});
    if (then) then(completion);
  }
  bool still_wants(std::uint64_t context) override { return !unwanted.contains(context); }
  std::vector<Seen> seen;
  std::function<void(const Completion&)> then;
  std::set<std::uint64_t> unwanted;
};

class TransactionsTest : public testing::Test {
 protected:
  void submit(std::uint64_t agent, std::uint64_t context, Instant now, Patience patience = Patience::Normal,
              OnSilence on_silence = OnSilence::FailFast) {
    const mad::Packet packet = get(static_cast<std::uint32_t>(context));
    ASSERT_TRUE(engine.submit({packet, AgentKey{agent}, patience, on_silence}, client, context, now));
  }
  /// Runs the timers up to `end`; returns when the last one was.
  Instant run_until(Instant end) {
    Instant now{};
    while (const auto deadline = engine.next_deadline()) {
      if (*deadline > end) break;
      now = *deadline;
      engine.on_timer(now);
    }
    return now;
  }
  /// An answered request, so that the engine knows what round trips take.
  void warm_up(std::uint64_t agent = 99) {
    submit(agent, 1000, at(0us));
    engine.on_packet(transport.answer_to(transport.sent.size() - 1), at(10us));
    client.seen.clear();
    transport.sent.clear();
  }

  test::ScriptedTransport transport;
  TransactionEngine engine{transport,
                           {.window = 8, .least_window = 2, .per_agent = 2, .timeout = 64ms, .attempts = 3}};
  Client client;
};

TEST_F(TransactionsTest, AnswerCompletesWithItsContext) {
  submit(1, 42, at(0us));
  ASSERT_EQ(transport.sent.size(), 1U);
  engine.on_packet(transport.answer_to(0), at(5us));
  ASSERT_EQ(client.seen.size(), 1U);
  EXPECT_EQ(client.seen[0].outcome, Outcome::Answered);
  EXPECT_EQ(client.seen[0].context, 42U);
  EXPECT_TRUE(client.seen[0].with_answer);
  EXPECT_EQ(engine.pending(), 0U);
  EXPECT_FALSE(engine.next_deadline());
  EXPECT_EQ(engine.statistics().answered, 1U);
  EXPECT_EQ(engine.statistics().latency[3], 1U);  // 5 us: below 8, not below 4
}

// Two to an agent: the third waits, and its client has thought better of it when its turn comes.
TEST_F(TransactionsTest, WhatIsNotWantedAnyMoreWhenItsTurnComesIsNotSent) {
  for (std::uint64_t context = 1; context <= 4; ++context) submit(1, context, at(0us));
  ASSERT_EQ(transport.sent.size(), 2U);
  client.unwanted = {1, 3};
  engine.on_packet(transport.answer_to(0), at(5us));
  run_until(at(10us));
  ASSERT_EQ(transport.sent.size(), 3U);
  EXPECT_EQ(mad::read_header(transport.sent[2].mad).modifier, 4U);
  ASSERT_EQ(client.seen.size(), 2U);
  EXPECT_EQ(client.seen[0].outcome, Outcome::Answered);
  EXPECT_EQ(client.seen[1].outcome, Outcome::NotSent);
  EXPECT_EQ(client.seen[1].context, 3U);
  EXPECT_EQ(engine.statistics().send_errors, 0U);
  engine.on_packet(transport.answer_to(1), at(15us));
  engine.on_packet(transport.answer_to(2), at(16us));
  EXPECT_EQ(engine.pending(), 0U);
}

TEST_F(TransactionsTest, StatusOtherThanZeroIsRefused) {
  submit(1, 1, at(0us));
  mad::Packet answer = transport.answer_to(0);
  mad::Header header = mad::read_header(answer.mad);
  header.status = mad::status::bad_field;
  mad::write_header(header, answer.mad);
  engine.on_packet(answer, at(5us));
  ASSERT_EQ(client.seen.size(), 1U);
  EXPECT_EQ(client.seen[0].outcome, Outcome::Refused);
  EXPECT_EQ(client.seen[0].status, mad::status::bad_field);
}

TEST_F(TransactionsTest, LostMadsAreSentAgainWithLongerWaits) {
  warm_up();
  submit(1, 1, at(1ms));
  const auto first = *engine.next_deadline() - at(1ms);
  run_until(at(1ms) + first);
  ASSERT_EQ(transport.sent.size(), 2U);
  const auto second = *engine.next_deadline() - (at(1ms) + first);
  EXPECT_GT(second, first);
  run_until(at(1s));
  EXPECT_EQ(transport.sent.size(), 3U);
  ASSERT_EQ(client.seen.size(), 1U);
  EXPECT_EQ(client.seen[0].outcome, Outcome::TimedOut);
  EXPECT_EQ(engine.statistics().timeouts, 3U);
  EXPECT_EQ(engine.statistics().retries, 2U);
}

// Whoever makes routes for 200 ms sends their tables by the clock of before.
TEST_F(TransactionsTest, WhatLeftLaterThanTheClockSaidWaitsForItsAnswerFromThereOn) {
  warm_up();
  submit(1, 1, at(1ms));
  const auto patience = *engine.next_deadline() - at(1ms);
  ASSERT_LT(patience, 200ms);
  engine.sent_by(at(1ms), at(201ms));
  EXPECT_EQ(engine.next_deadline(), at(201ms) + patience);
  engine.on_timer(at(201ms));
  EXPECT_EQ(transport.sent.size(), 1U);
  submit(2, 2, at(201ms));
  // The first was answered while nobody looked at the clock, the other one in 10 us.
  engine.on_packet(transport.answer_to(0), at(100ms), at(202ms));
  engine.on_packet(transport.answer_to(1), at(201ms + 10us), at(202ms));
  EXPECT_EQ(client.seen.size(), 2U);
  submit(1, 3, at(300ms));
  EXPECT_LE(*engine.next_deadline() - at(300ms), patience);
  // What was sent before, or later, is left alone.
  const auto deadline = engine.next_deadline();
  engine.sent_by(at(299ms), at(500ms));
  EXPECT_EQ(engine.next_deadline(), deadline);
}

TEST_F(TransactionsTest, BriskRequestsFailSooner) {
  warm_up();
  submit(1, 1, at(1ms), Patience::Brisk);
  EXPECT_LT(run_until(at(1s)), at(10ms));
  EXPECT_EQ(transport.sent.size(), 3U);
  submit(2, 2, at(1s));
  EXPECT_GT(run_until(at(2s)), at(1s + 64ms));
  EXPECT_EQ(client.seen.size(), 2U);
}

TEST_F(TransactionsTest, LateAnswerToAnEarlierAttemptCounts) {
  warm_up();
  submit(1, 1, at(1ms));
  run_until(at(10ms));
  ASSERT_GE(transport.sent.size(), 2U);
  engine.on_packet(transport.answer_to(0), at(10ms));
  ASSERT_EQ(client.seen.size(), 1U);
  EXPECT_EQ(client.seen[0].outcome, Outcome::Answered);
  engine.on_packet(transport.answer_to(1), at(11ms));  // and the second one is too late for anybody
  EXPECT_EQ(client.seen.size(), 1U);
  EXPECT_EQ(engine.statistics().unmatched, 1U);
}

TEST_F(TransactionsTest, DuplicateAndForeignAnswersMatchNothing) {
  submit(1, 1, at(0us));
  const mad::Packet answer = transport.answer_to(0);
  engine.on_packet(answer, at(5us));
  engine.on_packet(answer, at(6us));
  submit(1, 2, at(7us));  // takes the same slot
  engine.on_packet(answer, at(8us));
  EXPECT_EQ(client.seen.size(), 1U);
  EXPECT_EQ(engine.statistics().unmatched, 2U);
  mad::Packet foreign = transport.answer_to(1);
  for (int i = 12; i < 16; ++i) foreign.mad[static_cast<std::size_t>(i)] = 0xff;
  engine.on_packet(foreign, at(9us));
  EXPECT_EQ(client.seen.size(), 1U);
}

TEST_F(TransactionsTest, OnlyTheLowHalfOfTheTidMatters) {
  submit(1, 1, at(0us));
  mad::Packet answer = transport.answer_to(0);
  for (std::size_t i = 8; i < 12; ++i) answer.mad[i] = 0xab;
  engine.on_packet(answer, at(5us));
  EXPECT_EQ(client.seen.size(), 1U);
}

TEST_F(TransactionsTest, WrongAttributeIsReportedAndDoesNotComplete) {
  submit(1, 1, at(0us));
  mad::Packet wrong = transport.answer_to(0);
  mad::Header header = mad::read_header(wrong.mad);
  header.attribute = static_cast<std::uint16_t>(mad::SmAttr::NodeInfo);
  mad::write_header(header, wrong.mad);
  engine.on_packet(wrong, at(5us));
  EXPECT_TRUE(client.seen.empty());
  EXPECT_EQ(engine.statistics().wrong, 1U);
  run_until(at(10s));
  ASSERT_EQ(client.seen.size(), 1U);
  EXPECT_EQ(client.seen[0].outcome, Outcome::WrongAnswer);
  EXPECT_FALSE(engine.is_silent(AgentKey{1}, at(100ms)));  // it does answer
}

TEST_F(TransactionsTest, RightAnswerAfterAWrongOneCompletes) {
  submit(1, 1, at(0us));
  mad::Packet wrong = transport.answer_to(0);
  wrong.mad[23] ^= 1;  // modifier
  engine.on_packet(wrong, at(5us));
  engine.on_packet(transport.answer_to(0), at(6us));
  ASSERT_EQ(client.seen.size(), 1U);
  EXPECT_EQ(client.seen[0].outcome, Outcome::Answered);
}

TEST_F(TransactionsTest, BusyIsAskedAgainAfterAPause) {
  submit(1, 1, at(0us));
  mad::Packet busy = transport.answer_to(0);
  mad::Header header = mad::read_header(busy.mad);
  header.status = mad::status::busy;
  mad::write_header(header, busy.mad);
  engine.on_packet(busy, at(5us));
  EXPECT_TRUE(client.seen.empty());
  EXPECT_EQ(transport.sent.size(), 1U);
  run_until(at(5ms));
  ASSERT_EQ(transport.sent.size(), 2U);
  engine.on_packet(transport.answer_to(1), at(6ms));
  ASSERT_EQ(client.seen.size(), 1U);
  EXPECT_EQ(client.seen[0].outcome, Outcome::Answered);
  EXPECT_EQ(engine.statistics().busy, 1U);
}

TEST_F(TransactionsTest, BusyForEverIsRefusedInTheEnd) {
  submit(1, 1, at(0us));
  Instant now = at(0us);
  for (std::size_t i = 0; client.seen.empty() && i < 100; ++i) {
    mad::Packet busy = transport.answer_to(transport.sent.size() - 1);
    mad::Header header = mad::read_header(busy.mad);
    header.status = mad::status::busy;
    mad::write_header(header, busy.mad);
    engine.on_packet(busy, now + 5us);
    now += 5us;
    if (engine.next_deadline()) engine.on_timer(now = *engine.next_deadline());
  }
  ASSERT_EQ(client.seen.size(), 1U);
  EXPECT_EQ(client.seen[0].outcome, Outcome::Refused);
  EXPECT_EQ(client.seen[0].status, mad::status::busy);
}

TEST_F(TransactionsTest, WindowAndCapHold) {
  for (std::uint64_t i = 0; i < 40; ++i) submit(1 + i % 10, i, at(0us));
  EXPECT_EQ(transport.sent.size(), 8U);
  EXPECT_EQ(engine.queued(), 32U);
  for (std::size_t i = 0; i < 40; ++i) {
    ASSERT_LT(i, transport.sent.size());
    engine.on_packet(transport.answer_to(i), at(10us * (i + 1)));
    EXPECT_LE(transport.sent.size() - client.seen.size(), 8U);
  }
  EXPECT_EQ(client.seen.size(), 40U);
}

TEST_F(TransactionsTest, OneAgentsQueueDoesNotHoldUpOthers) {
  for (std::uint64_t i = 0; i < 6; ++i) submit(1, i, at(0us));
  EXPECT_EQ(transport.sent.size(), 2U);  // per_agent
  submit(2, 100, at(0us));
  ASSERT_EQ(transport.sent.size(), 3U);
  engine.on_packet(transport.answer_to(2), at(1us));
  EXPECT_EQ(client.seen.at(0).context, 100U);
}

TEST_F(TransactionsTest, RequestsToOneAgentGoOutInOrder) {
  for (std::uint64_t i = 0; i < 20; ++i) submit(1, i, at(0us));
  for (std::size_t i = 0; i < 20; ++i) engine.on_packet(transport.answer_to(i), at(1us * i));
  for (std::uint64_t i = 0; i < 20; ++i) EXPECT_EQ(client.seen.at(i).context, i);
}

TEST_F(TransactionsTest, DeadAgentsLeaveTheWindowToOthers) {
  warm_up();
  for (std::uint64_t i = 0; i < 8; ++i) submit(i + 1, i, at(1ms));
  submit(20, 100, at(1ms));
  EXPECT_EQ(transport.sent.size(), 8U);
  engine.on_timer(*engine.next_deadline());
  // First attempts timed out: their retries do not count against the window.
  const auto tid_of_last = mad::read_header(transport.sent.back().mad);
  EXPECT_EQ(tid_of_last.modifier, 100U);
}

TEST_F(TransactionsTest, SilentAgentFailsWhatWaitsForIt) {
  warm_up();
  for (std::uint64_t i = 0; i < 10; ++i) submit(1, i, at(1ms));
  run_until(at(1s));
  ASSERT_EQ(client.seen.size(), 10U);
  EXPECT_EQ(client.seen.front().outcome, Outcome::TimedOut);
  EXPECT_EQ(client.seen.back().outcome, Outcome::AgentSilent);
  EXPECT_TRUE(engine.is_silent(AgentKey{1}, at(1s)));
  const auto sent = transport.sent.size();
  EXPECT_EQ(sent, 6U);  // two at a time, three attempts
  submit(1, 50, at(1s));
  EXPECT_EQ(transport.sent.size(), sent);
  EXPECT_EQ(client.seen.size(), 10U);  // never from within submit
  engine.on_timer(at(1s));
  ASSERT_EQ(client.seen.size(), 11U);
  EXPECT_EQ(client.seen.back().outcome, Outcome::AgentSilent);
}

TEST_F(TransactionsTest, ProbationEndsWithAnAnswer) {
  warm_up();
  submit(1, 1, at(1ms));
  run_until(at(1s));
  ASSERT_TRUE(engine.is_silent(AgentKey{1}, at(1s)));
  submit(1, 2, at(1s), Patience::Normal, OnSilence::Ask);
  engine.on_packet(transport.answer_to(transport.sent.size() - 1), at(1s + 5us));
  EXPECT_EQ(client.seen.back().outcome, Outcome::Answered);
  EXPECT_FALSE(engine.is_silent(AgentKey{1}, at(1s + 6us)));
}

TEST_F(TransactionsTest, AfterProbationOneRequestAsks) {
  warm_up();
  submit(1, 1, at(1ms));
  run_until(at(1s));
  const auto sent = transport.sent.size();
  for (std::uint64_t i = 0; i < 5; ++i) submit(1, 10 + i, at(10s));
  EXPECT_EQ(transport.sent.size(), sent + 1);
  run_until(at(11s));
  EXPECT_EQ(transport.sent.size(), sent + 2);
  EXPECT_EQ(client.seen.size(), 6U);
  EXPECT_EQ(engine.statistics().failed_fast, 4U);
}

TEST_F(TransactionsTest, IgnoredAttributeDoesNotMakeAnAgentSilent) {
  warm_up();
  submit(1, 1, at(1ms));  // never answered
  Instant now = at(1ms);
  while (client.seen.empty() || client.seen.back().context != 1) {
    submit(1, 2, now);
    engine.on_packet(transport.answer_to(transport.sent.size() - 1), now + 5us);
    now += 1ms;
    run_until(now);
    ASSERT_LT(now, at(1s));
  }
  EXPECT_EQ(client.seen.back().outcome, Outcome::TimedOut);
  EXPECT_FALSE(engine.is_silent(AgentKey{1}, now));
}

TEST_F(TransactionsTest, DeviceThatTakesNoMoreIsTriedAgain) {
  transport.failures.push_back(Error{ErrorCode::Io, "queue full"});
  submit(1, 1, at(0us));
  submit(2, 2, at(0us));
  EXPECT_TRUE(transport.sent.empty());
  EXPECT_TRUE(client.seen.empty());
  run_until(at(64ms));
  ASSERT_EQ(transport.sent.size(), 2U);
  engine.on_packet(transport.answer_to(0), at(64ms));
  engine.on_packet(transport.answer_to(1), at(64ms));
  EXPECT_EQ(client.seen.size(), 2U);
  EXPECT_EQ(engine.statistics().send_errors, 1U);
}

TEST_F(TransactionsTest, RefusedByTheTransportFailsOutsideSubmit) {
  transport.failures.push_back(Error{ErrorCode::Refused, "read-only"});
  submit(1, 1, at(0us));
  EXPECT_TRUE(client.seen.empty());
  engine.on_timer(*engine.next_deadline());
  ASSERT_EQ(client.seen.size(), 1U);
  EXPECT_EQ(client.seen[0].outcome, Outcome::NotSent);
  submit(1, 2, at(1ms));
  EXPECT_EQ(transport.sent.size(), 1U);
}

// A device that is gone: whichever call of send() is the first to fail, everything completes once.
TEST(Transactions, FailureAtEveryStepCompletesEverythingOnce) {
  for (std::size_t step = 0; step < 12; ++step) {
    for (const ErrorCode code : {ErrorCode::Io, ErrorCode::Refused}) {
      test::ScriptedTransport transport;
      TransactionEngine engine{transport, {.window = 3, .per_agent = 2, .timeout = 10ms, .attempts = 2}};
      Client client;
      for (std::size_t i = 0; i < step; ++i) transport.failures.push_back(std::nullopt);
      for (std::size_t i = 0; i < 1000; ++i) transport.failures.push_back(Error{code, "gone"});
      const mad::Packet packet = get();
      for (std::uint64_t i = 0; i < 8; ++i) {
        ASSERT_TRUE(engine.submit({packet, AgentKey{i % 3}}, client, i, at(0us)));
      }
      for (int i = 0; i < 1000 && engine.pending() > 0; ++i) engine.on_timer(*engine.next_deadline());
      std::map<std::uint64_t, int> times;
      for (const auto& seen : client.seen) ++times[seen.context];
      EXPECT_EQ(client.seen.size(), 8U) << "step " << step;
      EXPECT_EQ(times.size(), 8U);
      EXPECT_FALSE(engine.next_deadline());
    }
  }
}

TEST_F(TransactionsTest, StopCompletesEverythingAndTakesNothingMore) {
  for (std::uint64_t i = 0; i < 20; ++i) submit(1 + i % 5, i, at(0us));
  engine.stop(at(1us));
  EXPECT_EQ(client.seen.size(), 20U);
  for (const auto& seen : client.seen) EXPECT_EQ(seen.outcome, Outcome::Stopped);
  EXPECT_EQ(engine.pending(), 0U);
  EXPECT_FALSE(engine.next_deadline());
  engine.on_packet(transport.answer_to(0), at(2us));
  EXPECT_EQ(client.seen.size(), 20U);
  const mad::Packet packet = get();
  EXPECT_FALSE(engine.submit({packet, AgentKey{1}}, client, 1, at(3us)));
  engine.stop(at(4us));
}

TEST_F(TransactionsTest, StopFromWithinACompletion) {
  for (std::uint64_t i = 0; i < 20; ++i) submit(1 + i % 5, i, at(0us));
  client.then = [&](const Completion& completion) {
    if (completion.outcome == Outcome::Answered) engine.stop(at(5us));
  };
  engine.on_packet(transport.answer_to(3), at(5us));
  EXPECT_EQ(client.seen.size(), 20U);
  EXPECT_EQ(engine.pending(), 0U);
}

TEST_F(TransactionsTest, CompletionMaySubmitAgain) {
  client.then = [&](const Completion& completion) {
    if (completion.context < 50) submit(1, completion.context + 1, completion.at);
  };
  submit(1, 0, at(0us));
  for (std::size_t i = 0; i <= 50; ++i) engine.on_packet(transport.answer_to(i), at(1us * (i + 1)));
  EXPECT_EQ(client.seen.size(), 51U);
}

TEST_F(TransactionsTest, UnsolicitedMadsGoToTheirHandler) {
  std::vector<mad::Header> seen;
  engine.unsolicited_to(
      [&](const mad::Packet& packet, Instant) { seen.push_back(mad::read_header(packet.mad)); });
  const mad::Packet trap = lid_smp({.method = mad::Method::Trap, .attribute = mad::SmAttr::Notice}, Lid{1});
  engine.on_packet(trap, at(0us));
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].method, mad::Method::Trap);
  EXPECT_EQ(engine.statistics().unsolicited, 1U);
}

TEST_F(TransactionsTest, WakeUpFollowsTheEarliestDeadline) {
  std::vector<Instant> wakes;
  engine.wake_with([&](Instant deadline) { wakes.push_back(deadline); });
  submit(1, 1, at(0us));
  ASSERT_EQ(wakes.size(), 1U);
  EXPECT_EQ(wakes[0], *engine.next_deadline());
  submit(2, 2, at(1us));
  EXPECT_EQ(wakes.size(), 1U);  // later: nothing to say
  engine.on_timer(wakes[0]);
  ASSERT_EQ(wakes.size(), 2U);
  EXPECT_EQ(wakes[1], *engine.next_deadline());
}

TEST_F(TransactionsTest, WindowShrinksWhereLiveAgentsLoseMuchAndGrowsBack) {
  std::size_t answered = 0;
  Instant now = at(0us);
  const auto round = [&](bool lose) {
    for (std::uint64_t agent = 1; agent <= 8; ++agent) submit(agent, 0, now);
    while (client.seen.size() < answered + 8) {
      const auto from = transport.sent.size();
      if (lose) {
        now = *engine.next_deadline();
        engine.on_timer(now);
      }
      for (std::size_t i = lose ? from : from - engine.pending(); i < transport.sent.size(); ++i) {
        engine.on_packet(transport.answer_to(i), now += 5us);
      }
    }
    answered = client.seen.size();
  };
  for (int i = 0; i < 40; ++i) round(true);
  EXPECT_LT(engine.window(), 8U);
  EXPECT_GE(engine.window(), 2U);
  for (int i = 0; i < 200; ++i) round(false);
  EXPECT_EQ(engine.window(), 8U);
}

// Any mixture of answers, losses, duplicates, wrong answers, refusals and time: each request completes once.
TEST(Transactions, WhateverHappensEachRequestCompletesOnce) {
  EXPECT_TRUE(rc::check([] {
    test::ScriptedTransport transport;
    TransactionEngine engine{transport,
                             {.window = 4, .per_agent = 2, .timeout = 5ms, .attempts = 3, .probation = 20ms}};
    Client client;
    std::map<std::uint64_t, int> times;
    client.then = [&](const Completion& completion) { ++times[completion.context]; };
    Instant now = at(0us);
    std::uint64_t submitted = 0;
    std::size_t next_answer = 0;
    const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 8));
    for (const int step : steps) {
      now += 100us;
      switch (step) {
        case 0:
        case 1:
          for (int i = 0; i < 3; ++i) {
            const mad::Packet packet = get();
            RC_ASSERT(engine.submit({packet, AgentKey{submitted % 4}}, client, submitted, now).has_value());
            ++submitted;
          }
          break;
        case 2:
          if (next_answer < transport.sent.size()) {
            engine.on_packet(transport.answer_to(next_answer++), now);
          }
          break;
        case 3:
          ++next_answer;  // lost
          break;
        case 4:
          if (next_answer > 0 && next_answer <= transport.sent.size()) {
            engine.on_packet(transport.answer_to(next_answer - 1), now);
          }
          break;
        case 5:
          if (next_answer < transport.sent.size()) {
            mad::Packet wrong = transport.answer_to(next_answer);
            wrong.mad[17] ^= 3;
            engine.on_packet(wrong, now);
          }
          break;
        case 6:
          transport.failures.push_back(Error{submitted % 2 == 0 ? ErrorCode::Io : ErrorCode::Refused, "x"});
          break;
        default:
          now += 3ms;
          engine.on_timer(now);
      }
    }
    for (int i = 0; i < 10000 && engine.pending() > 0; ++i) engine.on_timer(*engine.next_deadline());
    RC_ASSERT(engine.pending() == 0U);
    RC_ASSERT(times.size() == submitted);
    for (const auto& [context, count] : times) RC_ASSERT(count == 1);
  }));
}

TEST(Requests, DirectedRouteIsWhereIbaPutsIt) {
  const std::array path{PortNum{3}, PortNum{7}};
  const mad::Packet packet = directed_smp({.attribute = mad::SmAttr::NodeInfo}, path);
  EXPECT_EQ(packet.mad[1], 0x81);
  EXPECT_EQ(packet.mad[7], 2);
  EXPECT_EQ(packet.mad[129], 3);
  EXPECT_EQ(packet.mad[130], 7);
  EXPECT_EQ(packet.mad[32], 0xff);
  EXPECT_EQ(packet.address.dlid, permissive_lid);
}

}  // namespace
}  // namespace heddle::transport
