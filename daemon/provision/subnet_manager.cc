#include "provision/subnet_manager.h"

#include <utility>

#include "mad/header.h"

namespace heddle::provision {

SubnetManager::SubnetManager(transport::TransactionEngine& engine, transport::Transport& transport,
                             const ProvisionOptions& options, Router router, Provisioner::Done done)
    : engine_{engine},
      transport_{transport},
      options_{options},
      done_{std::move(done)},
      provisioner_{engine, transport, options, std::move(router),
                   [this](const ProvisionReport& report) { finished(report); }} {}

void SubnetManager::configure(std::shared_ptr<const Survey> survey, Instant now) {
  if (provisioner_.busy() || rewriting_) {
    waiting_ = std::move(survey);
    return;
  }
  if (state_ == mad::SmInfo::State::NotActive) state_ = mad::SmInfo::State::Discovering;
  provisioner_.run(std::move(survey), now);
}

void SubnetManager::finished(const ProvisionReport& report) {
  const bool refused = report.failure && report.failure->code == ErrorCode::Refused;
  state_ = refused ? mad::SmInfo::State::NotActive : mad::SmInfo::State::Master;
  if (!report.failure) configured_ = report.survey;
  ++activity_;
  done_(report);
  next(report.ended);
}

void SubnetManager::rewrite_tables(Instant now, Written done) {
  rewrites_.push_back(std::move(done));
  next(now);
}

/// A fabric that has changed comes first: its tables keep off the same links.
void SubnetManager::next(Instant now) {
  if (provisioner_.busy() || rewriting_) return;
  if (waiting_) {
    configure(std::exchange(waiting_, nullptr), now);
    return;
  }
  if (rewrites_.empty()) return;
  rewriting_ = true;
  if (is_master() && configured_) {
    provisioner_.rewrite(configured_, now, [this](const ProvisionReport& report) { rewritten(report); });
    return;
  }
  const Written done = std::move(rewrites_.front());
  rewrites_.pop_front();
  done(fail(ErrorCode::Refused, "this daemon is not the subnet manager of the fabric"), now);
  rewriting_ = false;
  next(now);
}

void SubnetManager::rewritten(const ProvisionReport& report) {
  const Written done = std::move(rewrites_.front());
  rewrites_.pop_front();
  rewriting_ = false;
  if (report.failure) {
    done(fail(*report.failure), report.ended);
  } else if (!report.tables_confirmed) {
    done(fail(ErrorCode::Unreachable, report.troubles.empty()
                                          ? "a switch that has been silent did not confirm its table"
                                          : report.troubles.front().text),
         report.ended);
  } else {
    done({}, report.ended);
  }
  next(report.ended);
}

std::optional<mad::Notice> SubnetManager::on_unsolicited(const mad::Packet& packet) {
  const mad::Header header = mad::read_header(packet.mad);
  if (!mad::is_smp(header)) return std::nullopt;
  const auto attribute = static_cast<mad::SmAttr>(header.attribute);
  if (header.method == mad::Method::Trap && attribute == mad::SmAttr::Notice) {
    if (is_master()) repress(packet, header);
    return mad::decode<mad::Notice>(mad::smp_data(packet.mad));
  }
  const bool asks = header.method == mad::Method::Get || header.method == mad::Method::Set;
  if (asks && attribute == mad::SmAttr::SmInfo) answer_sm_info(packet, header);
  return std::nullopt;
}

void SubnetManager::answer_sm_info(const mad::Packet& packet, const mad::Header& header) {
  if (state_ == mad::SmInfo::State::NotActive) return;
  mad::Packet answer = packet;
  answer.address.dlid = packet.address.slid;
  answer.address.slid = packet.address.dlid;
  mad::Header reply = header;
  reply.method = mad::Method::GetResp;
  // Handing over and standing by are asked by Set; there is nobody here who could take turns.
  if (header.method == mad::Method::Set) reply.status = mad::status::bad_method_attribute;
  if (header.mgmt_class == mad::MgmtClass::SubnDirected) {
    mad::DirectedRoute route = mad::read_directed_route(packet.mad);
    route.returning = true;
    mad::write_directed_route(route, answer.mad);
  }
  mad::write_header(reply, answer.mad);
  mad::SmInfo info;
  info.guid = transport_.local().guid;
  info.sm_key = options_.sm_key;
  info.activity = activity_;
  info.priority = options_.priority;
  info.state = state_;
  mad::encode(info, mad::smp_data(answer.mad));
  // Lost or refused: whoever asked will ask again.
  (void)engine_.send_only(answer);
}

void SubnetManager::repress(const mad::Packet& packet, const mad::Header& header) {
  mad::Packet answer = packet;
  answer.address.dlid = packet.address.slid;
  answer.address.slid = packet.address.dlid;
  mad::Header reply = header;
  reply.method = mad::Method::TrapRepress;
  mad::write_header(reply, answer.mad);
  // The trap is repeated until this arrives.
  (void)engine_.send_only(answer);
}

}  // namespace heddle::provision
