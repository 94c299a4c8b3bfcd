#include "sampling/firmware_reader.h"

#include <algorithm>
#include <utility>

#include "transport/requests.h"

namespace heddle::sampling {
namespace {

/// Of its own: who does not know the attribute may be silent, and answers for all else the same.
transport::AgentKey firmware_key(Lid lid) {
  return transport::AgentKey{0xffff'ffff'5d00'0000ULL | lid.raw()};
}

PortRef whole(NodeGuid guid) { return {guid, PortNum{0}}; }

/// By which it is asked; none before it has one.
Lid lid_of(const Fabric& fabric, const Node& node) {
  for (unsigned p = 0; p <= node.port_count; ++p) {
    const Port& port = fabric.port(PortIndex{node.first_port.raw() + p});
    const bool serves = node.type == NodeType::Switch ? p == 0 : port.link != no_link;
    if (serves && port.lid != no_lid && port.lid <= last_unicast_lid) return port.lid;
  }
  return no_lid;
}

}  // namespace

FirmwareReader::FirmwareReader(transport::TransactionEngine& engine, FirmwareReaderOptions options, Done done)
    : options_{options},
      done_{std::move(done)},
      holders_{options.silence},
      asking_{engine,
              options.outstanding,
              {[this](std::size_t nth) {
                 const Lid lid = targets_[nth].lid;
                 return Round::Question{transport::vendor_gmp(mad::Method::Get, mad::general_info, lid),
                                        firmware_key(lid)};
               },
               [this](std::size_t nth, const transport::Completion& completion) { heard(nth, completion); },
               [this](Instant) { done_(std::make_shared<const Firmwares>(known_)); }}} {}

std::optional<Instant> FirmwareReader::next_deadline() const {
  return asking_.is_under_way() ? std::nullopt : next_round_;
}

void FirmwareReader::use(std::shared_ptr<const Fabric> fabric, Instant now) {
  const auto is_unknown = [&](const Node& node) {
    return mad::has_general_info(node.vendor_id) && !known_.contains(node.guid) &&
           holders_.may_ask(whole(node.guid));
  };
  // What went away may come back with other firmware.
  std::erase_if(known_, [&](const auto& each) { return fabric->find_node(each.first) == no_node; });
  const bool more = std::ranges::any_of(fabric->nodes(), is_unknown);
  fabric_ = std::move(fabric);
  const Instant soon = now + options_.settle;
  if (!next_round_ || (more && soon < *next_round_)) next_round_ = soon;
}

void FirmwareReader::on_timer(Instant now) {
  if (asking_.is_under_way() || !fabric_ || !next_round_ || *next_round_ > now) return;
  next_round_ = now + options_.interval;
  choose(now);
  asking_.begin(targets_.size(), now);
}

void FirmwareReader::choose(Instant now) {
  targets_.clear();
  holders_.forget(now);
  for (const Node& node : fabric_->nodes()) {
    const Lid lid = lid_of(*fabric_, node);
    if (lid == no_lid || node.aggregation || !mad::has_general_info(node.vendor_id)) continue;
    if (holders_.may_ask(whole(node.guid))) targets_.push_back({node.guid, lid});
  }
}

void FirmwareReader::heard(std::size_t nth, const transport::Completion& completion) {
  const Target& target = targets_[nth];
  if (completion.outcome == transport::Outcome::Answered) {
    known_[target.guid] = mad::read_general_info(completion.answer->mad).firmware;
    holders_.answered(whole(target.guid));
  } else {
    holders_.unanswered(whole(target.guid), completion);
  }
}

}  // namespace heddle::sampling
