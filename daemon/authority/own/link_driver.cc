#include "authority/own/link_driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "authority/own/port_settings.h"
#include "authority/own/survey_change.h"
#include "mad/header.h"
#include "transport/requests.h"
#include "transport/transaction_tid.h"

namespace heddle::provision {
namespace {

using transport::Completion;
using transport::Outcome;

constexpr std::uint8_t all_supported = 0xff;
constexpr std::uint8_t all_speeds = 0x0f;
constexpr std::uint8_t all_ext_speeds = 0x1f;

/// What the port's masks would be if this mode were the best that it may run in.
mad::PortInfo limited(const mad::PortInfo& has, power::LinkMode most, std::uint64_t m_key) {
  mad::PortInfo best = has;
  mad::set_width(most.width, best);
  mad::set_speed(most.speed, best);
  mad::PortInfo info = unchanged(has, m_key);
  info.link_width_enabled = best.link_width_active;
  info.link_speed_enabled = best.link_speed_active;
  info.link_speed_ext_enabled = best.link_speed_ext_active;
  return info;
}

bool enables(const mad::PortInfo& has, power::LinkMode mode) {
  const mad::PortInfo needed = limited(has, mode, 0);
  return (has.link_width_enabled & needed.link_width_enabled) == needed.link_width_enabled &&
         (has.link_speed_enabled & needed.link_speed_enabled) == needed.link_speed_enabled &&
         (has.link_speed_ext_enabled & needed.link_speed_ext_enabled) == needed.link_speed_ext_enabled;
}

power::LinkMode running(const mad::PortInfo& info) {
  return {mad::active_width(info), mad::active_speed(info)};
}

bool is_active(const std::optional<mad::PortInfo>& info) { return info && info->state == PortState::Active; }

}  // namespace

void LinkDriver::run(std::shared_ptr<const Survey> survey, std::vector<LinkJob> jobs, Instant now,
                     Done done) {
  survey_ = std::move(survey);
  done_ = std::move(done);
  tasks_.clear();
  for (const LinkJob& job : jobs) tasks_.emplace_back().job = job;
  begun_ = now;
  pause_ = options_.first_look;
  stopped_ = false;
  batch_.start(
      [this, next = std::size_t{0}]() mutable -> std::optional<Step> {
        while (next < tasks_.size()) {
          const std::size_t task = next++;
          if (auto step = ask(task, Which::Near)) return step;
          tasks_[task].failure = Error{ErrorCode::Unreachable,
                                       fmt::format("no way is known to {}", name(tasks_[task].job.near))};
        }
        return std::nullopt;
      },
      [this](std::uint64_t tag, const Completion& completion) {
        take(tag, completion);
        Task& task = tasks_[tag >> 1U];
        if (!task.near) {
          task.failure = Error{
              ErrorCode::Unreachable,
              fmt::format("{} does not answer: {}", name(task.job.near), to_string(completion.outcome))};
        }
      },
      [this](Instant at) { order(at); }, now);
}

void LinkDriver::take_routes(const Survey& from) {
  // Many run at once where a fabric wakes, and to most ports the ways stay as they are.
  if (std::ranges::none_of(tasks_, [&](const Task& task) { return has_other_way(from, task.job); })) return;
  auto changed = std::make_shared<Survey>(*survey_);
  heddle::take_routes(from, *changed);
  survey_ = std::move(changed);
}

/// To one of its ends, than by the survey of the run.
bool LinkDriver::has_other_way(const Survey& from, const LinkJob& job) const {
  const auto is_other = [&](LinkEnd end) {
    // By the switch at its other end, where it is a host's.
    const auto peer = survey_->node(end.node).is_switch() ? std::nullopt : survey_->fabric->peer(end);
    const SurveyNode& node = survey_->node(peer ? peer->node : end.node);
    const NodeIndex there = from.fabric->find_node(node.guid());
    return there != no_node && from.node(there).path != node.path;
  };
  return is_other(job.near) || (job.far && is_other(*job.far));
}

std::optional<Batch::Way> LinkDriver::way_of(std::uint64_t tag) const {
  const Task& task = tasks_[tag >> 1U];
  if ((tag & 1U) != 0 && !task.job.far) return std::nullopt;
  const LinkEnd end = (tag & 1U) != 0 ? *task.job.far : task.job.near;
  auto path = route_to(*survey_, end);
  if (!path) return std::nullopt;
  return Batch::Way{transport::agent_of(survey_->node(end.node).guid()), *std::move(path)};
}

std::string LinkDriver::name(LinkEnd end) const { return name_of(survey_->node(end.node), end.port); }

std::optional<Step> LinkDriver::ask(std::size_t task, Which which) const {
  if (which == Which::Far && !tasks_[task].job.far) return std::nullopt;
  const LinkEnd end = which == Which::Near ? tasks_[task].job.near : *tasks_[task].job.far;
  const auto path = route_to(*survey_, end);
  if (!path) return std::nullopt;
  return Step{.packet = transport::directed_smp({.attribute = mad::SmAttr::PortInfo,
                                                 .modifier = modifier_for(*survey_, end),
                                                 .m_key = options_.m_key},
                                                *path),
              .agent = transport::agent_of(survey_->node(end.node).guid()),
              .tag = (std::uint64_t{task} << 1U) | (which == Which::Far ? 1U : 0U)};
}

std::optional<Step> LinkDriver::set(std::size_t task, const mad::PortInfo& info) const {
  auto step = ask(task, Which::Near);
  if (!step) return std::nullopt;
  const LinkEnd end = tasks_[task].job.near;
  step->packet = transport::directed_smp({.method = mad::Method::Set,
                                          .attribute = mad::SmAttr::PortInfo,
                                          .modifier = modifier_for(*survey_, end),
                                          .m_key = options_.m_key},
                                         *route_to(*survey_, end));
  mad::encode(info, mad::smp_data(step->packet.mad));
  return step;
}

void LinkDriver::take(std::uint64_t tag, const Completion& completion) {
  Task& task = tasks_[tag >> 1U];
  auto& slot = (tag & 1U) != 0 ? task.far : task.near;
  slot.reset();
  if (completion.outcome == Outcome::Stopped) stopped_ = true;
  if (completion.outcome != Outcome::Answered) return;
  slot = mad::decode<mad::PortInfo>(mad::smp_data(completion.answer->mad));
  const LinkEnd end = (tag & 1U) != 0 ? *task.job.far : task.job.near;
  if (states_) states_({survey_->node(end.node).guid(), end.port}, slot->state);
}

/// The Set that the port needs; none where it is as ordered, or on its way.
std::optional<mad::PortInfo> LinkDriver::wanted(const Task& task) const {
  const mad::PortInfo& has = *task.near;
  mad::PortInfo info = unchanged(has, options_.m_key);
  switch (task.job.to) {
    case LinkJob::To::Off:
      if (has.physical == PhysState::Disabled) return std::nullopt;
      info.physical = PhysState::Disabled;
      return info;
    case LinkJob::To::On: {
      const bool full = enables(has, task.job.mode);
      if (!full) {
        info.link_width_enabled = all_supported;
        info.link_speed_enabled = all_speeds;
        info.link_speed_ext_enabled = has.link_speed_ext_supported == 0 ? std::uint8_t{0} : all_ext_speeds;
      }
      const bool closed = has.physical == PhysState::Disabled || has.physical == PhysState::Sleep;
      if (closed) info.physical = PhysState::Polling;
      if (!closed && !full && has.physical == PhysState::LinkUp) info.state = PortState::Down;  // a bounce
      if (full && !closed) return std::nullopt;
      return info;
    }
    case LinkJob::To::Reduced: {
      if (has.state == PortState::Active && running(has) == task.job.mode) return std::nullopt;
      info = limited(has, task.job.mode, options_.m_key);
      const bool closed = has.physical == PhysState::Disabled || has.physical == PhysState::Sleep;
      if (closed) {
        info.physical = PhysState::Polling;
      } else {
        info.state = PortState::Down;
      }
      return info;
    }
  }
  return std::nullopt;
}

bool LinkDriver::is_there(const Task& task) const {
  if (!task.near) return false;
  const mad::PortInfo& near = *task.near;
  switch (task.job.to) {
    case LinkJob::To::Off:
      // A far end that cannot be asked any more is as far away as one that says Down.
      return near.physical == PhysState::Disabled && near.state == PortState::Down &&
             (!task.far || task.far->state == PortState::Down);
    case LinkJob::To::On:
      return is_active(task.near) && (!task.job.far || is_active(task.far)) && enables(near, task.job.mode);
    case LinkJob::To::Reduced:
      return is_active(task.near) && is_active(task.far) && running(near) == task.job.mode;
  }
  return false;
}

Instant LinkDriver::settled(const LinkJob& job) const {
  const auto at = [&](LinkEnd end) { return late_sets_.settled({survey_->node(end.node).guid(), end.port}); };
  return job.far ? std::max(at(job.near), at(*job.far)) : at(job.near);
}

void LinkDriver::note_late(LinkEnd end, const Completion& completion) {
  if (completion.outcome == Outcome::AgentSilent || completion.outcome == Outcome::NotSent) return;
  const bool is_answered = completion.outcome == Outcome::Answered || completion.outcome == Outcome::Refused;
  const auto tid = transport::TransactionTid::read(mad::read_header(completion.request->mad).tid);
  if (!is_answered || tid.attempt > 0)
    late_sets_.sent({survey_->node(end.node).guid(), end.port}, completion.now);
}

void LinkDriver::order(Instant now) {
  batch_.start(
      [this, next = std::size_t{0}]() mutable -> std::optional<Step> {
        while (next < tasks_.size()) {
          Task& task = tasks_[next];
          const std::size_t index = next++;
          if (task.decided() || task.called_off || !task.near) continue;
          if (std::exchange(task.ordered, true) && !is_undone(task)) continue;
          const auto info = wanted(task);
          if (!info) continue;
          task.set = true;
          if (auto step = set(index, *info)) return step;
        }
        return std::nullopt;
      },
      [this](std::uint64_t tag, const Completion& completion) {
        Task& task = tasks_[tag >> 1U];
        note_late(task.job.near, completion);
        if (completion.outcome == Outcome::Stopped) stopped_ = true;
        // Without an answer nobody knows whether it was done: looking tells.
        if (completion.outcome == Outcome::Refused) {
          task.failure = Error{ErrorCode::Refused, fmt::format("{} refuses the Set with status {:#06x}",
                                                               name(task.job.near), completion.status)};
        }
      },
      [this](Instant at) { look(at); }, now);
}

void LinkDriver::look(Instant now) {
  look_at_.reset();
  batch_.start(
      [this, next = std::size_t{0}]() mutable -> std::optional<Step> {
        while (next < 2 * tasks_.size()) {
          const std::size_t index = next / 2;
          const Which which = next % 2 == 0 ? Which::Near : Which::Far;
          ++next;
          const Task& task = tasks_[index];
          if (task.decided()) continue;
          // A channel adapter is reached over the link itself.
          if (which == Which::Far && task.job.far && task.job.to == LinkJob::To::Off &&
              !survey_->node(task.job.far->node).is_switch()) {
            continue;
          }
          if (auto step = ask(index, which)) return step;
        }
        return std::nullopt;
      },
      [this](std::uint64_t tag, const Completion& completion) { take(tag, completion); },
      [this](Instant at) { judge(at); }, now);
}

LinkDriverOptions::Duration LinkDriver::time_for(const LinkJob& job) const {
  return job.to == LinkJob::To::Off ? options_.until_down : std::max(options_.until_up, job.patience);
}

void LinkDriver::judge(Instant now) {
  bool all = true;
  Instant until = now + pause_;
  std::vector<std::size_t> came;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    Task& task = tasks_[i];
    if (task.decided()) continue;
    task.there = is_there(task);
    if (task.there && task.job.to != LinkJob::To::Off && settled(task.job) > now && !task.called_off &&
        !stopped_) {
      task.there = all = false;
      until = std::min(until, settled(task.job));
      continue;
    }
    if (task.there) {
      if (task.job.to == LinkJob::To::On) came.push_back(i);
      continue;
    }
    if (task.called_off) {
      task.failure = Error{ErrorCode::Conflict, "another order for this link came before it was there"};
      continue;
    }
    const bool off = task.job.to == LinkJob::To::Off;
    if (stopped_) {
      task.failure = Error{ErrorCode::Unreachable, "stopped while links were being set"};
    } else if (now - begun_ >= time_for(task.job)) {
      const auto state = [](const std::optional<mad::PortInfo>& info) {
        return info ? fmt::format("{}/{}", to_string(info->state), to_string(info->physical)) : "silent";
      };
      task.failure = Error{ErrorCode::Unreachable,
                           fmt::format("{} is {} and {} is {} {:.1f} s after the order", name(task.job.near),
                                       state(task.near), task.job.far ? name(*task.job.far) : "its peer",
                                       state(task.far), seconds(now - begun_))};
    } else {
      all = false;
      const bool up = task.near && task.near->physical == PhysState::LinkUp && !is_active(task.near);
      if (!off && up && !std::exchange(task.trained, true)) {
        std::vector<NodeGuid> ends{survey_->node(task.job.near.node).guid()};
        if (task.job.far) ends.push_back(survey_->node(task.job.far->node).guid());
        trained_(ends, now);
      }
    }
  }
  if (all) {
    undo(now);
    return;
  }
  if (there_ && !came.empty()) there_(came, now);
  look_at_ = until;
  pause_ = std::min(2 * pause_, options_.longest_look);
}

bool LinkDriver::is_undone(const Task& task) {
  return task.job.to == LinkJob::To::On && !task.decided() && !task.called_off && task.near &&
         (task.near->physical == PhysState::Disabled || task.near->physical == PhysState::Sleep);
}

void LinkDriver::on_timer(Instant now) {
  if (!look_at_ || now < *look_at_) return;
  if (std::any_of(tasks_.begin(), tasks_.end(), is_undone)) {
    look_at_.reset();
    order(now);
  } else {
    look(now);
  }
}

/// A link that did not go down is wanted up: it may have been half way. Once, and whatever comes of it.
void LinkDriver::undo(Instant now) {
  batch_.start(
      [this, next = std::size_t{0}]() mutable -> std::optional<Step> {
        while (next < tasks_.size()) {
          const std::size_t index = next++;
          const Task& task = tasks_[index];
          if (!task.failure || !task.set || stopped_ || task.called_off || !task.near) continue;
          if (task.job.to == LinkJob::To::On) continue;
          mad::PortInfo info = unchanged(*task.near, options_.m_key);
          info.physical = PhysState::Polling;
          if (task.job.to == LinkJob::To::Reduced) {
            info.link_width_enabled = all_supported;
            info.link_speed_enabled = all_speeds;
            info.link_speed_ext_enabled =
                task.near->link_speed_ext_supported == 0 ? std::uint8_t{0} : all_ext_speeds;
          } else if (task.near->physical != PhysState::Disabled) {
            continue;
          }
          if (auto step = set(index, info)) return step;
        }
        return std::nullopt;
      },
      [this](std::uint64_t tag, const Completion& completion) {
        Task& task = tasks_[tag >> 1U];
        note_late(task.job.near, completion);
        task.failure->message += completion.outcome == Outcome::Answered
                                     ? "; set back to Polling"
                                     : "; it could not be set back to Polling";
      },
      [this](Instant at) { finish(at); }, now);
}

void LinkDriver::finish(Instant now) {
  std::vector<std::optional<Error>> failures;
  for (Task& task : tasks_) failures.push_back(std::move(task.failure));
  tasks_.clear();
  survey_.reset();
  const Done done = std::exchange(done_, nullptr);
  done(failures, now);
}

}  // namespace heddle::provision
