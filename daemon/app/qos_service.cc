#include "app/qos_service.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "vlarb/store.h"

namespace heddle::app {
namespace {

constexpr const char* store_file = "qos.json";
constexpr std::size_t named_in_a_sentence = 3;

}  // namespace

QosService::QosService(boost::asio::io_context& io, const transport::Clock& clock,
                       transport::TransactionEngine& engine, opensm::PlanStore& plans, QosSettings settings,
                       vlarb::NameOf name_of, WhyNot why_not, PlanWritten plan_written)
    : clock_{clock},
      plans_{plans},
      settings_{std::move(settings)},
      name_of_{std::move(name_of)},
      why_not_{std::move(why_not)},
      plan_written_{std::move(plan_written)},
      keeper_{engine, settings_.m_key, name_of_},
      verify_alarm_{io, clock, [this](Instant now) { verify_in_turn(now); }} {
  load();
}

void QosService::load() {
  auto kept = vlarb::load(path(store_file));
  if (!kept) {
    broken_file_ = fmt::format("QoS: what was pushed is not known: {}", kept.error().message);
    spdlog::error("{}", broken_file_);
    return;
  }
  if (!kept->empty()) spdlog::info("QoS: {} pushed plans are known", kept->size());
  keeper_.restore(*std::move(kept));
}

std::string QosService::name_of(const PortRef& port) const {
  const NodeIndex node = survey_ ? survey_->fabric->find_node(port.node) : no_node;
  const std::string name = node == no_node ? to_string(port.node) : name_of_(survey_->fabric->node(node));
  return fmt::format("{}/{}", name, port.port.raw());
}

void QosService::use(std::shared_ptr<const Survey> survey) {
  survey_ = std::move(survey);
  if (stopped_) return;
  const Instant now = clock_.now();
  // What was pushed is known here, whatever has become of the plan.
  if (!plans_.knows(opensm::PlanStore::Part::Qos) && broken_file_.empty() && !why_not_().empty()) {
    if (auto written = write_plan(); !written) spdlog::warn("QoS: {}", written.error().message);
  }
  if (why_not_().empty()) {
    auto begun = keeper_.reapply(survey_, now, [this](const vlarb::Outcome& outcome) {
      if (outcome.report.ports_written > 0)
        spdlog::info("QoS: tables written again to {} ports that came back", outcome.report.ports_written);
      told("of ports that came back", outcome);
    });
    if (!begun) spdlog::warn("QoS: {}", begun.error().message);
  }
  if (!verified_once_) verify_in_turn(now);  // a daemon that has just started
}

void QosService::set_verify_interval(FabricClock::duration interval) {
  settings_.verify_interval = interval;
  verify_alarm_.set(interval == interval.zero() ? std::nullopt : std::optional{clock_.now() + interval});
}

void QosService::verify_in_turn(Instant now) {
  if (stopped_) return;
  if (settings_.verify_interval != settings_.verify_interval.zero())
    verify_alarm_.set(now + settings_.verify_interval);
  if (!survey_ || keeper_.assignments().empty()) return;
  verified_once_ = true;
  (void)keeper_.verify(survey_, now, [this](const vlarb::Outcome& outcome) { told("", outcome); });
}

void QosService::push(const control::QosPush& push, Pushed done) {
  auto programming = qos::parse_plan(push.plan, push.name);
  if (!programming) return done(fail(programming.error()));
  auto filter = vlarb::PortFilter::parse(push.ports);
  if (!filter) return done(fail(filter.error()));
  if (!survey_) {
    return done(
        fail(ErrorCode::Unreachable, "the fabric has not been discovered yet; ask again in a moment"));
  }
  vlarb::Assignment assignment{push.name, *std::move(filter), *std::move(programming)};
  const auto answer = [this, done, dry = push.dry_run](const vlarb::Outcome& outcome) {
    if (outcome.report.failure) return done(fail(*outcome.report.failure));
    if (dry == control::DryRun::No) {
      spdlog::info("QoS: pushed to {} ports, {} of them written", outcome.report.ports,
                   outcome.report.ports_written);
      told("of pushed tables", outcome);
    }
    done(control::QosPushed{outcome, {}, {}});
  };
  if (push.dry_run == control::DryRun::Yes) {
    auto begun = keeper_.check(survey_, {std::move(assignment)}, clock_.now(), answer);
    return begun ? void() : done(fail(begun.error()));
  }
  if (auto kept = keep(assignment); !kept) return done(fail(kept.error()));
  if (const std::string why_not = why_not_(); !why_not.empty()) {
    if (auto written = write_plan(); !written) return done(fail(written.error()));
    spdlog::info("QoS: {}: the plan for the plugin is in {}", why_not, plans_.path());
    control::QosPushed pushed{{}, why_not, plans_.path()};
    pushed.outcome.shortfalls = vlarb::targets_of(*survey_, {std::move(assignment)}, name_of_).shortfalls;
    return done(std::move(pushed));
  }
  verified_once_ = true;
  auto begun = keeper_.write(survey_, {std::move(assignment)}, clock_.now(), answer);
  if (!begun) done(fail(begun.error()));
  if (settings_.verify_interval != settings_.verify_interval.zero())
    verify_alarm_.set_no_later(clock_.now() + settings_.verify_interval);
}

/// On disk before anything goes out: a daemon that ends in between finds out what was meant.
Result<void> QosService::keep(vlarb::Assignment assignment) {
  if (auto assigned = keeper_.assign(std::move(assignment)); !assigned) return assigned;
  broken_file_.clear();
  return vlarb::store(path(store_file), keeper_.assignments());
}

Result<void> QosService::write_plan() {
  std::optional<plan::Qos> qos;
  if (!keeper_.assignments().empty()) {
    qos.emplace();
    const auto tables = [](const qos::Programming& each) { return plan::QosTables{each.tables, each.map}; };
    for (const auto& each : keeper_.assignments()) {
      if (each.ports.all()) qos->everywhere = tables(each.programming);
    }
    const auto targets = vlarb::targets_of(*survey_, keeper_.assignments(), name_of_);
    std::map<std::uint32_t, std::vector<PortRef>> groups;
    for (const auto& target : targets.ports) {
      groups[target.image].push_back({survey_->node(target.end.node).guid(), target.end.port});
    }
    for (auto& [image, ports] : groups) {
      const auto own = tables(targets.programmings[image]);
      if (qos->everywhere != own) qos->groups.push_back({std::move(ports), own});
    }
    // Of no port at present: a plan says nothing then.
    if (!qos->everywhere && qos->groups.empty()) qos.reset();
  }
  const auto written =
      plans_.update(opensm::PlanStore::Part::Qos, [&](plan::Plan& plan) { plan.qos = std::move(qos); });
  if (!written) return fail(written.error());
  plan_written_();
  return {};
}

void QosService::verify(Verified done) {
  if (!survey_)
    return done(
        fail(ErrorCode::Unreachable, "the fabric has not been discovered yet; ask again in a moment"));
  if (keeper_.assignments().empty())
    return done(fail(ErrorCode::NotFound, "no QoS plan was pushed: there is nothing to compare with"));
  verified_once_ = true;
  auto begun = keeper_.verify(survey_, clock_.now(), [this, done](const vlarb::Outcome& outcome) {
    if (outcome.report.failure) return done(fail(*outcome.report.failure));
    told("", outcome);
    done(outcome);
  });
  if (!begun) done(fail(begun.error()));
}

Result<void> QosService::forget() {
  keeper_.forget();
  broken_file_.clear();
  publish();
  if (!why_not_().empty()) {
    if (auto written = write_plan(); !written) return written;
  }
  return vlarb::store(path(store_file), {});
}

void QosService::told(const char* what, const vlarb::Outcome& outcome) {
  const auto tell = [&](const char* verb, const std::vector<vlarb::Finding>& findings) {
    for (std::size_t i = 0; i < std::min(findings.size(), named_in_a_sentence); ++i) {
      spdlog::warn("QoS: {} {}: {}", name_of(findings[i].port), verb, findings[i].text);
    }
    if (findings.size() > named_in_a_sentence)
      spdlog::warn("QoS: {} ports {}{}{}", findings.size(), verb, *what == '\0' ? "" : " ", what);
  };
  tell("differs from its plan", outcome.report.differ);
  tell("does not answer", outcome.report.silent);
  publish();
}

void QosService::publish() {
  metrics::QosFigures figures;
  figures.ports = keeper_.ports();
  figures.drift_ports = keeper_.drift().size();
  figures.silent_ports = keeper_.silent().size();
  for (const auto& each : keeper_.shortfalls()) figures.reduced_ports += each.ports.size();
  figures.reapplied = keeper_.reapplied();
  if (keeper_.verified()) {
    const auto age = clock_.now() - *keeper_.verified();
    const auto at = std::chrono::system_clock::now().time_since_epoch() - age;
    figures.verified = std::chrono::duration<double>(at).count();
  }
  metrics_.set(figures);
}

std::vector<std::string> QosService::problems() const {
  std::vector<std::string> out;
  if (!broken_file_.empty()) out.push_back(broken_file_);
  const auto add = [&](const vlarb::Keeper::Findings& findings, const char* what) {
    if (findings.empty()) return;
    const auto& [port, text] = *findings.begin();
    out.push_back(fmt::format("QoS: {} ports {} (`heddle qos verify` lists them): {}: {}", findings.size(),
                              what, name_of(port), text));
  };
  add(keeper_.drift(), "differ from the pushed plan");
  add(keeper_.silent(), "could not be read or written");
  return out;
}

void QosService::stop() {
  stopped_ = true;
  verify_alarm_.set(std::nullopt);
}

}  // namespace heddle::app
