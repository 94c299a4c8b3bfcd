/// The subnet manager of a fabric that has no other: configures it after each sweep, answers for itself when
/// asked who is there, acknowledges traps, and answers as the fabric's subnet administrator. Whoever owns it
/// feeds it surveys and hands the notices on to the discovery.
///
/// Tables that were not confirmed are written again by itself, and all that were are read back, some at a
/// time, within ProvisionOptions::verify_within. What waits for packets under way gives way to whatever
/// comes.
///
/// On the transaction engine's thread. The engine must be stopped before it goes away.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <utility>

#include "authority/own/administration.h"
#include "authority/own/provisioner.h"
#include "mad/attributes.h"
#include "transport/transactions.h"
#include "transport/transport.h"

namespace heddle::provision {

/// When what failed is tried again: after 1, 2, 4 ... 30 s.
class Retry {
 public:
  void failed(Instant now);
  void succeeded();
  /// What fails next is tried again as after a first failure; what waits goes on waiting.
  void begin_anew() { after_ = {}; }
  /// Whether it is time; then it is no more.
  [[nodiscard]] bool is_due(Instant now);
  [[nodiscard]] const std::optional<Instant>& at() const { return at_; }

 private:
  std::optional<Instant> at_;
  FabricClock::duration after_{};
};

/// Of what switches hold, by answers that nobody waits for. Each is a reason to write anew, at once; a switch
/// that contradicts itself gives one with each write.
class Doubts {
 public:
  [[nodiscard]] bool are_too_many(Instant now);

 private:
  static constexpr unsigned most_a_second = 100;
  Instant began_{};
  unsigned count_ = 0;
};

class SubnetManager {
 public:
  SubnetManager(transport::TransactionEngine& engine, transport::Transport& transport,
                const ProvisionOptions& options, Router router, Provisioner::Done done);

  /// Provisioner::allow_turns_by().
  void allow_turns_by(AllowTurns allow) { provisioner_.allow_turns_by(std::move(allow)); }
  /// Provisioner::remember_lids(), tell_of_lids().
  void remember_lids(LidsByPort lids) { provisioner_.remember_lids(std::move(lids)); }
  void tell_of_lids(Provisioner::LidsGiven given) { provisioner_.tell_of_lids(std::move(given)); }
  /// Whether what was configured is to be so anew: asked when nothing has changed for a while, and again
  /// after each Later.
  void ask_for_others(std::function<OtherRoutes()> others) { others_ = std::move(others); }
  /// Configures the fabric as it was just found. While busy, the latest survey waits its turn.
  void configure(std::shared_ptr<const Survey> survey, Instant now);
  [[nodiscard]] bool busy() const { return provisioner_.busy() || waiting_ || !rewrites_.empty(); }
  /// Until then a packet may be where an entry led that is gone.
  [[nodiscard]] Instant packets_gone() const { return provisioner_.packets_gone(); }
  /// From here on, what is under way too takes these directed routes.
  void take_routes(const Survey& from);

  /// A sweep under way has found this port of a switch not Active: until its survey is configured, nothing is
  /// led there.
  void keep_off(const PortRef& port) { provisioner_.keep_off(port); }
  void found_active(const PortRef& port) { provisioner_.found_active(port); }
  void use_again(const PortRef& port) { provisioner_.use_again(port); }

  void on_timer(Instant now);
  [[nodiscard]] std::optional<Instant> next_deadline() const;

  using Written = std::function<void(const Result<void>&, Instant now)>;
  /// Has the router make the tables anew and writes what differs; after what is under way. Answered later,
  /// when every switch has confirmed. Errors: Refused unless is_master(), Unreachable with the first that did
  /// not confirm, those of the router.
  void rewrite_tables(Instant now, Written done);
  /// Whether a forwarding table holds, or may hold, an entry that leaves by this port.
  [[nodiscard]] bool may_use(const PortRef& port) const { return provisioner_.may_use(port); }
  [[nodiscard]] routing::ForwardingTables held(const routing::SwitchGraph& graph, Lid top) const {
    return provisioner_.held(graph, top);
  }
  /// What a switch was seen to forward through this port.
  [[nodiscard]] std::optional<std::vector<Lid>> lids_through(const PortRef& port) const {
    return provisioner_.lids_through(port);
  }
  [[nodiscard]] std::vector<Lid> staying() const { return provisioner_.staying(); }
  /// See Provisioner. Of the next configure().
  void pass_over_silent_sms() { provisioner_.pass_over_silent_sms(); }
  /// Since the last run that nobody else's being master stopped.
  [[nodiscard]] bool is_master() const { return state_ == mad::SmInfo::State::Master; }

  /// What the engine hands over unsolicited. A trap is acknowledged and given back as its notice; SMInfo and
  /// requests of the subnet administration are answered while master.
  std::optional<mad::Notice> on_unsolicited(const mad::Packet& packet, Instant now);
  /// An answer that nobody waits for. Where it says that a copy of a Set of a table came late, the block is
  /// read, and what differs is written.
  void on_unmatched(const mad::Packet& packet, Instant now);

  /// Null where the options say so.
  [[nodiscard]] const Administration* administration() const {
    return administration_ ? &*administration_ : nullptr;
  }

 private:
  void finished(const ProvisionReport& report);
  void rewritten(const ProvisionReport& report);
  void regrouped(const ProvisionReport& report);
  void serve(const ProvisionReport& report);
  void say_who_joined(const Survey& survey);
  void next(Instant now);
  void set_ports_again(Instant now);
  void run_again(Instant now);
  [[nodiscard]] bool is_at_rest() const {
    return !provisioner_.busy() && !rewriting_ && !regrouping_ && !verifying_;
  }
  void ask(Instant now);
  void verify(Instant now);
  void verify_some(Instant now);
  void answer_sm_info(const mad::Packet& packet, const mad::Header& header);
  void repress(const mad::Packet& packet, const mad::Header& header);

  transport::TransactionEngine& engine_;
  transport::Transport& transport_;
  ProvisionOptions options_;
  Provisioner::Done done_;
  mad::SmInfo::State state_ = mad::SmInfo::State::NotActive;
  std::uint32_t activity_ = 0;
  std::function<OtherRoutes()> others_;
  std::optional<Instant> ask_at_;
  std::shared_ptr<const Survey> waiting_;
  std::shared_ptr<const Survey> configured_;  ///< by the last run that nothing stopped
  std::deque<Written> rewrites_;              ///< the first one under way, if rewriting_; null: our own
  bool rewriting_ = false;
  Retry tables_again_;  ///< of tables that were not confirmed
  Doubts doubts_;
  Retry ports_again_;  ///< of ports whose settings nobody took
  std::optional<Instant> verify_at_;
  bool owes_verifying_ = false;  ///< it was due during a run
  bool verifying_ = false;       ///< orders wait for that, and no news of the fabric does
  bool regrouping_ = false;
  std::optional<Instant> regroup_at_;  ///< not before
  std::optional<Administration> administration_;
  Provisioner provisioner_;
};

}  // namespace heddle::provision
