/// All parts of the daemon, and how they hold each other. Wired, and told what happens, in heddled.cc; what
/// is told of them to others is in heddled_state.cc.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/alarm.h"
#include "app/backend.h"
#include "app/doors.h"
#include "app/heddled.h"
#include "app/qos_service.h"
#include "app/regulation.h"
#include "app/sampling_watch.h"
#include "app/service_notifier.h"
#include "app/sm_observer.h"
#include "authority/own/subnet_manager.h"
#include "control/api.h"
#include "control/tcp_guard.h"
#include "discovery/discovery.h"
#include "fabric/node_names.h"
#include "fabric/unique_names.h"
#include "metrics/metrics.h"
#include "metrics/problem_families.h"
#include "metrics/subnet_manager_families.h"
#include "sampling/queue_probe.h"
#include "sampling/sampler.h"
#include "transport/transactions.h"
#include "web/page.h"

namespace heddle::app {

/// The parts in the order in which they depend on each other; they go away in the opposite one.
class Heddled::Parts final : public control::Daemon, private regulate::FabricSeat {
 public:
  Parts(boost::asio::io_context& io, ConfigSource source, Config config, std::unique_ptr<Backend> backend,
        NodeNames names);

  Result<void> open();
  Result<void> listen();
  void begin();
  void reload();
  void stop();

  [[nodiscard]] control::DaemonState state() const override;
  [[nodiscard]] control::Answers& answers() override { return doors_.answers(); }
  [[nodiscard]] control::Answers::Make metrics() override;
  Result<void> look_at_queues(const std::vector<PortIndex>& ports, sampling::QueueProbe::Done done) override;
  control::QosControl* qos() override { return &qos_; }
  Result<std::string> take_subnet(const std::string& by) override;
  [[nodiscard]] std::optional<std::vector<Lid>> lids_through(const PortRef& port) const override {
    return manager_ ? manager_->lids_through(port) : std::nullopt;
  }
  [[nodiscard]] const regulate::Regulator* regulator() const override {
    return regulation_ ? &std::as_const(*regulation_).regulator() : nullptr;
  }
  [[nodiscard]] std::string why_no_regulation() const override;
  [[nodiscard]] Instant now() const override { return clock_.now(); }
  void command(const Command& command) override {
    command(regulation_->regulator(), clock_.now());
    doors_.answers().outdate();
    settle();
  }

 private:
  // What the regulation needs of the fabric.
  [[nodiscard]] std::shared_ptr<const Survey> survey() const override { return survey_; }
  void adopt(std::shared_ptr<const Survey> survey) override {
    discovery_.adopt(survey);
    use(std::move(survey));
  }
  void look_at(const std::vector<NodeGuid>& nodes, Instant now) override {
    discovery_.rediscover(nodes, now);
  }

  void finish();
  void on_unsolicited(const mad::Packet& packet, Instant at);
  void on_sweep(const discovery::SweepReport& report);
  void on_configured(const provision::ProvisionReport& report);
  void use(std::shared_ptr<const Survey> survey);
  [[nodiscard]] std::string why_not_to_write() const;
  [[nodiscard]] std::optional<std::string> nobody_manages() const;
  void on_sample(const std::shared_ptr<const load::Sample>& sample);
  void settle();
  void tell_metrics_of_the_master();
  [[nodiscard]] Problems problems() const;
  [[nodiscard]] std::optional<std::string> no_switch() const;
  [[nodiscard]] std::optional<std::string> why_not_regulated() const;
  [[nodiscard]] bool is_master() const { return manager_ && manager_->is_master(); }
  [[nodiscard]] control::SubnetManagerState subnet_manager_state() const;

  boost::asio::io_context& io_;
  ConfigSource source_;
  Config config_;
  std::unique_ptr<Backend> backend_;
  NodeNames names_;  ///< that the operator gave
  std::shared_ptr<const ShownNames>
      shown_;                             ///< the same, in the forms that tell the nodes of the survey apart
  std::shared_ptr<const Planes> planes_;  ///< of the survey
  const transport::Clock& clock_;
  Instant started_;

  transport::TransactionEngine engine_;
  discovery::Discovery discovery_;
  opensm::PlanStore plans_;
  std::unique_ptr<Regulation> regulation_;           ///< none where this can never be the subnet manager
  std::optional<provision::SubnetManager> manager_;  ///< none when the configuration says never
  SmObserver master_;
  bool yields_ = false;  ///< another one was master: from then on this one only watches
  sampling::Sampler sampler_;
  SamplingWatch sampling_watch_;
  sampling::QueueProbe queues_;
  QosService qos_;
  Alarm engine_alarm_;
  Alarm sampler_alarm_;
  Alarm queues_alarm_;
  Alarm discovery_alarm_;
  Alarm manager_alarm_;  ///< where no regulation keeps the subnet manager's time
  Alarm light_alarm_;
  Alarm heavy_alarm_;
  Alarm page_alarm_;
  ServiceNotifier notifier_;

  metrics::Metrics metrics_;
  std::shared_ptr<metrics::SubnetManagerMetrics> master_metrics_ =
      std::make_shared<metrics::SubnetManagerMetrics>();
  std::shared_ptr<metrics::ProblemMetrics> problem_metrics_ = std::make_shared<metrics::ProblemMetrics>();
  web::Page page_;
  Doors doors_;
  std::shared_ptr<control::TcpGuard> guard_ = std::make_shared<control::TcpGuard>();

  std::shared_ptr<const Survey> survey_;   ///< as it was found, or as it was configured after that
  std::vector<std::string> found_wrong_;   ///< by the last sweep
  std::vector<std::string> could_not_do_;  ///< of the last configuration
  std::size_t most_switches_ = 0;          ///< that a survey had since the start
  bool stop_asked_ = false;
  bool stopping_ = false;
};

}  // namespace heddle::app
