/// The regulation as it runs: feeds the governor with what the daemon learns, and carries out what it asks
/// for: records to the journal before anything else, tables, migrations and ports through the actuator,
/// reports into the log of decisions. Keeps the energy account. Decides nothing itself.
///
/// The disk is waited for by those who must: no link is ordered off, and no command answered, before all that
/// was handed to the journal until then is stored. Tables, and links that come back, do not wait: after a
/// crash they hurt nobody who knows less.
///
/// A state machine: events in, calls of journal and actuator out. The io_context thread.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "authority/actuator.h"
#include "authority/known_fabric.h"
#include "base/problem.h"
#include "fabric/node_names.h"
#include "journal/scribe.h"
#include "load/sample.h"
#include "power/calibration.h"
#include "power/energy_account.h"
#include "power/savings.h"
#include "regulate/drain_shown.h"
#include "regulate/known_cables.h"
#include "regulation/governor.h"
#include "sampling/queue_probe.h"

namespace heddle::regulate {

using authority::KnownFabric;

struct RegulatorOptions {
  regulation::GovernorOptions governor;
  journal::Calendar calendar;
  FabricClock::duration save_energy_every = std::chrono::minutes{1};
  /// A step that is not answered by then has timed out.
  FabricClock::duration step_timeout = std::chrono::minutes{3};
  FabricClock::duration store_again_after = std::chrono::seconds{5};  ///< what the disk has refused
  /// Before an agent that was silent is asked for its queues again.
  FabricClock::duration silent_queues = std::chrono::minutes{10};
  /// A disk that takes longer is a problem that operators are told of.
  FabricClock::duration slow_disk = std::chrono::seconds{5};
  /// A link that is off by the records and up in all sweeps for so long is on: somebody else turned it on.
  FabricClock::duration believe_sweeps = std::chrono::minutes{1};
  /// So many sweeps that asked all switches, at least, must have ended meanwhile: one may have been under way
  /// when the link went off, and what another one found is not known here when it ends.
  unsigned believe_looks = 3;
  /// An order to adopt disabled ports counts for those, too, that sweeps find so soon after it: of a switch
  /// that was silent when it was given, or of a sweep that was under way.
  FabricClock::duration adopt_for = std::chrono::minutes{1};
  std::vector<std::string> pins;  ///< patterns (regulate/pins.h)
  power::Tariff tariff;
  std::vector<power::Reading> measured;
  NodeNames names;  ///< in them
};

class Regulator final : public authority::FabricListener {
 public:
  /// What a command comes to: a sentence, or why it is refused.
  using Reply = std::function<void(const Result<std::string>&)>;
  /// Called for each event that is logged.
  using Log = std::function<void(const journal::Event&)>;

  /// Journal and actuator must outlive it.
  Regulator(const RegulatorOptions& options, journal::Scribe& journal, Actuator& actuator, Log log);

  /// Looks into transmit queues: of each port that could be asked what waits there. Errors: when nobody can
  /// look at present. From within the call only if nobody could be asked.
  using QueuesLooked = std::function<void(const std::vector<sampling::QueueLook>&, Instant now)>;
  using QueueLooker = std::function<Result<void>(const std::vector<PortRef>& ports, QueuesLooked)>;
  /// Without it, nobody looks.
  void look_at_queues_with(QueueLooker looker) { look_at_queues_ = std::move(looker); }

  // What happens in the fabric.
  void on_fabric(const KnownFabric& known, Instant now) override;
  /// A sweep that asked every switch has ended.
  void count_look() { ++looks_; }
  void on_sample(std::shared_ptr<const load::Sample> sample, Instant now);
  using Mastership = authority::Mastership;
  void on_mastership(Mastership mastership, Instant now) override;
  void on_apart(std::size_t pairs, Instant now) override;
  /// Whether all hosts move between planes, as of now. Taken up when no change is under way.
  void set_movement(regulation::Movement movement, Instant now);
  void on_timer(Instant now);
  [[nodiscard]] std::optional<Instant> next_deadline() const;

  // What operators ask for.
  void set_mode(regulation::Mode mode, const std::string& by, Instant now, Reply reply);
  void set_override(const LinkRef& link, const regulation::Override& value, regulation::Force force,
                    Instant now, Reply reply);
  void set_drain(const regulation::Drain& drain, regulation::Force force, Instant now, Reply reply);
  void end_drain(const std::string& what, const std::string& by, Instant now, Reply reply);
  /// Adopt: also ports that are disabled, and not by this program as far as is known.
  enum class Adopt : std::uint8_t { No, DisabledPorts };
  void forget_link(const LinkRef& link, const std::string& by, Instant now, Reply reply);
  /// How the fabric is to be cabled, and no more.
  void keep_baseline(const regulation::Baseline& baseline, Instant now, Reply reply);
  void forget_baseline(const std::string& by, Instant now, Reply reply);
  void restore(const std::string& by, Adopt adopt, Instant now, Reply reply);
  /// Switches and cables that are gone for good are missed no more, now and after the next start.
  void forget_gone(const std::string& by, Instant now, Reply reply);
  /// Nothing more is decided, and what regulation turned off comes back, or not; see idle() and at_rest().
  void stop(regulation::Stopping::Links links, Instant now);
  /// No step is under way.
  [[nodiscard]] bool idle() const { return steps_.empty() && due_.empty(); }
  /// Nor any change.
  [[nodiscard]] bool at_rest() const { return idle() && governor_.stage() == regulation::Stage::Idle; }
  /// Brings the energy account up to date and onto the disk.
  void save(Instant now);

  [[nodiscard]] const regulation::Governor& governor() const { return governor_; }
  /// As it was told last.
  [[nodiscard]] const authority::KnownFabric& known() const { return known_; }
  [[nodiscard]] unsigned planes() const { return actuator_.planes(); }
  /// To which the next change moves the traffic.
  [[nodiscard]] unsigned next_plane() const {
    const bool moves = actuator_.movement() == regulation::Movement::Planes;
    return moves ? (governor_.plane() + 1) % planes() : governor_.plane();
  }
  [[nodiscard]] const power::PowerModel& power() const { return options_.governor.power; }
  [[nodiscard]] const regulation::Thresholds& thresholds() const {
    return options_.governor.select.thresholds;
  }
  [[nodiscard]] const power::EnergyAccount& energy() const { return energy_; }
  [[nodiscard]] std::vector<DrainShown> drains() const;
  /// Of the log of decisions; see Scribe::events().
  void events(std::uint64_t after, std::size_t most, journal::Scribe::Read read) const {
    journal_.events(after, most, std::move(read));
  }
  [[nodiscard]] std::size_t reads_waiting() const { return journal_.reads_waiting(); }
  /// Another number: states of links may be others.
  [[nodiscard]] std::uint64_t revision() const { return revision_; }
  [[nodiscard]] const journal::Calendar& calendar() const { return options_.calendar; }
  [[nodiscard]] std::vector<authority::KnownLink> known_links() const override;
  [[nodiscard]] std::vector<LinkRef> links_off() const override;
  [[nodiscard]] std::vector<LinkRef> links_withheld() const override;
  [[nodiscard]] std::vector<LinkRef> links_forced() const override { return governor_.forced(); }
  [[nodiscard]] std::vector<NodeGuid> switches_drained() const override;
  void on_evidence(const std::vector<regulation::OffRecord>& off, Instant now) override;
  void on_lids(std::vector<authority::PortLid> lids) override;
  /// Turned off, on, or to another mode and seen there, since the start of the program.
  struct Transitions {
    std::uint64_t off = 0;
    std::uint64_t on = 0;
    std::uint64_t reduced = 0;
    std::uint64_t failed = 0;
    /// From the order to the answer that all links of that order are Active: what load waited for at most.
    FabricClock::duration waited{};   ///< of all links that were turned on
    FabricClock::duration longest{};  ///< of one of them
  };
  [[nodiscard]] const Transitions& transitions() const { return transitions_; }
  [[nodiscard]] const power::Tariff& tariff() const { return options_.tariff; }
  /// What was measured at switches against their models.
  [[nodiscard]] const std::vector<power::Compared>& measured() const { return compared_; }
  /// Switches that no power model knows.
  [[nodiscard]] std::vector<NodeGuid> unknown_switches() const;
  /// Why the regulation does not work as it should.
  [[nodiscard]] Problems problems() const;

 private:
  struct StepUnderWay {
    Instant until;
    std::vector<LinkRef> links;  ///< whose ports it sets
  };

  template <class What>
  void feed(What what, Instant now) {
    carry_out(governor_.on({now, std::move(what)}), now);
  }
  void carry_out(std::vector<regulation::Action> actions, Instant now);
  void perform(const regulation::Record& record, Instant now);
  void perform(const regulation::WriteTables& write, Instant now);
  void perform(const regulation::Migrate& migrate, Instant now);
  void perform(const regulation::SetPorts& set, Instant now);
  void perform(const regulation::LookAtQueues& look, Instant now);
  void perform(const regulation::Cancel& cancel, Instant now);
  void perform(const regulation::Report& report, Instant now);
  void perform(const regulation::Answer& answer, Instant now);

  /// Hands over to the journal what is not stored.
  void store(Instant now);
  /// What the disk says to any write: it is in trouble from the first that it refuses to the next that it
  /// takes, as long as no record waits.
  void heed(const Result<void>& stored);
  /// Whether something waits for a disk that has refused it, or is not known to be well again.
  [[nodiscard]] bool wants_the_disk() const { return !unstored_.empty() || !journal_trouble_.empty(); }
  /// Writes what may be written again, to see whether it is taken.
  void look_at_the_disk(Instant now);
  void put_lids(std::vector<authority::PortLid> lids);
  void begin(regulation::StepId step, Instant now);
  void order(regulation::StepId step, const std::vector<LinkOrder>& orders, Instant now);
  /// Nobody waits for it any more.
  void give_up(regulation::StepId step, Instant now);
  void done(regulation::StepId step, const Result<void>& result, Instant now);
  void set(regulation::StepId step, const std::vector<LinkOutcome>& outcomes,
           const std::vector<LinkOrder>& orders, Instant ordered, Instant now);
  /// Ends of the links that may have a queue, as far as is known.
  [[nodiscard]] std::map<PortRef, LinkRef> ends_with_queues(const std::vector<LinkRef>& links,
                                                            Instant now) const;
  void looked(regulation::StepId step, const std::map<PortRef, LinkRef>& ends,
              const std::vector<sampling::QueueLook>& looks, Instant now);
  void later(regulation::Event event);
  void tell_of_what_came(const std::vector<LinkRef>& left, Instant now);
  void compare(const KnownFabric& known, Instant now);
  void look_for_contradictions(Instant now);
  void account(Instant now);
  void calibrate();
  [[nodiscard]] bool has_faults() const;
  /// Turns them on; a sentence that lists them.
  std::string adopt(const std::string& by, Instant now);
  std::string enable(const std::vector<PortRef>& ports, const std::string& by, Instant now);
  void adopt_more(Instant now);
  void log(regulation::ReportKind kind, const std::string& links, const std::string& text, Instant now);
  void add_problems_of_links(Problems& problems) const;
  /// Without anybody's order, and not forgotten; of a run before, too. Cables between switches that are
  /// there.
  [[nodiscard]] Gone gone() const;
  void add_those_of_before(Gone& gone) const;
  void keep_cables(bool other_topology);
  /// In the fabric as it is known.
  [[nodiscard]] bool is_up(const LinkRef& link) const;
  [[nodiscard]] std::string cut_off_hosts() const;
  [[nodiscard]] std::string name(NodeGuid node) const;
  [[nodiscard]] std::string name(const PortRef& port) const;
  [[nodiscard]] std::string names(const std::vector<NodeGuid>& nodes) const;
  [[nodiscard]] std::string names(const std::vector<LinkRef>& links) const;
  [[nodiscard]] std::string names(const std::vector<PortRef>& ports) const;
  regulation::CommandId remember(Reply reply);

  RegulatorOptions options_;
  journal::Scribe& journal_;
  Actuator& actuator_;
  Log log_;
  regulation::Governor governor_;
  power::EnergyAccount energy_;
  /// What the energy account reckons with. To set it goes over all links; most events change none.
  struct Accounted {
    std::shared_ptr<const Fabric> reference;
    std::vector<power::LinkMode> modes;
    std::vector<power::LinkMode> full;
    friend bool operator==(const Accounted&, const Accounted&) = default;
  };
  Accounted accounted_;
  std::shared_ptr<const Fabric> calibrated_for_;  ///< the readings were last compared with
  std::vector<power::Compared> compared_;
  std::vector<std::string> unmatched_readings_;  ///< of switches that the fabric has not

  KnownFabric known_;
  KnownCables cables_;
  bool restarted_ = false;
  struct Seen {
    Instant since;
    std::uint64_t looks = 0;  ///< until then
  };
  std::map<LinkRef, Seen> up_though_off_;  ///< by sweeps
  std::uint64_t looks_ = 0;
  std::map<regulation::StepId, StepUnderWay> steps_;
  std::deque<regulation::Event> due_;  ///< what came up within a call
  std::map<regulation::CommandId, Reply> replies_;
  std::uint64_t last_command_ = 0;
  std::optional<Instant> save_at_;
  std::deque<regulation::Record> waiting_;   ///< to be handed over to the journal
  std::deque<regulation::Record> unstored_;  ///< from the first one that the disk has refused on
  std::size_t storing_ = 0;                  ///< records of which no word has come back
  Instant store_at_;
  std::string journal_trouble_;
  bool ranks_wait_ = false;    ///< for the disk
  bool lids_refused_ = false;  ///< by it
  struct Adopting {
    std::string by;
    Instant until;
    std::set<PortRef> enabled;
  };
  std::optional<Adopting> adopting_;  ///< the order to adopt what is disabled, while it counts
  std::uint64_t revision_ = 0;
  std::vector<std::string> unmatched_pins_;
  std::string cut_off_;  ///< as of the last decision, while a link or switch is lost
  Transitions transitions_;
  QueueLooker look_at_queues_;
  std::map<NodeGuid, Instant> no_queues_until_;  ///< of switches that did not tell
};

}  // namespace heddle::regulate
