/// Knows which tables were pushed to which ports, writes them, compares, and remembers what differs: the
/// state of QoS in the fabric. Orders are carried out one after the other. What it keeps across restarts
/// (the assignments) its owner stores.
///
/// On the transaction engine's thread; never blocks. The engine must be stopped before it goes away.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "vlarb/programmer.h"
#include "vlarb/targets.h"

namespace heddle::vlarb {

/// What an order came to.
struct Outcome {
  Report report;
  std::vector<Shortfall> shortfalls;
};

class Keeper {
 public:
  using Done = std::function<void(const Outcome&)>;

  static constexpr std::size_t most_assignments = 64;
  static constexpr std::size_t most_orders = 16;

  Keeper(transport::TransactionEngine& engine, std::uint64_t m_key, NameOf name_of, PaceOf pace = {});

  /// What was pushed, as the disk has it: all of it.
  void keep(std::vector<Assignment> assignments) { assignments_ = std::move(assignments); }
  [[nodiscard]] const std::vector<Assignment>& assignments() const { return assignments_; }

  /// Adds an assignment to what is kept, or to `assignments`: one for all ports takes the place of all
  /// others, one with the same filter that one's. Errors: Refused for more than most_assignments.
  Result<void> assign(Assignment assignment) { return add(assignments_, std::move(assignment)); }
  static Result<void> add(std::vector<Assignment>& assignments, Assignment assignment);
  /// Forgets all; the tables stay in the fabric.
  void forget();

  /// The ports of one assignment alone, whether or not it is kept. Errors: Conflict when too many orders
  /// wait.
  Result<void> write(std::shared_ptr<const Survey> survey, std::vector<Assignment> assignments, Instant now,
                     Done done);
  Result<void> check(std::shared_ptr<const Survey> survey, std::vector<Assignment> assignments, Instant now,
                     Done done);

  /// All assignments, all ports. What is found is what drift() and silent() say.
  Result<void> verify(std::shared_ptr<const Survey> survey, Instant now, Done done);
  /// A sweep found this: its ports that are not Active may come back without their tables. What it has not is
  /// found so if it comes back.
  void note(const Survey& survey);
  /// Such ports that are Active in `after`: a subnet manager has just brought them back. Where there are
  /// none, nothing is done, and nobody is called.
  Result<void> reapply(std::shared_ptr<const Survey> after, Instant now, Done done);

  [[nodiscard]] bool busy() const { return programmer_.busy() || !orders_.empty(); }

  /// Where it goes at a pace.
  void on_timer(Instant now) { programmer_.on_timer(now); }
  [[nodiscard]] std::optional<Instant> next_deadline() const { return programmer_.next_deadline(); }

  using Findings = std::map<PortRef, std::string>;
  [[nodiscard]] const Findings& drift() const { return drift_; }
  [[nodiscard]] const Findings& silent() const { return silent_; }
  /// Of the last verify.
  [[nodiscard]] const std::vector<Shortfall>& shortfalls() const { return shortfalls_; }
  [[nodiscard]] std::size_t ports() const { return ports_; }
  [[nodiscard]] std::optional<Instant> verified() const { return verified_; }
  [[nodiscard]] std::uint64_t reapplied() const { return reapplied_; }
  /// Ports that may come back without their tables.
  [[nodiscard]] std::size_t awaited() const { return returning_.size(); }

 private:
  enum class Purpose : std::uint8_t { Look, Write, Verify, Reapply };
  struct Order {
    Purpose purpose = Purpose::Look;
    std::shared_ptr<const Survey> survey;
    std::shared_ptr<Targets> targets;
    Done done;
  };

  Result<void> take(Order order, Instant now);
  void next(Instant now);
  void finished(const Order& order, const Report& report);
  void remember(const Order& order, const Report& report);

  Programmer programmer_;
  NameOf name_of_;
  std::vector<Assignment> assignments_;
  std::deque<Order> orders_;
  std::unordered_set<PortRef> returning_;
  Findings drift_;
  Findings silent_;
  std::vector<Shortfall> shortfalls_;
  std::size_t ports_ = 0;
  std::optional<Instant> verified_;
  std::uint64_t reapplied_ = 0;
};

}  // namespace heddle::vlarb
