/// Configures a fabric as its subnet manager: LIDs, port settings, port states, forwarding tables, in stages,
/// each of which is decided for every node before the next begins. What a node does not confirm is reported
/// and left out of later stages; it holds up nobody else. Ports are Active before a table leads to them.
///
/// A run waits for no packets that are under way: what must, is left (ProvisionReport::postponed) to a
/// rewrite().
///
/// A state machine over the transaction engine, on its thread; never blocks. One run at a time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "authority/own/batch.h"
#include "authority/own/lid_plan.h"
#include "authority/own/multicast_writer.h"
#include "authority/own/port_settings.h"
#include "authority/own/routes.h"
#include "authority/own/sm_election.h"
#include "authority/own/table_writer.h"
#include "authority/own/troubles.h"
#include "mad/survey.h"
#include "sa/administrator.h"
#include "transport/transactions.h"
#include "transport/transport.h"

namespace heddle::provision {

struct ProvisionOptions {
  PortPolicy ports{};
  std::uint8_t priority = 0;  ///< as subnet manager, 0 to 15
  std::uint64_t sm_key = 1;   ///< what other subnet managers know us by; OpenSM's default
  /// How long packets are under way at most; less where the switches say so (routing/packet_life.h).
  FabricClock::duration packet_life = routing::default_packet_life;
  /// All tables are compared with what was written once in so long: the time of a heavy sweep.
  FabricClock::duration verify_within = std::chrono::minutes{10};
  /// The subnet administrator of the same port; none: nobody is answered, and groups are what is found.
  std::optional<sa::AdministratorOptions> administrator{};
};

struct ProvisionReport {
  /// Nothing was written, or no tables could be made: another subnet manager, too few LIDs, no routes.
  std::optional<Error> failure;
  std::shared_ptr<const Survey> survey;  ///< with LIDs and states as they were confirmed
  std::shared_ptr<const routing::ForwardingTables> tables;
  std::shared_ptr<const Routes> routes;  ///< whose tables they are
  std::vector<Trouble> troubles;
  std::vector<OtherSm> other_sms;
  std::vector<NodeGuid> successors;  ///< to be looked at again soon
  /// It yielded to others of which none is the master yet: they may have yielded to this one.
  bool undecided = false;
  std::size_t ports_set = 0;
  std::size_t blocks_read = 0;
  std::size_t blocks_written = 0;
  std::size_t multicast_groups = 0;
  bool tables_confirmed = false;  ///< every switch of the survey holds what `tables` says
  bool postponed = false;         ///< some of them must wait for packets that are under way
  std::size_t links_raised = 0;   ///< ports that became Active
  /// Somebody did not answer who was to take settings or a state: nobody may look there again for long.
  bool ports_unanswered = false;
  Instant begun;
  Instant ended;
};

class Provisioner {
 public:
  using Done = std::function<void(const ProvisionReport&)>;

  Provisioner(transport::TransactionEngine& engine, transport::Transport& transport,
              const ProvisionOptions& options, Router router, Done done);

  /// Who is told, in a run, by which turns tables stand that the order does not know; then the router is
  /// asked again.
  void allow_turns_by(AllowTurns allow) { allow_turns_ = std::move(allow); }
  /// What ports had in a run before this one. Before the first run().
  void remember_lids(LidsByPort lids) { remembered_ = std::move(lids); }
  /// Told of all LIDs that are known, those of ports that are away included, before any of them is set.
  using LidsGiven = std::function<void(const LidsByPort&)>;
  void tell_of_lids(LidsGiven given) { lids_given_ = std::move(given); }
  /// The survey must come from a sweep that has just ended. Not while busy().
  void run(std::shared_ptr<const Survey> survey, Instant now);
  /// Likewise, on the survey that a run() has brought up to date.
  void run_again(const std::shared_ptr<const Survey>& survey, Instant now);
  /// Makes the tables anew and writes what differs, nothing else, on the survey that a run() has brought up
  /// to date. Not while busy().
  void rewrite(const std::shared_ptr<const Survey>& survey, Instant now, Done done);
  /// Writes what differs in the multicast tables, nothing else, by the routes of the last run() or rewrite().
  /// Not while busy().
  void regroup(std::shared_ptr<const Survey> survey, Instant now, Done done);
  /// Who has joined which group, from here on. Not while busy().
  void set_joined(std::map<Lid, MulticastGroups::Joined> joined) { multicast_.set_joined(std::move(joined)); }
  [[nodiscard]] bool busy() const { return busy_; }
  /// Ends a rewrite() that only waits for packets under way.
  void overtake(Instant now) { writer_.overtake(now); }
  void on_timer(Instant now) { writer_.on_timer(now); }
  [[nodiscard]] std::optional<Instant> next_deadline() const { return writer_.next_deadline(); }
  [[nodiscard]] Instant packets_gone() const { return writer_.packets_gone(); }
  /// Until the next run() with a survey that says more of it no table is made or written that leads out of
  /// this port, which is not Active.
  void keep_off(const PortRef& port);
  /// The port has said since that it is Active, so that a survey may say so.
  void found_active(const PortRef& port);
  /// Who turned the link on has seen it Active: no survey is waited for.
  void use_again(const PortRef& port);
  /// From here on, what is under way too takes these directed routes.
  void take_routes(const Survey& from);
  /// An answer that nobody waits for: whether it puts a block of a table in doubt (TableWriter::doubt).
  bool doubt(const mad::Packet& answer);
  /// Compares some blocks with what their switches hold (TableWriter::verify). Not while busy().
  void verify(std::shared_ptr<const Survey> survey, std::size_t count, Instant now,
              TableWriter::Verified done) {
    writer_.verify(std::move(survey), count, now, std::move(done));
  }
  [[nodiscard]] std::size_t known_blocks() const { return writer_.known_blocks(); }
  /// Switches whose tables are known, gone ones included.
  [[nodiscard]] std::size_t known_switches() const { return writer_.known_switches(); }
  [[nodiscard]] const std::vector<Lid>& staying() const { return writer_.staying(); }
  /// Whether a table holds, or may hold, an entry that leaves by this port.
  [[nodiscard]] bool may_use(const PortRef& port) const {
    return writer_.may_use(port) || multicast_.may_use(port);
  }
  /// What switches are known to hold (TableWriter::held).
  [[nodiscard]] routing::ForwardingTables held(const routing::SwitchGraph& graph, Lid top) const {
    return writer_.held(graph, top);
  }
  /// What a switch was seen to forward through this port.
  [[nodiscard]] std::optional<std::vector<Lid>> lids_through(const PortRef& port) const {
    return writer_.lids_through(port);
  }
  /// Whether the local port's IsSM bit is this program's doing: from a first run that found no other subnet
  /// manager on, to one that does.
  [[nodiscard]] bool is_sm() const { return is_sm_; }
  /// The next run does not yield to ports that say IsSM and do not answer: an operator knows better. What
  /// answers is yielded to all the same.
  void pass_over_silent_sms() { pass_over_silent_ = true; }
  /// From the election of a run on, until a run yields.
  [[nodiscard]] Standing standing() const { return standing_; }
  /// Another subnet manager has been told that this one stands for election only, and may go on by that.
  void told_of_candidate() { must_look_ = true; }
  /// A table is not as it was written: the next run looks who has said IsSM since the last sweep.
  void others_may_write() { others_may_write_ = true; }

 private:
  // The stages, in their order.
  void ask_other_sms(Instant now);
  void ask_sms(std::vector<LinkEnd> ends, Instant now);
  void look_at_silent(std::vector<LinkEnd> ends, Instant now);
  /// Who says IsSM, into the survey.
  void read_claims(std::vector<LinkEnd> ends, Instant now, Batch::Done next);
  void elect(Instant now);
  void claim(Instant now);
  void yield(Error why, Instant now);
  void hand_over(const OtherSm& other, Instant now);
  void plan(Instant now);
  void look_for_restarts(Instant now);
  void set_ports(Instant now);
  void route(Instant now);
  [[nodiscard]] std::shared_ptr<const Routes> routes_with(const std::vector<routing::KeptTurn>& turns);
  void unicast_written(const WriteReport& report, Instant now);
  void multicast_written(const WriteReport& report, Instant now);
  void take(const WriteReport& report);
  void set_tops(Instant now);
  [[nodiscard]] std::uint16_t multicast_top(const mad::SwitchInfo& info) const;
  [[nodiscard]] bool has_low_multicast_top() const;
  [[nodiscard]] bool must_register_anew(LinkEnd end) const;
  void look_at_far_ends(Instant now);
  void read_ports(std::vector<LinkEnd> ends, Batch::Done next, Instant now);
  [[nodiscard]] std::vector<LinkEnd> around(const std::vector<NodeIndex>& nodes) const;
  void raise(PortState from, PortState to, Instant now);
  void raised(PortState to, Instant now);
  void finish(Instant now);
  void stop_with(Error error, Instant now);

  /// Runs `what` on `ends`, one Set(PortInfo) each. Those that refuse it are added to `refused`, if given;
  /// else they are trouble.
  void set_each(std::vector<LinkEnd> ends, std::function<mad::PortInfo(LinkEnd)> what,
                std::function<bool(LinkEnd, const mad::PortInfo& asked, const mad::PortInfo& got)> confirm,
                Batch::Done next, Instant now, std::vector<LinkEnd>* refused = nullptr);
  [[nodiscard]] std::optional<Step> port_step(mad::Method method, LinkEnd end, const mad::PortInfo& info,
                                              std::uint64_t tag) const;
  void begin_run(std::shared_ptr<Survey> survey, Instant now);
  [[nodiscard]] std::shared_ptr<Survey> without_inactive(const Survey& survey) const;
  void forget_inactive(const Survey& survey);
  [[nodiscard]] std::optional<Batch::Way> way_of(std::uint64_t tag) const;
  [[nodiscard]] FabricClock::duration packet_life() const;
  void trouble(LinkEnd end, const char* what, const transport::Completion& completion);
  void trouble(LinkEnd end, std::string text);
  [[nodiscard]] std::vector<LinkEnd> managed_ports() const;
  [[nodiscard]] bool says_sm(LinkEnd end) const;
  [[nodiscard]] std::vector<LinkEnd> claimants() const;
  void name_unasked_sms();
  [[nodiscard]] std::vector<LinkEnd> cabled_and_management_ports() const;
  /// The survey's own, if it says already what is known of LIDs and states.
  [[nodiscard]] std::shared_ptr<const Fabric> fabric_with_lids() const;
  [[nodiscard]] bool has_lids_and_states(const Fabric& fabric) const;

  [[nodiscard]] bool failed(LinkEnd end) const {
    return failed_[survey_->fabric->port_index(end).raw()] != 0;
  }

  transport::Transport& transport_;
  ProvisionOptions options_;
  Router router_;
  AllowTurns allow_turns_;
  Done done_;
  Batch batch_;
  TableWriter writer_;
  MulticastWriter multicast_;

  bool busy_ = false;
  Done rewritten_;  ///< set while only tables are written
  bool is_sm_ = false;
  Standing standing_ = Standing::Candidate;
  bool must_look_ = false;  ///< in this run: who has said IsSM since the sweep
  unsigned looks_ = 0;
  bool others_may_write_ = false;
  bool registered_anew_ = false;  ///< hosts were told to, since this became the subnet manager
  bool pass_over_silent_ = false;
  bool handed_over_ = false;
  std::vector<LinkEnd> asked_sms_;  ///< in this run
  std::vector<std::string> silent_sms_;
  ProvisionReport report_;
  Troubles troubles_;               ///< of the report
  std::shared_ptr<Survey> survey_;  ///< the one that is worked on
  LidPlan lids_;
  Lid sm_lid_;
  std::vector<char> failed_;      ///< by PortIndex
  std::vector<LinkEnd> refused_;  ///< a state that they were set to; of the run
  std::shared_ptr<const Routes> routes_;
  std::shared_ptr<const Routes> last_routes_;  ///< of the last run that made any

  // What outlives a run.
  std::shared_ptr<const Survey> last_;        ///< that was configured
  std::unordered_set<PortRef> inactive_;      ///< of which no survey has said more since they were found so
  std::unordered_set<PortRef> active_again_;  ///< of these, those that have said so since
  LidsByPort remembered_;
  LidsGiven lids_given_;
};

}  // namespace heddle::provision
