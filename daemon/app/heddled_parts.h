/// All parts of the daemon, and how they hold each other. Wired, and told what happens, in heddled.cc; what
/// is told of them to others is in heddled_state.cc.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/alarm.h"
#include "app/authorities.h"
#include "app/backend.h"
#include "app/disk_thread.h"
#include "app/doors.h"
#include "app/heddled.h"
#include "app/qos_service.h"
#include "app/regulation.h"
#include "app/sampling_watch.h"
#include "app/service_notifier.h"
#include "app/sm_observer.h"
#include "authority/authority.h"
#include "authority/fabric_seat.h"
#include "control/api.h"
#include "control/tcp_guard.h"
#include "discovery/discovery.h"
#include "fabric/node_names.h"
#include "fabric/unique_names.h"
#include "health/isolation.h"
#include "health/judge.h"
#include "metrics/health_families.h"
#include "metrics/metrics.h"
#include "metrics/notify_families.h"
#include "metrics/problem_families.h"
#include "metrics/subnet_manager_families.h"
#include "notify/notifier.h"
#include "sampling/phy_reader.h"
#include "sampling/queue_probe.h"
#include "sampling/sampler.h"
#include "transport/transactions.h"
#include "web/page.h"

namespace heddle::app {

/// The parts in the order in which they depend on each other; they go away in the opposite one.
class Heddled::Parts final : public control::Daemon, private authority::Seat {
 public:
  Parts(boost::asio::io_context& io, ConfigSource source, Config config, std::unique_ptr<Backend> backend,
        NodeNames names);

  Result<void> open();
  Result<void> listen();
  void begin();
  void reload();
  void stop();
  [[nodiscard]] bool starts_anew() const { return starts_anew_; }

  /// All that happens enters here: packets, alarms, commands, signals, lines of the plugin. Afterwards the
  /// alarms stand for what the parts wait for.
  template <class What>
  auto on_event(const What& what) {
    struct Entered {
      explicit Entered(Parts& of) : parts{of} { ++parts.entered_; }
      ~Entered() {
        if (--parts.entered_ == 0) parts.settle();
      }
      Entered(const Entered&) = delete;
      Entered& operator=(const Entered&) = delete;
      Parts& parts;
    } const entered{*this};
    return what();
  }

  [[nodiscard]] control::DaemonState state() const override;
  [[nodiscard]] control::Answers& answers() override { return doors_.answers(); }
  [[nodiscard]] Result<Scrape> metrics(const std::map<std::string, std::string>& query,
                                       bool open_metrics) override;
  Result<void> look_at_queues(const std::vector<PortIndex>& ports, sampling::QueueProbe::Done done) override;
  control::QosControl* qos() override { return &qos_; }
  Result<std::string> take_subnet(const std::string& by) override;
  [[nodiscard]] std::optional<std::vector<Lid>> lids_through(const PortRef& port) const override {
    return authority_->lids_through(port);
  }
  [[nodiscard]] const regulate::Regulator* regulator() const override {
    return regulation_ ? &std::as_const(*regulation_).regulator() : nullptr;
  }
  [[nodiscard]] std::string why_no_regulation() const override;
  [[nodiscard]] Instant now() const override { return clock_.now(); }
  void command(const Command& command) override {
    on_event([&] { command(regulation_->regulator(), clock_.now()); });
    doors_.answers().outdate();
  }

 private:
  // What whoever writes the fabric needs of the daemon.
  [[nodiscard]] std::shared_ptr<const Survey> survey() const override { return usable_; }
  void adopt(std::shared_ptr<const Survey> survey) override {
    discovery_.adopt(survey);
    use(std::move(survey));
  }
  void look_at(const std::vector<NodeGuid>& nodes, Instant now) override {
    discovery_.rediscover(nodes, now);
  }
  void use(std::shared_ptr<const Survey> survey) override {
    usable_ = survey;
    show(std::move(survey));
  }
  void show(std::shared_ptr<const Survey> survey) override;
  void hold() override { discovery_.hold(); }
  void release(Instant now) override {
    take_manner(now);
    discovery_.release(now);
  }
  void set_change_bits(authority::ChangeBits bits) override {
    discovery_.set_change_bits(bits == authority::ChangeBits::Clear ? discovery::ChangeBits::Clear
                                                                    : discovery::ChangeBits::Leave);
  }

  /// Whoever owns a fabric asks as fast as it can.
  void take_manner(Instant now) {
    using discovery::Manner;
    discovery_.set_manner(authority_->owns_fabric() ? Manner::Owner : Manner::Guest, now);
  }
  void reload_destinations(const Config& fresh);
  void start_anew(const std::vector<std::string>& keys);
  void finish();
  void on_unsolicited(const mad::Packet& packet, Instant at);
  void on_sweep(const discovery::SweepReport& report);
  [[nodiscard]] std::optional<std::string> nobody_manages() const;
  void on_sample(const std::shared_ptr<const load::Sample>& sample);
  void settle();
  void judge_health(const load::Sample& sample);
  void isolate();
  [[nodiscard]] std::vector<health::IsolationOrder> isolated() const;
  /// A callback by which something enters.
  template <class What>
  [[nodiscard]] auto entering(What what) {
    return [self = this, what = std::move(what)](const auto&... of) { self->on_event([&] { what(of...); }); };
  }
  void tell_metrics_of_the_master();
  [[nodiscard]] Problems problems() const;
  void tell_problems();
  [[nodiscard]] std::optional<std::string> no_switch() const;
  [[nodiscard]] std::optional<std::string> why_not_regulated() const;
  [[nodiscard]] std::vector<std::string> rails_without_daemon() const;
  [[nodiscard]] std::optional<std::string> links_left_off() const;
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
  DiskThread disk_;
  notify::Notifier notices_;
  opensm::PlanStore plans_;
  AuthorityInForce in_force_;
  authority::Authority* authority_ = nullptr;  ///< of in_force_
  std::unique_ptr<Regulation> regulation_;     ///< none where nothing can be regulated
  SmObserver master_;
  sampling::Sampler sampler_;
  SamplingWatch sampling_watch_;
  health::Judge health_;
  health::Isolation isolation_;
  std::vector<health::IsolationOrder> to_isolate_;     ///< advised, or given just now
  std::shared_ptr<const health::Report> isolated_by_;  ///< the report that was looked at last
  sampling::QueueProbe queues_;
  sampling::PhyReader phy_;
  QosService qos_;
  Alarm engine_alarm_;
  Alarm sampler_alarm_;
  Alarm queues_alarm_;
  Alarm phy_alarm_;
  Alarm discovery_alarm_;
  Alarm authority_alarm_;
  Alarm light_alarm_;
  Alarm heavy_alarm_;
  Alarm page_alarm_;
  ServiceNotifier notifier_;

  metrics::Metrics metrics_;
  std::shared_ptr<metrics::SubnetManagerMetrics> master_metrics_ =
      std::make_shared<metrics::SubnetManagerMetrics>();
  std::shared_ptr<metrics::ProblemMetrics> problem_metrics_ = std::make_shared<metrics::ProblemMetrics>();
  std::shared_ptr<metrics::NotifyMetrics> notify_metrics_ = std::make_shared<metrics::NotifyMetrics>();
  std::shared_ptr<metrics::HealthMetrics> health_metrics_ = std::make_shared<metrics::HealthMetrics>();
  web::Page page_;
  Doors doors_;
  std::shared_ptr<control::TcpGuard> guard_ = std::make_shared<control::TcpGuard>();

  std::shared_ptr<const Survey> survey_;        ///< as it was found, or as it was configured after that
  std::shared_ptr<const Survey> usable_;        ///< the last one that did not fail to be configured
  std::vector<std::string> found_wrong_;        ///< by the last sweep
  std::vector<health::Duplicate> found_twice_;  ///< likewise
  std::optional<std::string> reload_wrong_;     ///< what the last SIGHUP did not do
  std::vector<PortRef> ports_left_off_;         ///< by an earlier run, where this one regulates nothing
  std::size_t most_switches_ = 0;               ///< that a survey had since the start
  unsigned entered_ = 0;                        ///< on_event() within on_event()
  bool stop_asked_ = false;
  bool starts_anew_ = false;
  bool regulation_rests_ = false;  ///< before starting anew
  bool stopping_ = false;
};

}  // namespace heddle::app
