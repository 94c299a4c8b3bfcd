#include "vlarb/programmer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mad/port_set.h"
#include "transport/requests.h"

namespace heddle::vlarb {
namespace {

using transport::Completion;

/// Enough to keep the window of the transaction engine full while each node is asked a few things at a time.
constexpr std::size_t jobs_at_once = 512;
/// OptimizedSLtoVLMappingProgramming (IBA 14.2.5.8): the map of all input ports to one output port.
constexpr std::uint32_t all_inputs = 1U << 17U;

// Context: 16 bits of the run, 16 of the slot, 8 of what was asked, 8 of its index.
constexpr unsigned run_shift = 32;
constexpr unsigned slot_shift = 16;
constexpr unsigned what_shift = 8;
constexpr std::uint64_t was_by_lid = 0x80;  ///< in what was asked

std::string why_not(const Completion& completion) {
  if (completion.outcome == transport::Outcome::Refused)
    return fmt::format("refused with status {:#06x}", completion.status);
  return std::string(to_string(completion.outcome));
}

}  // namespace

Programmer::Programmer(transport::TransactionEngine& engine, std::uint64_t m_key, PaceOf pace)
    : engine_{engine}, m_key_{m_key}, pace_{std::move(pace)} {}

void Programmer::run(std::shared_ptr<const Survey> survey, std::shared_ptr<const Targets> targets, Mode mode,
                     Instant now, Done done) {
  busy_ = true;
  ++run_;
  survey_ = std::move(survey);
  targets_ = std::move(targets);
  mode_ = mode;
  done_ = std::move(done);
  report_ = {};
  report_.begun = now;
  report_.ports = targets_->ports.size();
  next_ = 0;
  jobs_.assign(std::min(jobs_at_once, targets_->ports.size()), {});
  free_.clear();
  for (std::size_t slot = jobs_.size(); slot-- > 0;) free_.push_back(static_cast<std::uint32_t>(slot));
  go_on(now);
}

/// Begins jobs while there are slots, and sends what waits for its turn. Not from within itself: a job may
/// end at once.
void Programmer::go_on(Instant now) {
  if (std::exchange(going_on_, true)) return;
  while (!free_.empty() && next_ < targets_->ports.size()) {
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    begin(slot, now);
    if (free_.empty() || next_ == targets_->ports.size()) send_in_turn(now);
  }
  send_in_turn(now);
  going_on_ = false;
  finish_if_done(now);
}

void Programmer::finish_if_done(Instant now) {
  if (!busy_ || next_ < targets_->ports.size() || free_.size() < jobs_.size()) return;
  busy_ = false;
  report_.ended = now;
  survey_.reset();
  targets_.reset();
  const Done done = std::exchange(done_, nullptr);
  const Report report = std::exchange(report_, {});
  done(report);
}

Finding Programmer::finding(const Job& job, std::string text) const {
  const LinkEnd end = target(job).end;
  return {{survey_->node(end.node).guid(), end.port}, std::move(text)};
}

void Programmer::begin(std::uint32_t slot, Instant now) {
  Job& job = jobs_[slot];
  job = Job{};
  job.target = static_cast<std::uint32_t>(next_++);
  const LinkEnd end = target(job).end;
  const SurveyNode& node = survey_->node(end.node);
  if (!node.is_switch()) {
    job.inputs = {0};
  } else {
    job.inputs = {0};  // what the switch itself sends
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      const auto input = static_cast<std::uint8_t>(p);
      if (survey_->fabric->peer({end.node, PortNum{input}})) job.inputs.push_back(input);
    }
  }
  if (!target(job).maps) job.inputs.clear();
  if (auto path = route_to(*survey_, end)) {
    job.path = *std::move(path);
    read(slot, now);
  } else {
    job.silence = "no cable leads there";
    this->end(slot);
  }
}

void Programmer::read(std::uint32_t slot, Instant now) {
  Job& job = jobs_[slot];
  job.stage = Stage::Read;
  ++job.waiting;  // until all is asked
  for (std::uint8_t block = 0; block < block_count; ++block) {
    if (image(job).lengths[block] != 0) ask(slot, {What::Block, block}, mad::Method::Get, now);
  }
  ask(slot, {What::PortInfo, 0}, mad::Method::Get, now);
  for (const std::uint8_t input : job.inputs) ask(slot, {What::Map, input}, mad::Method::Get, now);
  --job.waiting;
  advance(slot, now);
}

/// When the last answer of a stage is there.
void Programmer::advance(std::uint32_t slot, Instant now) {
  Job& job = jobs_[slot];
  while (job.waiting == 0 && job.stage != Stage::Idle) {
    if (!job.silence.empty()) {
      end(slot);
      return;
    }
    switch (job.stage) {
      case Stage::Read:
        if (mode_ == Mode::Check || job.difference.empty()) return end(slot);
        ++report_.ports_written;
        write_tables(slot, now);
        break;
      case Stage::WriteTables:
        write_maps(slot, now);
        break;
      case Stage::WriteMaps:
        read_again(slot, now);
        break;
      case Stage::ReadAgain:
      case Stage::Idle:
        return end(slot);
    }
  }
}

void Programmer::end(std::uint32_t slot) {
  Job& job = jobs_[slot];
  if (!job.silence.empty()) {
    report_.silent.push_back(finding(job, std::move(job.silence)));
  } else if (!job.difference.empty()) {
    report_.differ.push_back(finding(job, std::move(job.difference)));
  }
  job.stage = Stage::Idle;
  free_.push_back(slot);
}

void Programmer::write_tables(std::uint32_t slot, Instant now) {
  Job& job = jobs_[slot];
  job.stage = Stage::WriteTables;
  ++job.waiting;
  for (std::uint8_t block = 0; block < block_count; ++block) {
    if ((job.wrong_blocks >> block & 1U) == 0) continue;
    ask(slot, {What::Block, block}, mad::Method::Set, now);
    ++report_.blocks_written;
  }
  if (job.wrong_limit) ask(slot, {What::PortInfo, 0}, mad::Method::Get, now);
  --job.waiting;
}

void Programmer::set_limit(std::uint32_t slot, const mad::PortInfo& fresh, Instant now) {
  mad::PortInfo info = mad::unchanged(fresh, m_key_);
  info.operational_vls = 0;
  info.vl_high_limit = image(jobs_[slot]).limit.raw();
  ask(slot, {What::SetPortInfo, 0}, mad::Method::Set, now, &info);
  ++report_.limits_written;
}

void Programmer::write_maps(std::uint32_t slot, Instant now) {
  Job& job = jobs_[slot];
  job.stage = Stage::WriteMaps;
  const SurveyNode& node = survey_->node(target(job).end.node);
  const bool at_once = node.switch_info && node.switch_info->optimized_sl_to_vl != 0 &&
                       job.wrong_inputs.size() > 1 && job.wrong_inputs.size() == job.inputs.size();
  ++job.waiting;
  if (at_once) {
    ask(slot, {What::MapOfAllInputs, 0}, mad::Method::Set, now);
    ++report_.maps_written;
  } else {
    for (const std::uint8_t input : job.wrong_inputs) {
      ask(slot, {What::Map, input}, mad::Method::Set, now);
      ++report_.maps_written;
    }
  }
  --job.waiting;
}

void Programmer::read_again(std::uint32_t slot, Instant now) {
  Job& job = jobs_[slot];
  job.stage = Stage::ReadAgain;
  job.difference.clear();
  const auto blocks = std::exchange(job.wrong_blocks, std::uint8_t{0});
  const bool limit = std::exchange(job.wrong_limit, false);
  const auto inputs = std::exchange(job.wrong_inputs, {});
  ++job.waiting;
  for (std::uint8_t block = 0; block < block_count; ++block) {
    if ((blocks >> block & 1U) != 0) ask(slot, {What::Block, block}, mad::Method::Get, now);
  }
  if (limit) ask(slot, {What::PortInfo, 0}, mad::Method::Get, now);
  for (const std::uint8_t input : inputs) ask(slot, {What::Map, input}, mad::Method::Get, now);
  --job.waiting;
}

std::uint32_t Programmer::modifier(const Job& job, Ask ask) const {
  const LinkEnd end = target(job).end;
  // A channel adapter answers for the port that the SMP came in by.
  const bool is_switch = survey_->node(end.node).is_switch();
  const std::uint32_t port = is_switch ? end.port.raw() : 0U;
  switch (ask.what) {
    case What::Block:
      return (ask.index + 1U) << 16U | port;
    case What::PortInfo:
    case What::SetPortInfo:
      return mad::modifier_for(*survey_, end);
    case What::Map:
      return is_switch ? std::uint32_t{ask.index} << 8U | port : 0U;
    case What::MapOfAllInputs:
      return all_inputs | port;
  }
  return 0;
}

void Programmer::ask(std::uint32_t slot, Ask what, mad::Method method, Instant now,
                     const mad::PortInfo* info) {
  if (method != mad::Method::Get || pace() == nullptr) return send(slot, what, method, By::Route, now, info);
  ++jobs_[slot].waiting;
  unsent_.push_back({slot, what});
}

void Programmer::on_timer(Instant now) {
  if (wake_ && *wake_ <= now) go_on(now);
}

void Programmer::send_in_turn(Instant now) {
  wake_.reset();
  while (!unsent_.empty()) {
    const auto [slot, what] = unsent_.front();
    if (jobs_[slot].silence.empty()) {
      transport::Pace* const pace = this->pace();
      if (pace != nullptr && asked_ >= transport::Pace::most_asked) break;
      if (pace != nullptr) wake_ = pace->take(now, promise_);
      if (wake_) break;
    }
    unsent_.pop_front();
    --jobs_[slot].waiting;
    // Of one that was silent meanwhile, nothing is asked any more.
    if (jobs_[slot].silence.empty()) {
      const By by = jobs_[slot].by_route ? By::Route : By::Lid;
      send(slot, what, mad::Method::Get, by, now, nullptr);
    }
    advance(slot, now);
  }
}

/// None where another node says that it has the same.
Lid Programmer::lid_of(LinkEnd end) const {
  const Fabric& fabric = *survey_->fabric;
  const PortNum num = survey_->node(end.node).is_switch() ? PortNum{0} : end.port;
  const PortIndex port = fabric.port_index({end.node, num});
  const Lid lid = fabric.port(port).lid;
  return lid <= last_unicast_lid && fabric.find_port(lid) == port ? lid : no_lid;
}

void Programmer::send(std::uint32_t slot, Ask what, mad::Method method, By by, Instant now,
                      const mad::PortInfo* info) {
  Job& job = jobs_[slot];
  const LinkEnd end = target(job).end;
  const Lid lid = lid_of(end);
  if (lid == no_lid) by = By::Route;
  const bool map = what.what == What::Map || what.what == What::MapOfAllInputs;
  const auto attribute = what.what == What::Block ? mad::SmAttr::VlArbitration
                         : map                    ? mad::SmAttr::SlToVlTable
                                                  : mad::SmAttr::PortInfo;
  const transport::SmpRequest smp{
      .method = method, .attribute = attribute, .modifier = modifier(job, what), .m_key = m_key_};
  auto packet = by == By::Lid ? transport::lid_smp(smp, lid) : transport::directed_smp(smp, job.path);
  if (method == mad::Method::Set) {
    const auto data = mad::smp_data(packet.mad);
    if (what.what == What::Block) mad::encode(image(job).blocks[what.index], data);
    if (map) mad::encode(image(job).map, data);
    if (info != nullptr) mad::encode(*info, data);
  }
  const std::uint64_t context =
      std::uint64_t{run_} << run_shift | std::uint64_t{slot} << slot_shift |
      (std::uint64_t{static_cast<std::uint8_t>(what.what)} | (by == By::Lid ? was_by_lid : 0U))
          << what_shift |
      what.index;
  const auto agent = transport::agent_of(survey_->node(end.node).guid());
  const auto patience =
      what.what == What::MapOfAllInputs ? transport::Patience::Slow : transport::Patience::Normal;
  // Whoever did not answer to a LID may answer all the same.
  const auto on_silence = job.by_route ? transport::OnSilence::Ask : transport::OnSilence::FailFast;
  if (engine_.submit({.packet = packet, .agent = agent, .patience = patience, .on_silence = on_silence},
                     *this, context, now)) {
    ++job.waiting;
    ++asked_;
  } else {
    job.silence = "not sent: too much is waiting, or the daemon ends";
  }
}

void Programmer::on_completion(const Completion& completion) {
  --asked_;
  if (!busy_ || completion.context >> run_shift != run_) return;
  const auto slot = static_cast<std::uint32_t>(completion.context >> slot_shift & 0xffffU);
  const Ask what{static_cast<What>(completion.context >> what_shift & 0x7fU),
                 static_cast<std::uint8_t>(completion.context & 0xffU)};
  const bool by_lid = (completion.context >> what_shift & was_by_lid) != 0;
  Job& job = jobs_[slot];
  --job.waiting;
  const bool unheard = completion.outcome == transport::Outcome::TimedOut ||
                       completion.outcome == transport::Outcome::AgentSilent;
  if (by_lid && unheard) {
    // The way to a LID is the tables', which may be wrong.
    job.by_route = true;
    ++job.waiting;
    unsent_.push_front({slot, what});
    return go_on(completion.now);
  }
  if (completion.outcome == transport::Outcome::Stopped) {
    report_.failure = Error{ErrorCode::Unreachable, "stopped while QoS tables were being read or written"};
  }
  if (completion.outcome != transport::Outcome::Answered) {
    if (job.silence.empty()) {
      const bool map = what.what == What::Map || what.what == What::MapOfAllInputs;
      job.silence =
          fmt::format("{}: {}",
                      what.what == What::Block ? fmt::format("VLArbitration block {}", what.index + 1)
                      : map                    ? fmt::format("SL2VL from port {}", what.index)
                                               : std::string{"PortInfo"},
                      why_not(completion));
    }
  } else {
    took(job, what, completion);
    if (job.stage == Stage::WriteTables && what.what == What::PortInfo && job.silence.empty()) {
      set_limit(slot, mad::decode<mad::PortInfo>(mad::smp_data(completion.answer->mad)), completion.now);
    }
  }
  advance(slot, completion.now);
  go_on(completion.now);
}

/// What was read is compared; answers to Sets say nothing.
void Programmer::took(Job& job, Ask what, const Completion& completion) {
  if (job.stage != Stage::Read && job.stage != Stage::ReadAgain) return;
  const auto data = mad::smp_data(completion.answer->mad);
  std::string text;
  if (what.what == What::Block) {
    text = difference(image(job), what.index, mad::decode<mad::VlArbBlock>(data));
    if (!text.empty()) job.wrong_blocks |= static_cast<std::uint8_t>(1U << what.index);
  } else if (what.what == What::Map) {
    text = difference(image(job).map, mad::decode<mad::SlToVlTable>(data));
    if (!text.empty()) {
      job.wrong_inputs.push_back(what.index);
      text = what.index == 0 ? text : fmt::format("from port {}: {}", what.index, text);
    }
  } else {
    const auto limit = mad::decode<mad::PortInfo>(data).vl_high_limit;
    if (limit != image(job).limit.raw()) {
      job.wrong_limit = true;
      text = fmt::format("high limit {} in place of {}", limit, image(job).limit.raw());
    }
  }
  if (job.difference.empty()) job.difference = std::move(text);
}

}  // namespace heddle::vlarb
