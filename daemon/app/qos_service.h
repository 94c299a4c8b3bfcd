/// QoS tables of the fabric that the daemon manages: pushes what the API asks for, compares from time to
/// time, writes again what comes back, and keeps on disk what was pushed. Where the daemon is not the subnet
/// manager, nothing is written to ports; the plan file tells the OpenSM plugin.
///
/// What is pushed is on disk before anything goes out: a daemon that ends in between finds out what was
/// meant.
///
/// On the io_context thread, which waits for no disk.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/alarm.h"
#include "authority/plan_store.h"
#include "base/desk.h"
#include "control/qos_api.h"
#include "metrics/qos_metrics.h"
#include "vlarb/keeper.h"

namespace heddle::app {

struct QosSettings {
  std::string directory;  ///< of the state
  std::uint64_t m_key = 0;
  FabricClock::duration verify_interval{};  ///< zero: only when asked to
};

class QosService final : public control::QosControl {
 public:
  /// Why the ports may not be written by this program; empty if they may.
  using WhyNot = std::function<std::string()>;
  /// A plan for OpenSM's plugin has been written.
  using PlanWritten = std::function<void()>;

  struct Around {
    boost::asio::io_context& io;
    const transport::Clock& clock;
    transport::TransactionEngine& engine;
    opensm::PlanStore& plans;
    Desk desk;
    vlarb::NameOf name_of;
    WhyNot why_not;
    WhyNot why_no_qos;  ///< neither from here nor by the plan
    PlanWritten plan_written;
    vlarb::PaceOf pace;
  };

  QosService(Around around, QosSettings settings);

  /// As a sweep found the fabric, before any subnet manager here has worked on it.
  void found(const Survey& survey) { keeper_.note(survey); }
  /// The fabric as it is known from here on. Ports that the subnet manager has brought back get their tables
  /// again.
  void use(std::shared_ptr<const Survey> survey);
  void set_verify_interval(FabricClock::duration interval);
  /// After each event: sets the alarm for what it waits for.
  void settle() { pace_alarm_.set(keeper_.next_deadline()); }
  void stop();

  /// Sentences for the operator.
  [[nodiscard]] std::vector<std::string> problems() const;
  [[nodiscard]] const metrics::QosMetrics& metrics() const { return metrics_; }

  // QosControl
  void push(const control::QosPush& push, Pushed done) override;
  void verify(Verified done) override;
  void forget(Forgotten done) override;
  [[nodiscard]] const vlarb::Keeper& keeper() const override { return keeper_; }
  [[nodiscard]] std::string name_of(const PortRef& port) const override;

 private:
  [[nodiscard]] std::string path(const char* file) const { return settings_.directory + "/" + file; }
  using Then = std::function<void(const Result<void>&)>;

  void load();
  /// Brings `intended_` to disk.
  void store(Then then);
  void write_plan(Then then);
  void pushed(vlarb::Assignment assignment, const Pushed& done);
  void verify_in_turn(Instant now);
  void told(const char* what, const vlarb::Outcome& outcome);
  void publish();

  Around around_;
  QosSettings settings_;
  vlarb::Keeper keeper_;
  std::vector<vlarb::Assignment> intended_;  ///< with what is on its way to the disk
  std::size_t storing_ = 0;                  ///< times that it is
  Alarm verify_alarm_;
  Alarm pace_alarm_;
  metrics::QosMetrics metrics_;
  std::shared_ptr<const Survey> survey_;
  std::string broken_file_;  ///< why what was pushed before is not known
  bool verified_once_ = false;
  bool verifying_ = false;  ///< in turn
  bool stopped_ = false;
};

}  // namespace heddle::app
