/// The governor's inside: per-link records, the routing side (one change at a time), and the orders that
/// bring links back (any number side by side). Split by concern over governor_*.cc. Only they include this.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "regulation/governor.h"
#include "regulation/governor_records.h"
#include "regulation/hanging_parts.h"
#include "regulation/load_window.h"
#include "regulation/unavoidable_loads.h"

namespace heddle::regulation {

/// Names of hosts, not too many of them.
[[nodiscard]] std::string list_hosts(const std::vector<std::string>& hosts);

class Governor::Impl {
 public:
  explicit Impl(GovernorOptions options);

  std::vector<Action> on(const Event& event);
  /// Asked far more often than events come: known since the last one.
  [[nodiscard]] std::optional<Instant> next_deadline() const { return due_; }
  [[nodiscard]] std::vector<LinkStatus> links() const;
  [[nodiscard]] std::vector<OffRecord> off_links() const;
  [[nodiscard]] std::vector<LinkRef> withheld() const;
  [[nodiscard]] std::vector<LinkRef> forced() const;
  [[nodiscard]] CutOff cut_off() const;
  /// Why nothing may go off: the tables in force part hosts, and no operator wants that.
  [[nodiscard]] std::optional<std::string> parted() const;
  [[nodiscard]] std::vector<LinkRef> not_back() const;
  [[nodiscard]] std::vector<DrainStatus> drains() const;
  [[nodiscard]] std::vector<IdleSwitch> idle_switches() const;
  [[nodiscard]] bool is_drained(NodeGuid node) const;
  /// The drain that holds the link off, if any.
  [[nodiscard]] const Drain* drain_of(const LinkRef& link) const;

  using LinkRecord = governing::LinkRecord;
  using OpenStep = governing::OpenStep;
  using Take = governing::Take;

  GovernorOptions options;
  Memory memory;
  Mode mode;
  Stage stage = Stage::Idle;
  unsigned plane = 0;
  std::unique_ptr<Network> network;
  std::vector<LinkRecord> records;  ///< by LinkIndex
  routing::LinkSet confirmed;       ///< in the tables of all planes
  std::optional<Plan> plan;
  std::vector<std::pair<NodeGuid, std::uint16_t>> kept_ranks;
  std::vector<routing::KeptTurn> kept_turns;
  std::set<NodeGuid> lost_switches;
  std::string trouble;  ///< why there is no network, or the tables are not as they are meant to be

 private:
  using AnySet = governing::AnySet;
  using Choice = governing::Choice;
  using Kind = governing::Kind;
  using OffOrder = governing::OffOrder;
  using Took = governing::Took;

  // governor.cc: dispatch and small things
  void handle(const TopologyChanged& event);
  void handle(const LoadsMeasured& event);
  void handle(const Tick& event);
  void handle(const StepDone& event);
  void handle(const StepFailed& event);
  void handle(const StepTimedOut& event);
  void handle(const LinkLost& event);
  void handle(const LinkFound& event);
  void handle(const SwitchesLost& event);
  /// False: it was drained, and nobody misses it.
  bool lose_switch(NodeGuid guid);
  [[nodiscard]] std::string name_of_switch(NodeGuid guid) const;
  void handle(const SwitchFound& event);
  void handle(const PairsApart& event);
  void want_all(const std::string& why);
  void handle(const LinkTroubled& event);
  void handle(const LinkHealed& event);
  void handle(const MastershipLost& event);
  void handle(const MastershipRegained& event);
  void handle(const SetMode& event);
  void handle(const SetOverride& event);
  void handle(const SetDrain& event);
  void handle(const EndDrain& event);
  void handle(const Restore& event);
  void handle(const KeepBaseline& event);
  void handle(const ForgetBaseline& event);
  void handle(const Stopping& event);
  void handle(const MovementChanged& event);
  void handle(const Restarted& event);

  void record(Record what);
  void report(ReportKind kind, std::vector<LinkRef> links, std::string reason);
  void answer(CommandId command, std::string text);
  void refuse(CommandId command, ErrorCode code, std::string reason);
  StepId next_step() { return StepId{++last_step_}; }
  ChangeId next_change();
  [[nodiscard]] std::optional<LinkIndex> find(const LinkRef& link) const;
  [[nodiscard]] LinkRecord& at(LinkIndex link) { return records[link.raw()]; }
  [[nodiscard]] const std::string& name(NodeIndex node) const;
  [[nodiscard]] std::string name(LinkIndex link) const;
  [[nodiscard]] std::string name(const LinkRef& link) const;
  void move(LinkRecord& link, LinkState state);
  [[nodiscard]] bool is_on(const LinkRecord& link) const;
  [[nodiscard]] Wish wish(const LinkRef& link) const;
  /// Links in one of the states.
  template <class Predicate>
  [[nodiscard]] routing::LinkSet links_where(Predicate predicate) const;
  [[nodiscard]] routing::LinkSet on_links() const;
  /// Those that may be active: not lost, and no operator wants them off.
  [[nodiscard]] bool may_be_on(const LinkRecord& link) const;
  [[nodiscard]] routing::LinkSet available() const;
  [[nodiscard]] bool rules_hold(const routing::LinkSet& active) const;
  void refresh_exemptions();
  /// When the next Tick is due, from all that waits.
  [[nodiscard]] std::optional<Instant> earliest() const;

  // governor_operator.cc
  [[nodiscard]] OffOrder off_order(const LinkRef& link) const;
  [[nodiscard]] std::vector<std::string> cut_off_without(const std::vector<LinkIndex>& links) const;
  [[nodiscard]] std::optional<std::string> objection(const std::string& what,
                                                     const std::vector<LinkIndex>& links,
                                                     const std::vector<std::string>& hosts,
                                                     std::string_view otherwise,
                                                     const std::vector<NodeGuid>& going);

  // governor_drains.cc
  [[nodiscard]] bool is_part(const LinkRef& link, const Drain& drain) const;
  [[nodiscard]] std::optional<std::string> objection(const Drain& drain) const;
  void end_drain(const std::string& what, const std::string& why);
  void end_overdue_drains();
  /// `more`: as well.
  void excuse_drained(const std::vector<NodeGuid>& more);

  // governor_routing.cc: one change of tables at a time, and what is closed after it
  void consider();
  void begin(std::vector<Take> takes);
  /// Traffic can be moved, and is known to be where it was moved.
  [[nodiscard]] bool by_planes() const { return options.movement == Movement::Planes && plane_is_certain_; }
  void write(std::optional<unsigned> to_plane, Writing writing);
  void tables_confirmed();
  void close_ports();
  void ports_closed(const std::vector<LinkRef>& failed);
  void finish(std::string note);
  void order_migration(unsigned to);
  void step_done();
  [[nodiscard]] std::vector<PortRef> commanded_sides(const std::vector<Take>& takes) const;
  [[nodiscard]] HangingParts hanging_parts() const;
  [[nodiscard]] HangingParts::Spare spare_of(const LinkRef& link, const PortRef& off_at) const;
  void routing_tick();

  // governor_mending.cc: changes that fail, are not wanted any more, or lose their links
  void step_failed(const std::string& why, const std::vector<LinkRef>& links);
  /// The links that were to leave stay; tables that are being written are finished first.
  void call_off(const std::string& why);
  /// As call_off(), because of load: what somebody has ordered, and what leaves in order to come back wider,
  /// goes on.
  void call_off_for_load(const std::string& why);
  void mend(const std::string& why);
  void order_mend();
  void forget_step();
  void drop_change(const std::string& why);

  // governor_ports.cc: coming back
  void open(const std::vector<LinkIndex>& links, const std::string& why);
  /// One of its switches is gone.
  [[nodiscard]] bool dead(const LinkRecord& link) const;
  void open_where_wanted();
  /// The end at which the link can be ordered on.
  [[nodiscard]] std::optional<PortRef> side_in_sight(const LinkRecord& link) const;
  /// Every link that is off and may lead to a switch that is gone.
  void want_ways_to_lost_switches(const std::string& why);
  /// Off by this program's doing, with an end that has not been seen since the start.
  [[nodiscard]] bool is_stranger(const LinkRef& link) const {
    return memory.off.contains(link) && !find(link);
  }
  void open_strangers();
  void opened(StepId step, std::vector<LinkRef> failed, const std::string& why);
  // governor_wakes.cc: what links take to come back
  void handle(const ForgetLink& event);
  void handle(const LinksThere& event);
  [[nodiscard]] bool is_ordered_on(const LinkRef& link) const;
  void leave_to_later_changes(const std::vector<LinkRef>& on);
  /// What is expected of links, from memory.
  void refresh_wakes();
  void clock_wake(LinkRecord& link);
  static void forget_clock(LinkRecord& link);
  /// Since it was ordered on; none if that says nothing of the next time.
  [[nodiscard]] std::optional<std::chrono::milliseconds> wake_of(LinkRecord& link);
  void arrive(LinkRecord& link, WakeRecord& learnt);
  void learn(WakeRecord learnt);
  [[nodiscard]] bool takes_too_long(const Wakes& wakes) const;
  /// How long an order may take that turns it on; none: as long as any.
  [[nodiscard]] std::chrono::nanoseconds patience(LinkIndex link) const;

  /// All that regulation turned off; with `everything` also what operators did.
  enum class Whose : std::uint8_t { Regulation, Everybody };
  void bring_back(Whose whose, const std::string& why);
  void count_transition(LinkRecord& link);
  [[nodiscard]] double expected_rest(LinkIndex link) const;  ///< seconds
  [[nodiscard]] bool came_back_too_soon(LinkIndex link) const;
  void want(LinkIndex link, const std::string& why);

  // governor_loads.cc: which samples say what
  /// Traffic takes its ways from tables that are being changed.
  [[nodiscard]] bool traffic_moves() const;
  /// Taken under the tables in force, from its first reading to its last.
  [[nodiscard]] bool is_steady() const { return !traffic_moves() && measured_since_ >= moved_at_; }
  /// Hosts send more than in the last sample that was judged: no table makes them.
  [[nodiscard]] bool hosts_send_more() const;
  /// Takes down what they carry while no other link could take any of it.
  void learn_what_is_unavoidable(const MeasuredLoads& loads, const routing::LinkSet& available);

  // governor_planning.cc: what regulation wants
  void bring_what_is_needed();
  [[nodiscard]] Reach reach() const;
  void learn_from_a_wrong_choice();
  void estimate(const MeasuredLoads& loads);
  void choose();
  void advise(const Selection& selection);
  [[nodiscard]] SelectionProblem problem(const routing::LinkSet& available, const MeasuredLoads& loads,
                                         const Traffic* traffic) const;
  /// How selections are made: for the planes that traffic goes to next.
  [[nodiscard]] SelectOptions select_options(SelectPolicy policy) const;

  // governor_choosing.cc: what is done of a choice
  void carry_out(Choice choice);
  [[nodiscard]] bool holds_back() const;
  bool takes_instead(const Choice& choice);
  [[nodiscard]] std::optional<Choice> without_bringing(const Choice& choice, SelectPolicy policy);
  void bring_of(const Choice& choice);
  Took take_of(Choice choice);
  void begin_chosen(const Choice& choice, std::vector<Take> takes);
  /// Once what was chosen has held for a while, whatever comes then is other traffic.
  void prove_choice();
  /// Without what would break a rule, or crowd others without the rest.
  [[nodiscard]] std::vector<Take> what_fits(const Choice& choice, std::vector<Take> takes);
  /// A link would be above its limit if traffic moved now.
  [[nodiscard]] bool is_crowded(const Choice& choice);
  /// Whether another choice of links, that brings some so that others can leave, is due.
  [[nodiscard]] bool may_swap(const MeasuredLoads& loads);

  // governor_any.cc: links for whatever the hosts could send at their rates
  [[nodiscard]] bool is_for_any() const;
  /// All of it, which is of one network.
  void forget_any();
  void note_rates();
  [[nodiscard]] MeasuredLoads host_rates() const;
  /// What more traffic of any kind needs, before any link is full.
  void bring_for_rates();
  /// Begins a search where another set is due, and none is looked for.
  void follow_rates(const routing::LinkSet& available);
  /// Whether the set was chosen among these, for what is exempt and the planes in use. Precondition: there is
  /// one.
  [[nodiscard]] bool is_set_for(const routing::LinkSet& available) const;
  /// Those of available() that are on, or on their way.
  [[nodiscard]] routing::LinkSet coming_links() const;
  [[nodiscard]] routing::LinkSet resting() const;
  void choose_fewer(MeasuredLoads rates, const routing::LinkSet& resting);
  void choose_for_any(governing::SearchFor what, MeasuredLoads rates);
  void search(governing::SearchFor what, MeasuredLoads rates);
  [[nodiscard]] std::optional<routing::LinkSet> set_before_that_will_do();
  void search_on();
  void begin_search();
  /// Ends the search with this.
  void keep_for_any(routing::LinkSet active);
  void bring_for_any();
  /// For any traffic, if there is a set for that; else for the present.
  [[nodiscard]] Result<Selection> select_now(const SelectionProblem& now);
  [[nodiscard]] bool send_more(const MeasuredLoads& rates, const MeasuredLoads& than) const;
  [[nodiscard]] std::vector<Take> what_any_traffic_spares(const Choice& choice, std::vector<Take> takes);

  // governor_unused.cc: switches none of whose links is on
  [[nodiscard]] bool is_switch(NodeIndex node) const;
  /// Of each end of these links, once.
  [[nodiscard]] std::set<NodeIndex> switches_of(const std::vector<LinkRef>& links) const;
  [[nodiscard]] bool is_unused(NodeIndex node) const;
  [[nodiscard]] std::optional<Watts> base_of(NodeIndex node) const;
  /// Anew, and nobody is told.
  void find_unused();
  void tell_unused(const std::vector<LinkRef>& closed);
  void tell_needed(const std::vector<LinkIndex>& opened);

  // governor_queues.cc: what waits in the queues of links that are to leave
  void handle(const QueuesSeen& event);
  /// Looks into the queues of what is to leave, and of the links beside it, before it leaves.
  void look_then_begin(Choice choice);
  void look_on();
  void queues_seen(const QueuesSeen& event);
  void forget_look();
  /// Into those that are about to be closed.
  void look_then_close();
  void close_what_is_empty(const std::vector<QueueSeen>& filled);
  void close_now();
  [[nodiscard]] std::string in_words(const QueueSeen& queue) const;

  // governor_takes.cc: which links leave with the next change
  /// Those that close are all that may; of the others as many as may leave at a time.
  [[nodiscard]] std::vector<Take> allowed_takes(const Selection& selection, Kind kind);
  [[nodiscard]] std::size_t most_at_a_time() const;
  [[nodiscard]] bool has_rested(LinkIndex link) const;
  [[nodiscard]] bool may_take(LinkIndex link, Turn turn);
  [[nodiscard]] std::vector<Take> operator_takes();
  [[nodiscard]] std::vector<Take> takes_of_operators();

  // governor_faults.cc
  void lose(LinkIndex link, const std::string& why);
  void keep_what_is_needed(const std::string& why);
  void repair(const std::string& why);

  // governor_topology.cc
  void adopt(std::shared_ptr<const Fabric> reference, std::vector<Lid> managers);
  /// What was lost, or off, and has another one's cable in its place.
  void forget_replaced();

  Instant now_;
  std::vector<Action> actions_;
  std::uint64_t last_step_ = 0;
  bool is_master_ = true;
  bool is_stopping_ = false;

  std::unordered_map<LinkRef, std::uint32_t> by_ref_;
  mutable std::shared_ptr<const Fabric> named_;  ///< whose nodes are called as names_ says
  mutable std::vector<std::string> names_;       ///< in the forms that tell them apart, by NodeIndex
  std::vector<Exempt> exempt_;
  std::vector<power::LinkMode> modes_;  ///< scratch for problem()
  Troubles troubles_;
  std::vector<ExpectedWake> wakes_;             ///< by LinkIndex
  std::set<LinkRef> slow_;                      ///< took longer than is allowed
  std::set<LinkRef> strangers_;                 ///< to be opened
  std::map<LinkRef, Instant> strangers_again_;  ///< not before; of those that were ordered once
  std::set<LinkRef> awaited_;  ///< strangers whose orders failed: to be opened once they are in sight
  std::map<NodeGuid, std::vector<PortRef>> peers_of_lost_;  ///< where cables of lost switches were

  // The change under way.
  std::optional<StepId> step_;
  std::optional<Instant> due_;       ///< earliest() after the last event
  std::optional<Instant> deadline_;  ///< of the stage: end of a drain, or the next try
  unsigned retries_ = 0;
  routing::LinkSet target_;
  unsigned to_plane_ = 0;
  bool plane_is_certain_ = true;    ///< all traffic is known to use `plane`
  bool settles_plane_ = false;      ///< the migration under way is to make it so, and nothing else
  std::optional<ChangeId> change_;  ///< with an Intent out
  std::optional<std::string> called_off_;
  std::optional<std::string> came_back_;  ///< since the last Tick: the last who did
  std::size_t apart_in_force_ = 0;        ///< PairsApart

  std::map<StepId, OpenStep> opening_;
  std::set<NodeGuid> unused_;  ///< switches that have been told of, or were so at the start

  // A look into queues before links leave.
  std::optional<StepId> look_;
  std::optional<Choice> looked_for_;
  std::vector<LinkRef> to_look_at_;  ///< once those that are being asked have answered
  std::vector<QueueSeen> filled_;    ///< of those that have

  Instant measured_since_ = Instant::min();  ///< the latest sample's counters, at the earliest
  Instant sample_began_ = Instant::min();    ///< the latest
  Instant moved_at_ = Instant::min();        ///< traffic, for the last time
  double judged_sent_ = 0;                   ///< bit/s of all hosts in the last sample that was judged
  LoadWindow window_;                        ///< of steady samples
  LoadWindow rates_;                         ///< of hosts alone, under whatever tables
  std::optional<AnySet> any_;
  std::unique_ptr<AnySearch> any_search_;  ///< under way: every Tick takes it a step further
  bool search_begins_ = false;             ///< with its next step
  governing::SearchFor search_for_ = governing::SearchFor::More;
  bool choice_waits_ = false;     ///< for its end, and then for a Tick
  std::vector<double> received_;  ///< bit/s by target, as a mean
  Instant received_at_;
  unsigned received_samples_ = 0;
  std::optional<Instant> planned_at_;
  std::optional<MeasuredLoads> latest_;
  std::optional<Traffic> traffic_;          ///< as last estimated
  std::optional<governing::Seen> seen_[2];  ///< last, by the plane in use; of this network
  governing::Trust trust_;
  governing::Swaps swaps_;
  /// Tables could not be written without what was to go: nothing goes before that. Where a switch is known to
  /// be silent an order fails in the instant in which it is given.
  std::optional<Instant> takes_from_;
  std::vector<LinkRef> advised_;
  std::vector<double> expected_;  ///< share of capacity by hop, of the last selection that was carried out
  UnavoidableLoads unavoidable_;
  std::vector<double> unavoidable_shares_;  ///< scratch for problem()
};

template <class Predicate>
routing::LinkSet Governor::Impl::links_where(Predicate predicate) const {
  routing::LinkSet set = routing::LinkSet::none(network->fabric());
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    if (predicate(records[i])) set.insert(LinkIndex{i});
  }
  return set;
}

}  // namespace heddle::regulation
