/// Keeps a snapshot of the fabric up to date: full sweeps on demand, light ones that rediscover only what
/// changed, traps. Whoever owns it decides when; what is asked for during a sweep is done after it.
///
/// A guest (sweep.h) goes at a pace, so a full sweep of a large fabric takes minutes. Once there is a survey
/// it goes on in the background: light and partial sweeps are not held up, and what they asked meanwhile is
/// asked again before the full one is reported.
///
/// A state machine over the transaction engine, on its thread; never blocks. The engine must be stopped
/// before a Discovery goes away.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "discovery/light_sweep.h"
#include "discovery/problem.h"
#include "discovery/sweep.h"
#include "mad/attributes.h"
#include "mad/survey.h"
#include "transport/transactions.h"

namespace heddle::discovery {

enum class SweepKind { Full, Partial, Light };
[[nodiscard]] std::string_view to_string(SweepKind kind);

struct SweepReport {
  SweepKind kind = SweepKind::Full;      ///< the most that had to be done
  std::shared_ptr<const Survey> survey;  ///< as it is known; the one before where nothing changed
  std::shared_ptr<const Survey> before;  ///< none for the first
  std::vector<Problem> problems;         ///< of the last sweep that was not light
  std::optional<Error> failure;          ///< why there is no newer survey
  bool whole = true;                     ///< every switch was asked whether anything has changed there
  Instant begun;
  Instant ended;
};

class Discovery {
 public:
  using Done = std::function<void(const SweepReport&)>;

  Discovery(transport::TransactionEngine& engine, const SweepOptions& options, Done done);

  /// From the next sweep on: whoever becomes subnet manager resets them.
  void set_change_bits(ChangeBits change_bits) {
    change_bits_ = change_bits;
    sweep_.set_change_bits(change_bits);
  }
  void set_manner(Manner manner, Instant now);

  void full(Instant now);
  /// A full one as long as there is no survey.
  void light(Instant now);
  /// Asks these nodes and what has newly appeared behind them.
  void rediscover(std::span<const NodeGuid> nodes, Instant now);
  /// Of traps: 128 (a link of a switch), 144 and 145 (a node's properties) lead to a partial sweep.
  void on_notice(const mad::Notice& notice, Instant now);

  /// Nothing begins until release(): while somebody writes to the fabric, what a sweep finds is half of it
  /// out of date. What is asked for meanwhile is done then.
  void hold() { held_ = true; }
  void release(Instant now);

  /// Takes over a survey that somebody brought up to date: a provisioner, which knows the states that it
  /// set. Its epoch must not be less than that of survey(). A partial sweep under way, which started from
  /// the older one, is done again.
  void adopt(std::shared_ptr<const Survey> survey);
  /// The directed routes alone, and what was found since stays. Precondition: there is a survey.
  void take_routes(const Survey& from);

  /// Sweeps at a pace go on by it.
  void on_timer(Instant now);
  [[nodiscard]] std::optional<Instant> next_deadline() const;
  /// How long the last round of light sweeps at a pace took.
  [[nodiscard]] std::optional<FabricClock::duration> light_round() const { return light_.round(); }
  /// What others who ask the fabric as guests share with the sweeps; null where there is no pace to keep.
  [[nodiscard]] transport::Pace* pace() {
    return manner_ == Manner::Guest && pace_.is_limited() ? &pace_ : nullptr;
  }
  /// Of the sweep under way: nodes so far.
  [[nodiscard]] std::size_t met() const { return sweep_.running() ? sweep_.met() : 0; }
  /// How long the last full sweep of a guest took.
  [[nodiscard]] std::optional<FabricClock::duration> full_round() const { return full_round_; }

  [[nodiscard]] bool busy() const { return busy_ || background_.running() || background_found_; }
  /// None before the first full sweep has ended.
  [[nodiscard]] std::shared_ptr<const Survey> survey() const { return survey_; }

 private:
  void next(Instant now);
  void interrupt_light();
  void start(SweepKind kind, Instant now);
  void start_full(Instant now);
  void start_partial(std::vector<NodeGuid> nodes, Instant now);
  void collected(Collected collected, Instant now);

  // A full sweep in the background.
  [[nodiscard]] bool in_background() const {
    return manner_ == Manner::Guest && pace_.is_limited() && survey_ != nullptr;
  }
  [[nodiscard]] bool full_is_awaited() const {
    return wants_full_ || background_.running() || background_found_;
  }
  void start_background(Instant now);
  void drop_background();
  /// Makes a survey of what it found, with what others asked meanwhile asked again.
  void finish_background(Instant now);
  void caught_up(Collected what, Instant now);
  void suspected(Suspicion suspicion, Instant now);
  void report(std::optional<Error> failure, Instant now);

  Done done_;
  ChangeBits change_bits_;
  Manner manner_ = Manner::Owner;
  transport::Pace pace_;
  Problems found_;
  Sweep sweep_;
  LightSweep light_;
  std::shared_ptr<const Survey> survey_;
  std::vector<Problem> problems_;
  std::uint64_t epoch_ = 0;

  bool busy_ = false;
  bool held_ = false;
  bool overtaken_ = false;  ///< by a survey that was adopted during the sweep
  SweepKind kind_ = SweepKind::Full;
  bool whole_ = true;  ///< SweepReport's
  Instant begun_;
  std::shared_ptr<const Survey> before_;
  bool wants_full_ = false;
  bool wants_light_ = false;
  /// Partial sweeps that have failed one after the other while a round over all was to be made in the
  /// background: more than a switch that is gone causes until that is done.
  static constexpr unsigned most_futile = 200;
  unsigned futile_ = 0;
  bool owes_full_ = false;  ///< one has failed, and none has been done since
  /// Rounds over all in the background that doubts lead to, one after the other, rest in between for as long
  /// as one takes, within these.
  static constexpr FabricClock::duration least_rest = std::chrono::seconds{1};
  static constexpr FabricClock::duration most_rest = std::chrono::seconds{30};
  bool is_doubt_ = false;  ///< wants_full_ is, and nobody's order
  Instant rests_until_;
  std::set<NodeGuid> suspects_;
  std::vector<NodeGuid> asked_;  ///< of the partial sweep under way

  Problems background_problems_;
  Sweep background_;
  Instant background_began_;
  bool background_is_doubt_ = false;
  std::optional<Collected> background_found_;  ///< until there is time for it
  std::shared_ptr<const Survey> catching_up_;  ///< of what it found, while that is brought up to date
  std::set<NodeGuid> touched_;                 ///< that were asked by others meanwhile
  std::optional<FabricClock::duration> full_round_;
};

}  // namespace heddle::discovery
