#include "core/qos_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <utility>

namespace heddle::core {
namespace {

constexpr std::size_t named_in_a_sentence = 3;
constexpr std::size_t most_storing = vlarb::Keeper::most_orders;

}  // namespace

QosService::QosService(Around around, std::uint64_t m_key, FabricClock::duration verify_interval)
    : around_{std::move(around)},
      verify_interval_{verify_interval},
      keeper_{around_.engine, m_key, around_.name_of, around_.pace} {
  load();
}

void QosService::load() {
  const auto& kept = around_.store.kept;
  if (!kept) {
    broken_file_ = fmt::format("QoS: what was pushed is not known: {}", kept.error().message);
    around_.say(Severity::Error, broken_file_);
    return;
  }
  if (!kept->empty()) say(Severity::Info, fmt::format("{} pushed plans are known", kept->size()));
  intended_ = *kept;
  keeper_.keep(intended_);
}

void QosService::know(std::vector<vlarb::Assignment> pushed) {
  broken_file_.clear();
  intended_ = std::move(pushed);
  keeper_.keep(intended_);
}

std::string QosService::name_of(const PortRef& port) const {
  const NodeIndex node = survey_ ? survey_->fabric->find_node(port.node) : no_node;
  const std::string name =
      node == no_node ? to_string(port.node) : around_.name_of(survey_->fabric->node(node));
  return fmt::format("{}/{}", name, port.port.raw());
}

void QosService::use(std::shared_ptr<const Survey> survey) {
  survey_ = std::move(survey);
  if (stopped_) return;
  const Instant now = this->now();
  // What was pushed is known here, whatever has become of the plan.
  if (!around_.plans.knows(opensm::PlanStore::Part::Qos) && broken_file_.empty() &&
      !around_.why_not().empty()) {
    write_plan([this](const Result<void>& written) {
      if (!written) say(Severity::Warning, written.error().message);
    });
  }
  if (around_.why_not().empty()) {
    auto begun = keeper_.reapply(survey_, now, [this](const vlarb::Outcome& outcome) {
      if (outcome.report.ports_written > 0)
        say(Severity::Info,
            fmt::format("tables written again to {} ports that came back", outcome.report.ports_written));
      told("of ports that came back", outcome);
    });
    if (!begun) say(Severity::Warning, begun.error().message);
  }
  if (!verified_once_) verify_in_turn(now);  // a daemon that has just started
}

void QosService::set_verify_interval(FabricClock::duration interval) {
  verify_interval_ = interval;
  verify_at_.reset();
  if (verifies_in_turn()) verify_at_ = now() + interval;
}

void QosService::on_timer(Instant now) {
  if (verify_at_ && *verify_at_ <= now) verify_in_turn(now);
  if (const auto due = keeper_.next_deadline(); due && *due <= now) keeper_.on_timer(now);
}

std::optional<Instant> QosService::next_deadline() const {
  if (stopped_) return std::nullopt;
  const auto pace = keeper_.next_deadline();
  return verify_at_ && (!pace || *verify_at_ < *pace) ? verify_at_ : pace;
}

void QosService::verify_in_turn(Instant now) {
  if (stopped_) return;
  verify_at_.reset();
  if (verifies_in_turn()) verify_at_ = now + verify_interval_;
  // At a pace one may take longer than the interval.
  if (!survey_ || keeper_.assignments().empty() || verifying_) return;
  verified_once_ = verifying_ = true;
  const auto begun = keeper_.verify(survey_, now, [this](const vlarb::Outcome& outcome) {
    verifying_ = false;
    told("", outcome);
  });
  if (!begun) verifying_ = false;
}

void QosService::push(const QosPush& push, Pushed done) {
  auto programming = qos::parse_plan(push.plan, push.name);
  if (!programming) return done(fail(programming.error()));
  auto filter = vlarb::PortFilter::parse(push.ports);
  if (!filter) return done(fail(filter.error()));
  if (!survey_) {
    return done(
        fail(ErrorCode::Unreachable, "the fabric has not been discovered yet; ask again in a moment"));
  }
  vlarb::Assignment assignment{push.name, *std::move(filter), *std::move(programming)};
  if (push.dry_run == DryRun::Yes) {
    auto begun =
        keeper_.check(survey_, {std::move(assignment)}, now(), [done](const vlarb::Outcome& outcome) {
          if (outcome.report.failure) return done(fail(*outcome.report.failure));
          done(QosPushed{outcome, {}, {}});
        });
    return begun ? void() : done(fail(begun.error()));
  }
  if (storing_ >= most_storing) {
    return done(
        fail(ErrorCode::Conflict,
             fmt::format("{} pushes wait for the disk; see what keeps it busy, and ask again", storing_)));
  }
  if (const std::string why = around_.why_no_qos(); !why.empty()) return done(fail(ErrorCode::Refused, why));
  if (auto added = vlarb::Keeper::add(intended_, assignment); !added) return done(fail(added.error()));
  store([this, assignment = std::move(assignment), done](const Result<void>& stored) {
    if (!stored) return done(fail(stored.error()));
    pushed(assignment, done);
  });
}

void QosService::pushed(vlarb::Assignment assignment, const Pushed& done) {
  if (const std::string why_not = around_.why_not(); !why_not.empty()) {
    write_plan([this, assignment = std::move(assignment), why_not, done](const Result<void>& written) {
      if (!written) return done(fail(written.error()));
      say(Severity::Info, fmt::format("{}: the plan for the plugin is in {}", why_not, around_.plans.path()));
      QosPushed pushed{{}, why_not, around_.plans.path()};
      pushed.outcome.shortfalls = vlarb::targets_of(*survey_, {assignment}, around_.name_of).shortfalls;
      done(std::move(pushed));
    });
    return;
  }
  verified_once_ = true;
  auto begun =
      keeper_.write(survey_, {std::move(assignment)}, now(), [this, done](const vlarb::Outcome& outcome) {
        if (outcome.report.failure) return done(fail(*outcome.report.failure));
        say(Severity::Info, fmt::format("pushed to {} ports, {} of them written", outcome.report.ports,
                                        outcome.report.ports_written));
        told("of pushed tables", outcome);
        done(QosPushed{outcome, {}, {}});
      });
  if (!begun) done(fail(begun.error()));
  if (verifies_in_turn())
    verify_at_ = std::min(verify_at_.value_or(Instant::max()), now() + verify_interval_);
}

void QosService::store(Then then) {
  ++storing_;
  const auto stored = std::make_shared<Result<void>>();
  around_.desk.run([store = around_.store.store, what = intended_, stored] { *stored = store(what); },
                   [this, what = intended_, stored, then = std::move(then)] {
                     --storing_;
                     if (*stored) {
                       broken_file_.clear();
                       keeper_.keep(what);
                     } else if (storing_ == 0) {
                       intended_ = keeper_.assignments();
                     }
                     then(*stored);
                   });
}

void QosService::write_plan(Then then) {
  std::optional<plan::Qos> qos;
  if (!intended_.empty()) {
    qos.emplace();
    const auto tables = [](const qos::Programming& each) { return plan::QosTables{each.tables, each.map}; };
    for (const auto& each : intended_) {
      if (each.ports.all()) qos->everywhere = tables(each.programming);
    }
    const auto targets = vlarb::targets_of(*survey_, intended_, around_.name_of);
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
  around_.plans.update(
      opensm::PlanStore::Part::Qos, [&](plan::Plan& plan) { plan.qos = std::move(qos); },
      [this, then = std::move(then)](const Result<std::uint64_t>& epoch, Instant /*now*/) {
        if (!epoch) return then(fail(epoch.error()));
        around_.plan_written();
        then({});
      });
}

void QosService::verify(Verified done) {
  if (!survey_)
    return done(
        fail(ErrorCode::Unreachable, "the fabric has not been discovered yet; ask again in a moment"));
  if (keeper_.assignments().empty())
    return done(fail(ErrorCode::NotFound, "no QoS plan was pushed: there is nothing to compare with"));
  verified_once_ = true;
  auto begun = keeper_.verify(survey_, now(), [this, done](const vlarb::Outcome& outcome) {
    if (outcome.report.failure) return done(fail(*outcome.report.failure));
    told("", outcome);
    done(outcome);
  });
  if (!begun) done(fail(begun.error()));
}

void QosService::forget(Forgotten done) {
  intended_.clear();
  const auto store_it = [this, done] {
    store([this, done](const Result<void>& stored) {
      if (stored) keeper_.forget();
      around_.told();
      done(stored);
    });
  };
  if (around_.why_not().empty()) return store_it();
  write_plan(
      [done, store_it](const Result<void>& written) { written ? store_it() : done(fail(written.error())); });
}

void QosService::told(const char* what, const vlarb::Outcome& outcome) {
  const auto tell = [&](const char* verb, const std::vector<vlarb::Finding>& findings) {
    for (std::size_t i = 0; i < std::min(findings.size(), named_in_a_sentence); ++i) {
      say(Severity::Warning, fmt::format("{} {}: {}", name_of(findings[i].port), verb, findings[i].text));
    }
    if (findings.size() > named_in_a_sentence)
      say(Severity::Warning,
          fmt::format("{} ports {}{}{}", findings.size(), verb, *what == '\0' ? "" : " ", what));
  };
  tell("differs from its plan", outcome.report.differ);
  tell("does not answer", outcome.report.silent);
  around_.told();
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
  verify_at_.reset();
}

}  // namespace heddle::core
