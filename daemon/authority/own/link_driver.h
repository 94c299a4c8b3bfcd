/// Takes links down and brings them back by Sets of PortInfo on one of their ports (IBA 14.2.5.6), and sees
/// both ends there. Reads a port immediately before it writes it, so that a Set undoes nothing that others
/// set. What does not come about is taken back. A port that is to come up and is found Disabled is ordered
/// again: an earlier Set for it may have been late. A link counts as up when no copy of a Set can take it
/// down any more (late_sets.h).
///
/// Links that train are raised to Active by the subnet manager, as all others are.
///
/// A state machine over the transaction engine, on its thread. Any number of orders at a time, one run of
/// them at a time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "authority/own/batch.h"
#include "authority/own/late_sets.h"
#include "mad/survey.h"
#include "power/power_model.h"
#include "routing/packet_life.h"

namespace heddle::provision {

struct LinkJob {
  enum class To : std::uint8_t { Off, On, Reduced };
  LinkEnd near;  ///< is set
  /// None: nobody has seen its node while the link is off. Only On goes without.
  std::optional<LinkEnd> far;
  To to = To::Off;
  /// Of Reduced: to be enabled at most. Of On: the full mode; where the port does not enable it, all that it
  /// supports is enabled.
  power::LinkMode mode;
  /// Of On: may take so long, where that is longer than any link may.
  FabricClock::duration patience{};
};

struct LinkDriverOptions {
  using Duration = FabricClock::duration;

  std::uint64_t m_key = 0;
  Duration first_look = std::chrono::milliseconds{20};  ///< each later one waits twice as long
  Duration longest_look = std::chrono::seconds{1};
  Duration until_down = std::chrono::seconds{5};
  Duration until_up = std::chrono::seconds{30};         ///< training takes seconds (paper, table 2)
  Duration packet_life = routing::default_packet_life;  ///< of late copies of Sets
};

class LinkDriver {
 public:
  /// Of each job, in their order: why it is not so.
  using Done = std::function<void(const std::vector<std::optional<Error>>&, Instant now)>;
  /// A link between these nodes has trained: the subnet manager should look there.
  using Trained = std::function<void(const std::vector<NodeGuid>& nodes, Instant now)>;
  /// These jobs of the run, of those to On, are there, and others are not decided yet.
  using There = std::function<void(const std::vector<std::size_t>& jobs, Instant now)>;
  /// What a port of a link has answered.
  using States = std::function<void(const PortRef& port, PortState state)>;

  /// `late_sets` is of all drivers of these ports, and outlives them.
  LinkDriver(transport::TransactionEngine& engine, const LinkDriverOptions& options, LateSets& late_sets,
             Trained trained)
      : options_{options},
        late_sets_{late_sets},
        trained_{std::move(trained)},
        batch_{engine, [this](std::uint64_t tag) { return way_of(tag); }} {}

  /// Whom to tell, of every run.
  void tell(There there) { there_ = std::move(there); }
  void tell_of_states(States states) { states_ = std::move(states); }

  /// The survey's directed routes must not lead over links that go down.
  void run(std::shared_ptr<const Survey> survey, std::vector<LinkJob> jobs, Instant now, Done done);
  [[nodiscard]] bool busy() const { return done_ != nullptr; }
  /// This job of the run is not wanted any more: it is left as far as it got, and has failed. The answer
  /// comes as for all others, when no request of it is under way any more.
  void call_off(std::size_t job) { tasks_[job].called_off = true; }

  /// From here on, what is under way too takes these directed routes.
  void take_routes(const Survey& from);

  void on_timer(Instant now);
  [[nodiscard]] std::optional<Instant> next_deadline() const { return look_at_; }

 private:
  struct Task {
    LinkJob job;
    std::optional<mad::PortInfo> near;  ///< as it answered last
    std::optional<mad::PortInfo> far;
    std::optional<Error> failure;
    bool ordered = false;
    bool set = false;  ///< a Set has gone out
    bool there = false;
    bool trained = false;
    bool called_off = false;
    [[nodiscard]] bool decided() const { return there || failure.has_value(); }
  };
  enum class Which : std::uint8_t { Near, Far };

  void order(Instant now);
  void look(Instant now);
  void judge(Instant now);
  [[nodiscard]] LinkDriverOptions::Duration time_for(const LinkJob& job) const;
  [[nodiscard]] static bool is_undone(const Task& task);
  void undo(Instant now);
  void finish(Instant now);
  [[nodiscard]] bool has_other_way(const Survey& from, const LinkJob& job) const;
  [[nodiscard]] std::optional<Batch::Way> way_of(std::uint64_t tag) const;
  [[nodiscard]] std::optional<Step> ask(std::size_t task, Which which) const;
  [[nodiscard]] std::optional<Step> set(std::size_t task, const mad::PortInfo& info) const;
  [[nodiscard]] std::optional<mad::PortInfo> wanted(const Task& task) const;
  [[nodiscard]] bool is_there(const Task& task) const;
  /// Before this, a late copy of a Set may change what is there.
  [[nodiscard]] Instant settled(const LinkJob& job) const;
  void note_late(LinkEnd end, const transport::Completion& completion);
  [[nodiscard]] std::string name(LinkEnd end) const;
  void take(std::uint64_t tag, const transport::Completion& completion);

  LinkDriverOptions options_;
  LateSets& late_sets_;
  Trained trained_;
  There there_;
  States states_;
  Batch batch_;
  std::shared_ptr<const Survey> survey_;
  std::vector<Task> tasks_;
  Done done_;
  std::optional<Instant> look_at_;
  LinkDriverOptions::Duration pause_{};
  Instant begun_;
  bool stopped_ = false;
};

}  // namespace heddle::provision
