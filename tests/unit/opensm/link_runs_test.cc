#include "authority/link_runs.h"

#include <gtest/gtest.h>

#include <iostream>
#include <string>

namespace heddle::authority {
namespace {

using namespace std::chrono_literals;
using regulate::LinkOrder;
using regulate::LinkTo;
using Window = LinkRunsSeat::Window;

const LinkRef link{{NodeGuid{1}, PortNum{1}}, {NodeGuid{2}, PortNum{1}}};

/// A port, the window, tables, and everything that can happen to them, in the order that a test says.
class RunsWorld final : private LinkRunsSeat {
 public:
  enum class Event : std::uint8_t {
    OrderOn,
    Cancel,  ///< of the off
    TablesWritten,
    TablesFailed,
    WindowOpens,
    WindowShuts,
    PluginGone,
    SetArrives,  ///< at the port
    SetterEnds,
    TimePasses,
  };
  static constexpr std::size_t events = 10;

  RunsWorld() {
    order(LinkTo::Off, off_);
    work();
  }

  [[nodiscard]] bool may(Event event) const {
    switch (event) {
      case Event::OrderOn:
        return !ordered_on_;
      case Event::Cancel:
        return !ordered_on_ && !cancelled_;
      case Event::TablesWritten:
      case Event::TablesFailed:
        return !tables_.empty();
      case Event::WindowOpens:
        return changes_ < 2 && window_ != Window::Open;
      case Event::WindowShuts:
        return changes_ < 2 && window_ != Window::Shut;
      case Event::PluginGone:
        return changes_ < 2 && window_ != Window::Nobody;
      case Event::SetArrives:
        return setter_ != nullptr && !setter_->arrived;
      case Event::SetterEnds:
        return setter_ != nullptr && setter_->arrived;
      case Event::TimePasses:
        return waits_ < 1 || (ordered_on_ && !on_ && setter_ == nullptr);
    }
    return false;
  }

  void happen(Event event) {
    switch (event) {
      case Event::OrderOn:
        ordered_on_ = true;
        order(LinkTo::On, on_);
        break;
      case Event::Cancel:
        cancelled_ = true;
        runs_.call_off(std::vector{link}, now_);
        break;
      case Event::TablesWritten:
        answer_tables({});
        break;
      case Event::TablesFailed:
        answer_tables(fail(ErrorCode::Unreachable, "no"));
        break;
      case Event::WindowOpens:
        change(Window::Open);
        break;
      case Event::WindowShuts:
        change(Window::Shut);
        break;
      case Event::PluginGone:
        change(Window::Nobody);
        break;
      case Event::SetArrives:
        setter_->arrived = true;
        up_ = setter_->order.to == LinkTo::On;
        break;
      case Event::SetterEnds:
        end_setter();
        break;
      case Event::TimePasses:
        ++waits_;
        now_ += LinkRuns::patience;
        runs_.on_timer(now_);
        break;
    }
    work();
  }

  [[nodiscard]] bool is_over() const { return ordered_on_ && on_ && off_; }
  /// Empty, or what is wrong in the end.
  [[nodiscard]] std::string judge() const {
    if (!wrong_.empty()) return wrong_;
    if (on_->failure) return "the on failed: " + on_->failure->message;
    if (!up_) return "the link that was declared needed is down";
    return runs_.closed().empty() ? "" : "no table may lead over a link that is on";
  }

 private:
  class Scripted final : public PortSetter {
   public:
    explicit Scripted(RunsWorld& world) : world_{world} {}
    ~Scripted() override {
      if (world_.setter_ == this) world_.setter_ = nullptr;
    }
    void run(const std::vector<LinkOrder>& orders, Instant, Done answer) override {
      if (world_.setter_ != nullptr) world_.wrong_ = "two runs for one link at the same time";
      world_.setter_ = this;
      order = orders.at(0);
      done = std::move(answer);
      arrived = called_off = false;
    }
    void call_off(std::size_t) override { called_off = true; }
    void on_timer(Instant) override {}
    [[nodiscard]] std::optional<Instant> next_deadline() const override { return std::nullopt; }

    LinkOrder order;
    Done done;
    bool arrived = false;
    bool called_off = false;

   private:
    RunsWorld& world_;
  };

  void order(LinkTo to, std::optional<regulate::LinkOutcome>& answer) {
    runs_.run({{link, link.a, to, {}}}, now_, [this, &answer](const auto& outcomes, Instant) {
      if (answer) wrong_ = "answered twice";
      answer = outcomes.at(0);
    });
  }
  void work() {
    for (auto due = runs_.next_deadline(); due && *due <= now_; due = runs_.next_deadline())
      runs_.on_timer(now_);
  }
  void answer_tables(const Result<void>& result) {
    const auto answer = std::move(tables_.front());
    tables_.pop_front();
    answer(result, now_);
  }
  void change(Window window) {
    ++changes_;
    window_ = window;
    runs_.look_at_window(now_);
  }
  void end_setter() {
    Scripted& setter = *std::exchange(setter_, nullptr);
    std::optional<Error> failure;
    if (setter.called_off) failure = Error{ErrorCode::Conflict, "called off"};
    std::exchange(setter.done, nullptr)({failure}, now_);
  }

  [[nodiscard]] Window window() const override { return window_; }
  [[nodiscard]] std::optional<Error> why_not(const LinkOrder&) const override { return std::nullopt; }
  void write_tables_without(const std::vector<LinkRef>&, Instant, Closed done) override {
    tables_.push_back(std::move(done));
  }
  [[nodiscard]] std::unique_ptr<PortSetter> make_setter() override {
    return std::make_unique<Scripted>(*this);
  }

  Instant now_{};
  Window window_ = Window::Shut;
  bool up_ = true;
  bool ordered_on_ = false;
  bool cancelled_ = false;
  int changes_ = 0;
  int waits_ = 0;
  std::deque<Closed> tables_;
  Scripted* setter_ = nullptr;
  std::optional<regulate::LinkOutcome> off_;
  std::optional<regulate::LinkOutcome> on_;
  std::string wrong_;
  LinkRuns runs_{*this};
};

/// Off waits for the window, on is ordered at any point of that: the port must be up in the end. It was not
/// where both ran beside each other.
TEST(LinkRuns, AnOnAfterAnOffEndsWithTheLinkOnInEveryOrderOfTheirEvents) {
  std::size_t orders = 0;
  std::vector<RunsWorld::Event> path;
  const std::function<void()> go = [&] {
    RunsWorld world;
    for (const RunsWorld::Event event : path) world.happen(event);
    if (world.is_over()) {
      ++orders;
      ASSERT_EQ(world.judge(), "") << testing::PrintToString(path);
      return;
    }
    bool stuck = true;
    for (std::size_t i = 0; i < RunsWorld::events; ++i) {
      const auto event = static_cast<RunsWorld::Event>(i);
      if (!world.may(event)) continue;
      stuck = false;
      path.push_back(event);
      go();
      path.pop_back();
      if (testing::Test::HasFatalFailure()) return;
    }
    ASSERT_FALSE(stuck) << "nothing can happen any more, and not all is answered: "
                        << testing::PrintToString(path);
  };
  go();
  std::cout << orders << " orders of events\n";
  RecordProperty("orders", std::to_string(orders));
  EXPECT_GT(orders, 1000U);
}

TEST(LinkRuns, WhatIsCalledOffBeforeItWasBegunIsNeverBegun) {
  RunsWorld world;
  world.happen(RunsWorld::Event::Cancel);
  world.happen(RunsWorld::Event::TablesWritten);
  world.happen(RunsWorld::Event::WindowOpens);
  EXPECT_FALSE(world.may(RunsWorld::Event::SetArrives));
}

/// One node whose Sets keep failing kept every link off.
TEST(LinkRuns, AnOnWaitsAFewSecondsForTheWindowAndNoLonger) {
  RunsWorld world;
  world.happen(RunsWorld::Event::Cancel);
  world.happen(RunsWorld::Event::OrderOn);
  EXPECT_FALSE(world.may(RunsWorld::Event::SetArrives));
  world.happen(RunsWorld::Event::TimePasses);
  EXPECT_TRUE(world.may(RunsWorld::Event::SetArrives));
}

}  // namespace
}  // namespace heddle::authority
