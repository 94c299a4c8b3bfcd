/// QoS tables of the fabric that the daemon manages: pushes what operators ask for, compares from time to
/// time, writes again what comes back, and keeps on disk what was pushed. Where the daemon is not the subnet
/// manager, nothing is written to ports; the plan file tells the OpenSM plugin.
///
/// What is pushed is on disk before anything goes out: a daemon that ends in between finds out what was
/// meant.
///
/// On the core's thread, which waits for no disk.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "authority/plan_store.h"
#include "base/desk.h"
#include "core/outside.h"
#include "core/qos_control.h"

namespace heddle::core {

/// Where assignments outlive the daemon.
struct QosStore {
  /// What was pushed before, or why that is not known.
  Result<std::vector<vlarb::Assignment>> kept = std::vector<vlarb::Assignment>{};
  /// Takes the place of all that was kept; waits for the disk. On the desk's thread.
  std::function<Result<void>(const std::vector<vlarb::Assignment>&)> store;
};

class QosService final : public QosControl {
 public:
  /// Why the ports may not be written by this program; empty if they may.
  using WhyNot = std::function<std::string()>;

  struct Around {
    transport::TransactionEngine& engine;
    opensm::PlanStore& plans;
    Desk desk;
    QosStore store;
    vlarb::NameOf name_of;
    WhyNot why_not;
    WhyNot why_no_qos;                   ///< neither from here nor by the plan
    std::function<void()> plan_written;  ///< for OpenSM's plugin
    vlarb::PaceOf pace;
    Say say;
    std::function<void()> told;  ///< what is known of tables is another
  };

  QosService(Around around, std::uint64_t m_key, FabricClock::duration verify_interval);

  /// What was pushed elsewhere takes the place of all that is known here. Before use().
  void know(std::vector<vlarb::Assignment> pushed);
  /// As a sweep found the fabric, before any subnet manager here has worked on it.
  void found(const Survey& survey) { keeper_.note(survey); }
  /// The fabric as it is known from here on. Ports that the subnet manager has brought back get their tables
  /// again.
  void use(std::shared_ptr<const Survey> survey);
  /// Zero: only when asked to.
  void set_verify_interval(FabricClock::duration interval);
  void on_timer(Instant now);
  [[nodiscard]] std::optional<Instant> next_deadline() const;
  void stop();

  /// Sentences for the operator.
  [[nodiscard]] std::vector<std::string> problems() const;

  // QosControl
  void push(const QosPush& push, Pushed done) override;
  void verify(Verified done) override;
  void forget(Forgotten done) override;
  [[nodiscard]] QosState state() const override { return state_of(keeper_); }
  [[nodiscard]] std::string name_of(const PortRef& port) const override;

 private:
  using Then = std::function<void(const Result<void>&)>;

  [[nodiscard]] Instant now() const { return around_.desk.now(); }
  [[nodiscard]] bool verifies_in_turn() const { return verify_interval_ != verify_interval_.zero(); }
  void load();
  /// Brings `intended_` to disk.
  void store(Then then);
  void write_plan(Then then);
  void pushed(vlarb::Assignment assignment, const Pushed& done);
  void verify_in_turn(Instant now);
  void told(const char* what, const vlarb::Outcome& outcome);
  void say(Severity severity, const std::string& text) const { around_.say(severity, "QoS: " + text); }

  Around around_;
  FabricClock::duration verify_interval_;
  vlarb::Keeper keeper_;
  std::vector<vlarb::Assignment> intended_;  ///< with what is on its way to the disk
  std::size_t storing_ = 0;                  ///< times that it is
  std::optional<Instant> verify_at_;
  std::shared_ptr<const Survey> survey_;
  std::string broken_file_;  ///< why what was pushed before is not known
  bool verified_once_ = false;
  bool verifying_ = false;  ///< in turn
  bool stopped_ = false;
};

}  // namespace heddle::core
