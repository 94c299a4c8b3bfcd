#include "authority/own/standalone_actuator.h"

#include <fmt/format.h>

#include <utility>

#include "authority/own/driven_ports.h"

namespace heddle::regulate {

StandaloneActuator::StandaloneActuator(transport::TransactionEngine& engine,
                                       provision::SubnetManager& manager, provision::UpDownKeeper& keeper,
                                       FabricSeat& seat, PathMigrator* migrator,
                                       const provision::LinkDriverOptions& options)
    : engine_{engine},
      manager_{manager},
      keeper_{keeper},
      seat_{seat},
      migrator_{migrator},
      options_{options} {}

void StandaloneActuator::write_tables(std::optional<unsigned> plane, const std::vector<LinkRef>& avoid,
                                      Instant now, Done done) {
  for (unsigned p = 0; p < keeper_.planes(); ++p) {
    if (!plane || *plane == p) keeper_.avoid(p, avoid);
  }
  due_.at(now, [this, plane, done = std::move(done)](Instant at) {
    // One plane alone is written while nothing travels by it.
    keeper_.set_idle(plane);
    manager_.rewrite_tables(at, [this, done](const Result<void>& written, Instant then) {
      keeper_.set_idle(std::nullopt);
      done(written, then);
    });
  });
}

void StandaloneActuator::migrate(unsigned plane, Instant now, Done done) {
  if (migrator_ != nullptr) {
    migrator_->migrate(plane, now, std::move(done));
    return;
  }
  due_.at(now, [done = std::move(done)](Instant at) { done({}, at); });
}

/// After this nothing that is under way can lead over them again.
void StandaloneActuator::write_tables_without(const std::vector<LinkRef>& /*links*/, Instant now,
                                              Closed done) {
  manager_.rewrite_tables(now, [this, done = std::move(done)](const Result<void>& written, Instant at) {
    if (written && manager_.packets_gone() > at) {
      due_.at(manager_.packets_gone(), [done](Instant then) { done({}, then); });
    } else {
      done(written, at);
    }
  });
}

std::unique_ptr<authority::PortSetter> StandaloneActuator::make_setter() {
  return std::make_unique<provision::DrivenPorts>(
      engine_, seat_, runs_.closed(),
      provision::PortRules{
          .why_not = [this](const LinkOrder& order) -> std::optional<Error> {
            if (order.to == LinkTo::On) return std::nullopt;
            if (!manager_.may_use(order.link.a) && !manager_.may_use(order.link.b)) return std::nullopt;
            return Error{
                ErrorCode::Refused,
                fmt::format("a forwarding table, or that of a multicast group, may still lead over {}",
                            to_string(order.port))};
          },
          .on_routes =
              [this](const Survey& survey) {
                manager_.take_routes(survey);
                runs_.take_routes(survey);
              },
          // A sweep may not have asked since the link went off: by its word it would be Active.
          .on_set = {},
          .on_state =
              [this](const PortRef& port, PortState state) {
                if (state == PortState::Down) manager_.keep_off(port);
                if (state == PortState::Active) manager_.use_again(port);
              }},
      options_, late_sets_);
}

void StandaloneActuator::on_timer(Instant now) {
  due_.on_timer(now);
  runs_.on_timer(now);
}

std::optional<Instant> StandaloneActuator::next_deadline() const {
  auto first = due_.next_deadline();
  const auto other = runs_.next_deadline();
  if (other && (!first || *other < *first)) first = other;
  return first;
}

}  // namespace heddle::regulate
