/// The shell around the core: configuration, backend, alarm, doors, notices, metrics and page, and how they
/// hold each other. Wired, and told what happens, in heddled.cc; read anew and ended in heddled_reload.cc;
/// what is told of them to others is in heddled_state.cc. What the daemon does to its fabric is in core/.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apm/seal.h"
#include "app/alarm.h"
#include "app/authorities.h"
#include "app/backend.h"
#include "app/disk_thread.h"
#include "app/doors.h"
#include "app/heddled.h"
#include "app/job_service.h"
#include "app/recording_file.h"
#include "app/service_notifier.h"
#include "app/shared_state.h"
#include "control/api.h"
#include "control/tcp_guard.h"
#include "core/fabric_core.h"
#include "fabric/node_names.h"
#include "journal/journal.h"
#include "metrics/health_families.h"
#include "metrics/metrics.h"
#include "metrics/notify_families.h"
#include "metrics/problem_families.h"
#include "metrics/qos_metrics.h"
#include "metrics/regulation_metrics.h"
#include "metrics/subnet_manager_families.h"
#include "notify/notifier.h"
#include "record/recorder.h"
#include "transport/fenced_transport.h"
#include "transport/sealed_transport.h"
#include "web/page.h"

namespace heddle::app {

/// The parts in the order in which they depend on each other; they go away in the opposite one.
class Heddled::Parts final : public control::Daemon, private core::Outside {
 public:
  /// `recording` may be null: nothing is recorded.
  Parts(boost::asio::io_context& io, ConfigSource source, Config config, std::unique_ptr<Backend> backend,
        NodeNames names, std::unique_ptr<RecordingFile> recording, const std::optional<apm::Key>& agents_key);
  ~Parts();

  Result<void> open();
  Result<void> listen();
  void begin();
  void reload();
  void stop();
  [[nodiscard]] bool starts_anew() const { return starts_anew_; }

  [[nodiscard]] control::DaemonState state() const override;
  void publish(const core::RegulationControl& regulation);
  void show_orders(const regulation::Memory& memory, control::DaemonState& state) const;
  [[nodiscard]] control::Answers& answers() override { return doors_.answers(); }
  [[nodiscard]] Result<Scrape> metrics(const std::map<std::string, std::string>& query,
                                       bool open_metrics) override;
  Result<void> look_at_queues(const std::vector<PortIndex>& ports, sampling::QueueProbe::Done done) override {
    return core_.look_at_queues(ports, std::move(done));
  }
  control::QosControl* qos() override { return &core_.qos(); }
  Result<std::string> take_subnet(const std::string& by) override { return core_.take_subnet(by); }
  [[nodiscard]] control::TwinParts twin() const override;
  [[nodiscard]] std::optional<std::vector<Lid>> lids_through(const PortRef& port) const override {
    return core_.authority().lids_through(port);
  }
  [[nodiscard]] core::RegulationControl* regulation() override { return core_.regulation_control(); }
  [[nodiscard]] std::optional<control::HostAgentsShown> host_agents() const override;
  [[nodiscard]] std::string why_no_regulation() const override;
  void ordered() override { doors_.answers().outdate(); }

 private:
  // What the core tells.
  void say(core::Severity severity, const std::string& text) override;
  void on_survey() override;
  void on_sample(const std::shared_ptr<const load::Sample>& sample) override;
  void on_logged(const journal::Event& event) override;
  void on_qos() override;
  void on_rest() override { finish(); }

  /// All that happens to the core enters here. Afterwards the alarm stands for what waits.
  void on(const core::Event& event);
  /// enter(), and whether that took long.
  void feed(const core::Event& event, Instant now);
  /// Into the recording, where there is one, and the core.
  void enter(const core::Event& event, Instant now);
  [[nodiscard]] Enter entering(core::Source from) {
    return [this, from](const std::function<void()>& then) { on(core::CameBack{then, from}); };
  }
  /// Beneath whatever records or fences: what the core sends, before it leaves the daemon.
  [[nodiscard]] transport::Transport& outermost() {
    if (sealed_) return *sealed_;
    return backend_->transport();
  }
  [[nodiscard]] transport::Transport& way_in() {
    if (fenced_) return *fenced_;
    return recorder_ ? *recorder_ : outermost();
  }
  [[nodiscard]] Desk desk();
  [[nodiscard]] AroundAuthority around_authority();
  [[nodiscard]] opensm::PlanStore::File plan_file();
  [[nodiscard]] core::QosStore qos_file();
  Result<void> take_journal();
  void regulate();
  Result<void> begin_recording();
  void on_alarm(Instant now);
  void settle();

  // Of a daemon that owns the fabric by turns with others (heddled_sharing.cc).
  Result<void> follow();
  void take_over(SharedState::Taken taken);
  void follow_plan(plan::Plan plan);
  /// Whether the place was lost just now; nothing is done any more then.
  bool lost_place();
  void lose_place(const std::string& why);
  [[nodiscard]] control::SharedStateShown shared_state() const;

  void reload_destinations(const Config& fresh);
  void start_anew(const std::vector<std::string>& keys);
  void finish();
  void tell_metrics_of_the_master();
  [[nodiscard]] Problems problems() const;
  void tell_problems();
  [[nodiscard]] std::optional<std::string> no_switch() const;
  [[nodiscard]] std::vector<std::string> rails_without_daemon() const;
  [[nodiscard]] control::SubnetManagerState subnet_manager_state() const;

  boost::asio::io_context& io_;
  ConfigSource source_;
  Config config_;
  std::unique_ptr<Backend> backend_;
  NodeNames names_;  ///< that the operator gave
  const transport::Clock& clock_;
  Instant started_;
  journal::Calendar calendar_;

  std::unique_ptr<transport::SealedTransport> sealed_;  ///< none where nobody speaks with agents of hosts
  std::unique_ptr<RecordingFile> recording_;
  std::unique_ptr<record::Recorder> recorder_;  ///< none where nothing is recorded
  std::unique_ptr<regulate::PathMigrator> recorded_hosts_;
  std::unique_ptr<SharedState> shared_;                 ///< none where this daemon is alone
  std::unique_ptr<transport::FencedTransport> fenced_;  ///< likewise
  bool owns_ = false;                                   ///< of a daemon that is not alone
  std::vector<PortRef> left_off_;              ///< by an earlier run, where this one regulates nothing
  std::unique_ptr<journal::Journal> journal_;  ///< the disk thread has it; none where nothing is regulated
  DiskThread disk_;
  notify::Notifier notices_;
  opensm::PlanStore plans_;
  AuthorityInForce in_force_;  ///< but for the authority, which the core has
  core::FabricCore core_;
  Alarm alarm_;
  std::optional<Instant> check_at_;  ///< the way into the fabric
  std::optional<Instant> page_at_;   ///< what regulation has changed
  ServiceNotifier notifier_;

  metrics::Metrics metrics_;
  std::shared_ptr<metrics::SubnetManagerMetrics> master_metrics_ =
      std::make_shared<metrics::SubnetManagerMetrics>();
  std::shared_ptr<metrics::ProblemMetrics> problem_metrics_ = std::make_shared<metrics::ProblemMetrics>();
  std::shared_ptr<metrics::NotifyMetrics> notify_metrics_ = std::make_shared<metrics::NotifyMetrics>();
  std::shared_ptr<metrics::HealthMetrics> health_metrics_ = std::make_shared<metrics::HealthMetrics>();
  std::shared_ptr<metrics::RegulationMetrics> regulation_metrics_ =
      std::make_shared<metrics::RegulationMetrics>();
  metrics::QosMetrics qos_metrics_;
  JobService jobs_;
  web::Page page_;
  Doors doors_;
  std::shared_ptr<control::TcpGuard> guard_ = std::make_shared<control::TcpGuard>();

  std::optional<std::string> reload_wrong_;  ///< what the last SIGHUP did not do
  bool stop_asked_ = false;
  bool starts_anew_ = false;
  bool stopping_ = false;
};

}  // namespace heddle::app
