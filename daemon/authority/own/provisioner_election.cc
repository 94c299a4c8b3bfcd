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

}  // namespace

void Provisioner::ask_other_sms(Instant now) {
  std::vector<LinkEnd> claimants;
  const LinkEnd own{survey_->local, survey_->node(survey_->local).info.local_port};
  silent_sms_.clear();
  for (std::uint32_t i = 0; i < survey_->nodes.size(); ++i) {
    const SurveyNode& node = survey_->nodes[i];
    for (std::size_t p = node.is_switch() ? 0 : 1; p < (node.is_switch() ? 1 : node.ports.size()); ++p) {
      const LinkEnd end{NodeIndex{i}, PortNum{static_cast<std::uint8_t>(p)}};
      const bool ours = end.node == own.node && is_sm_;
      if ((node.ports[p].info.capability_mask & mad::port_cap::is_sm) != 0 && !ours) claimants.push_back(end);
    }
  }
  batch_.start(
      from_list(std::move(claimants),
                [this](LinkEnd end) -> std::optional<Step> {
                  const auto path = route_to(*survey_, end);
                  if (!path) return std::nullopt;
                  return Step{.packet = transport::directed_smp({.attribute = mad::SmAttr::SmInfo}, *path),
                              .agent = transport::agent_of(survey_->node(end.node).guid()),
                              .tag = tag_of(end)};
                }),
      [this](std::uint64_t tag, const Completion& completion) {
        const LinkEnd end = end_of(tag);
        if (completion.outcome != Outcome::Answered) {
          silent_sms_.push_back(name_of(survey_->node(end.node), end.port));
          trouble(end, fmt::format("{} says that a subnet manager is there, which does not answer",
                                   silent_sms_.back()));
          return;
        }
        report_.other_sms.push_back({{survey_->node(end.node).guid(), end.port},
                                     mad::decode<mad::SmInfo>(mad::smp_data(completion.answer->mad))});
      },
      [this](Instant at) { elect(at); }, now);
}

void Provisioner::elect(Instant now) {
  Election election{.standing = is_sm_ ? Standing::Master : Standing::Candidate,
                    .own = survey_->port(survey_->own_port()).guid,
                    .priority = options_.priority,
                    .others = report_.other_sms,
                    .silent = std::exchange(pass_over_silent_, false) ? std::vector<std::string>{}
                                                                      : std::exchange(silent_sms_, {})};
  report_.successors = successors(election);
  if (auto allowed = may_be_master(election); !allowed) {
    yield(allowed.error(), now);
  } else if (const auto other = heir(election)) {
    hand_over(*other, now);
  } else {
    plan(now);
  }
}

void Provisioner::yield(Error why, Instant now) {
  if (is_sm_) (void)transport_.claim_sm(transport::SmClaim::Release);
  is_sm_ = registered_anew_ = false;
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
