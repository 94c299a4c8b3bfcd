// Who else is a subnet manager, and which of them the fabric goes to.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "authority/own/provisioner.h"
#include "authority/own/provisioner_steps.h"
#include "authority/own/survey_change.h"
#include "transport/requests.h"

namespace heddle::provision {
namespace {

using transport::Completion;
using transport::Outcome;

/// AttributeModifier of Set(SMInfo): a master gives the fabric to one that stands by (IBA 14.4.1.2).
constexpr std::uint32_t handover = 1;

/// Times that one run looks who else is there, since there is always somebody who asks.
constexpr unsigned most_looks = 3;

}  // namespace

/// Where a subnet manager can be: what a channel adapter and port 0 of a switch say of themselves.
std::vector<LinkEnd> Provisioner::managed_ports() const {
  std::vector<LinkEnd> ends;
  for (std::uint32_t i = 0; i < survey_->nodes.size(); ++i) {
    const SurveyNode& node = survey_->nodes[i];
    for (std::size_t p = node.is_switch() ? 0 : 1; p < (node.is_switch() ? 1 : node.ports.size()); ++p) {
      ends.push_back({NodeIndex{i}, PortNum{static_cast<std::uint8_t>(p)}});
    }
  }
  return ends;
}

bool Provisioner::says_sm(LinkEnd end) const {
  return (survey_->port(end).info.capability_mask & mad::port_cap::is_sm) != 0;
}

/// Not this one.
std::vector<LinkEnd> Provisioner::claimants() const {
  std::vector<LinkEnd> ends = managed_ports();
  std::erase_if(ends,
                [this](LinkEnd end) { return !says_sm(end) || (end.node == survey_->local && is_sm_); });
  return ends;
}

void Provisioner::ask_other_sms(Instant now) {
  silent_sms_.clear();
  asked_sms_.clear();
  ask_sms(claimants(), now);
}

/// A port may have come to say so in an answer of this run, after the others were asked.
void Provisioner::name_unasked_sms() {
  for (const LinkEnd end : claimants()) {
    if (std::ranges::find(asked_sms_, end) == asked_sms_.end()) {
      report_.successors.push_back(survey_->node(end.node).guid());
    }
  }
}

void Provisioner::ask_sms(std::vector<LinkEnd> ends, Instant now) {
  asked_sms_.insert(asked_sms_.end(), ends.begin(), ends.end());
  auto silent = std::make_shared<std::vector<LinkEnd>>();
  batch_.start(
      from_list(std::move(ends),
                [this](LinkEnd end) -> std::optional<Step> {
                  const auto path = route_to(*survey_, end);
                  if (!path) return std::nullopt;
                  return Step{.packet = transport::directed_smp({.attribute = mad::SmAttr::SmInfo}, *path),
                              .agent = transport::agent_of(survey_->node(end.node).guid()),
                              .tag = tag_of(end)};
                }),
      [this, silent](std::uint64_t tag, const Completion& completion) {
        const LinkEnd end = end_of(tag);
        if (completion.outcome != Outcome::Answered) {
          silent->push_back(end);
          return;
        }
        report_.other_sms.push_back({{survey_->node(end.node).guid(), end.port},
                                     mad::decode<mad::SmInfo>(mad::smp_data(completion.answer->mad))});
      },
      [this, silent](Instant at) { look_at_silent(std::move(*silent), at); }, now);
}

/// Whether they still say that they are there: who has yielded or ended meanwhile answers nobody.
void Provisioner::look_at_silent(std::vector<LinkEnd> ends, Instant now) {
  read_claims(ends, now, [this, ends](Instant at) {
    for (const LinkEnd end : ends) {
      if (!says_sm(end)) continue;
      silent_sms_.push_back(name_of(survey_->node(end.node), end.port));
      trouble(end, fmt::format("{} says that a subnet manager is there, which does not answer",
                               silent_sms_.back()));
    }
    elect(at);
  });
}

void Provisioner::read_claims(std::vector<LinkEnd> ends, Instant now, Batch::Done next) {
  batch_.start(
      from_list(std::move(ends),
                [this](LinkEnd end) { return port_step(mad::Method::Get, end, {}, tag_of(end)); }),
      [this](std::uint64_t tag, const Completion& completion) {
        if (completion.outcome != Outcome::Answered) return;
        const LinkEnd end = end_of(tag);
        survey_->nodes[end.node.raw()].ports[end.port.raw()].info.capability_mask =
            mad::decode<mad::PortInfo>(mad::smp_data(completion.answer->mad)).capability_mask;
      },
      std::move(next), now);
}

void Provisioner::elect(Instant now) {
  Election election{.standing = standing_,
                    .own = survey_->port(survey_->own_port()).guid,
                    .priority = options_.priority,
                    .others = report_.other_sms,
                    .silent = pass_over_silent_ ? std::vector<std::string>{} : silent_sms_};
  report_.successors = successors(election);
  if (auto allowed = may_be_master(election); !allowed) {
    report_.undecided = is_undecided(election);
    yield(allowed.error(), now);
  } else if (const auto other = heir(election)) {
    hand_over(*other, now);
  } else if (must_look_ && looks_ < most_looks) {
    claim(now);
  } else {
    standing_ = Standing::Master;
    pass_over_silent_ = false;
    plan(now);
  }
}

/// Says that a subnet manager is here, and looks then who else has said so since the sweep: of two that start
/// at once, each of which says so before it looks, one at least finds the other.
void Provisioner::claim(Instant now) {
  must_look_ = false;
  ++looks_;
  if (auto claimed = transport_.claim_sm(transport::SmClaim::Hold); !claimed) {
    return stop_with({ErrorCode::Refused, claimed.error().message}, now);
  }
  is_sm_ = true;
  std::vector<LinkEnd> ends = managed_ports();
  std::erase_if(ends, [this](LinkEnd end) {
    return end.node == survey_->local || !survey_->port(end).known || says_sm(end);
  });
  // Whoever does not answer and is to be set will be asked.
  read_claims(ends, now, [this, ends](Instant at) mutable {
    std::erase_if(ends, [this](LinkEnd end) { return !says_sm(end); });
    ask_sms(std::move(ends), at);
  });
}

void Provisioner::yield(Error why, Instant now) {
  if (is_sm_) {
    (void)transport_.claim_sm(transport::SmClaim::Release);
    // Nobody else says so there: a port has one holder of this bit.
    const LinkEnd own = survey_->own_port();
    survey_->nodes[own.node.raw()].ports[own.port.raw()].info.capability_mask &= ~mad::port_cap::is_sm;
  }
  is_sm_ = registered_anew_ = false;
  standing_ = Standing::Candidate;
  pass_over_silent_ = false;
  stop_with(std::move(why), now);
}

/// This one is master until the other has confirmed: the fabric has one at every time.
void Provisioner::hand_over(const OtherSm& other, Instant now) {
  const Port& port = survey_->fabric->port(survey_->fabric->find_port(other.where));
  const LinkEnd end{port.node, port.num};
  mad::SmInfo own;
  own.guid = survey_->port(survey_->own_port()).guid;
  own.sm_key = options_.sm_key;
  own.priority = options_.priority;
  own.state = mad::SmInfo::State::Master;
  const auto ask = [this, own](LinkEnd at) -> std::optional<Step> {
    const auto path = route_to(*survey_, at);
    if (!path) return std::nullopt;
    Step step{.packet = transport::directed_smp({.method = mad::Method::Set,
                                                 .attribute = mad::SmAttr::SmInfo,
                                                 .modifier = handover,
                                                 .m_key = options_.ports.m_key},
                                                *path),
              .agent = transport::agent_of(survey_->node(at.node).guid()),
              .tag = tag_of(at)};
    mad::encode(own, mad::smp_data(step.packet.mad));
    return step;
  };
  handed_over_ = false;
  batch_.start(
      from_list(std::vector<LinkEnd>{end}, ask),
      [this](std::uint64_t tag, const Completion& completion) {
        handed_over_ = completion.outcome == Outcome::Answered;
        if (!handed_over_)
          trouble(end_of(tag), "it stands by with a higher priority and does not take the fabric",
                  completion);
      },
      [this, other](Instant at) {
        if (report_.failure) return finish(at);
        if (!handed_over_) return plan(at);
        yield({ErrorCode::Refused,
               fmt::format("handed over to the subnet manager at {} (GUID {}, priority {}): stop it, or let "
                           "Heddle run beside it",
                           to_string(other.where), to_string(other.info.guid), other.info.priority)},
              at);
      },
      now);
}

}  // namespace heddle::provision
