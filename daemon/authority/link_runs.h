/// Port states: which links are set, when, and what came of it. One order at a time for a link:
///
///   Waiting     an earlier order for the link is under way, called off
///   Closing     Off, Reduced: tables are being written without it
///   Ready       for the window in which ports may be set (beside OpenSM, between two of its sweeps). On
///   waits
///               for nothing longer than a few seconds: a port that comes up during a sweep does less harm
///               than a link that is missing
///   Driving     the port is being set
///
/// A later order calls earlier ones for its link off, wherever they stand, and begins when nothing of them
/// can arrive any more. What is called off has failed; what was not begun is never begun.
///
/// The io_context thread. Answers nothing from within a call.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "authority/actuator.h"
#include "authority/deferred.h"
#include "mad/survey.h"

namespace heddle::authority {

/// Sets ports; one run at a time. May answer from within run().
class PortSetter {
 public:
  /// Of each order, in their sequence: why it is not so.
  using Done = std::function<void(const std::vector<std::optional<Error>>&, Instant now)>;

  /// These orders, all to On, have come about, and others have not yet.
  using There = std::function<void(const std::vector<std::size_t>& orders, Instant now)>;

  virtual ~PortSetter() = default;
  virtual void run(const std::vector<regulate::LinkOrder>& orders, Instant now, Done done) = 0;
  /// This order of the run is not wanted any more. The answer comes as for all others.
  virtual void call_off(std::size_t order) = 0;
  /// Whom to tell of the run that comes next.
  virtual void tell(There /*there*/) {}
  /// From here on, what is under way too takes these directed routes.
  virtual void take_routes(const Survey& /*from*/) {}
  virtual void on_timer(Instant now) = 0;
  [[nodiscard]] virtual std::optional<Instant> next_deadline() const = 0;
};

/// What runs need of those around them.
class LinkRunsSeat {
 public:
  using Closed = std::function<void(const Result<void>&, Instant now)>;
  enum class Window : std::uint8_t { Open, Shut, Nobody };  ///< Nobody: nobody routes around anything

  [[nodiscard]] virtual Window window() const = 0;
  /// Why this can never be; none if it can.
  [[nodiscard]] virtual std::optional<Error> why_not(const regulate::LinkOrder& order) const = 0;
  /// Answers when no table leads over any link of closed() any more; `links` are those that have just come.
  virtual void write_tables_without(const std::vector<LinkRef>& links, Instant now, Closed done) = 0;
  [[nodiscard]] virtual std::unique_ptr<PortSetter> make_setter() = 0;
  /// closed() or going() are others.
  virtual void on_closed_changed() {}

 protected:
  ~LinkRunsSeat() = default;
};

class LinkRuns {
 public:
  using Order = regulate::LinkOrder;
  using Done = regulate::Actuator::LinksDone;

  /// How long what comes back waits for the window.
  static constexpr FabricClock::duration patience = std::chrono::seconds{3};

  explicit LinkRuns(LinkRunsSeat& seat) : seat_{seat} {}

  /// Of links that are on before all of their run are; not from within a call.
  void tell(regulate::Actuator::LinksThere there) { there_ = std::move(there); }

  void run(const std::vector<Order>& orders, Instant now, Done done);
  void call_off(const std::vector<LinkRef>& links, Instant now);
  /// Tables lead over links that were to go off, but for `kept_off`: of the others, what is not off yet is
  /// called off, for this reason.
  void call_off_what_goes(const std::vector<LinkRef>& kept_off, const Error& why, Instant now);
  /// The window may be another.
  void look_at_window(Instant now);

  void on_timer(Instant now);
  [[nodiscard]] std::optional<Instant> next_deadline() const;

  /// Links that are off or about to be, which no plan may lead over.
  [[nodiscard]] const std::set<LinkRef>& closed() const { return closed_; }
  /// Of these, the ones of which no port has been ordered yet.
  [[nodiscard]] std::vector<LinkRef> going() const;
  /// It was ordered on, and is not there yet.
  [[nodiscard]] bool turns_on(const LinkRef& link) const;
  void remember_off(const std::vector<LinkRef>& links);

  /// From here on, what is under way too takes these directed routes.
  void take_routes(const Survey& from);
  /// No port is being set.
  [[nodiscard]] bool idle() const { return batches_.empty(); }

 private:
  struct Batch;
  struct Run {
    std::vector<regulate::LinkOutcome> outcomes;
    std::size_t open = 0;
    Done done;
  };
  enum class State : std::uint8_t { Waiting, Closing, Ready, Driving, Ended };
  struct Item {
    Order order;
    std::shared_ptr<Run> run;
    std::size_t number = 0;  ///< in the run
    State state = State::Waiting;
    bool called_off = false;
    Instant ready_at;
    Batch* batch = nullptr;  ///< while Driving
    std::size_t job = 0;     ///< in the batch
  };
  using ItemPtr = std::shared_ptr<Item>;
  struct Batch {
    std::vector<ItemPtr> items;
    std::unique_ptr<PortSetter> setter;
  };

  void begin_what_can(Instant now);
  void closed(const std::vector<ItemPtr>& items, const Result<void>& result, Instant now);
  void drive(std::vector<ItemPtr> items, Instant now);
  void driven(Batch* batch, const std::vector<std::optional<Error>>& failures, Instant now);
  void came(const Batch& batch, const std::vector<std::size_t>& orders, Instant now);
  void call_off(Item& item, const Error& why, Instant now);
  void end(Item& item, std::optional<Error> failure, Instant now);

  LinkRunsSeat& seat_;
  regulate::Actuator::LinksThere there_;
  std::set<LinkRef> closed_;
  std::map<LinkRef, std::deque<ItemPtr>> queues_;  ///< the first of each is under way
  std::vector<std::unique_ptr<Batch>> batches_;
  std::vector<std::unique_ptr<PortSetter>> idle_;  ///< that have answered, and may still be on the stack
  Deferred due_;
};

}  // namespace heddle::authority
