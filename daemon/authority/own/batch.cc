#include "authority/own/batch.h"

#include <algorithm>
#include <utility>

#include "mad/header.h"

namespace heddle::provision {
namespace {

constexpr std::size_t most_in_engine = 1024;
constexpr unsigned tag_bits = 48;
constexpr std::uint64_t tag_mask = (std::uint64_t{1} << tag_bits) - 1;

}  // namespace

void Batch::start(Source source, Answer answer, Done done, Instant now) {
  abandon();
  source_ = std::move(source);
  answer_ = std::move(answer);
  done_ = std::move(done);
  running_ = true;
  pump(now);
}

void Batch::abandon() {
  ++run_;
  running_ = false;
  asked_ = 0;
}

void Batch::pump(Instant now) {
  while (running_ && source_ && asked_ < most_in_engine) {
    const std::optional<Step> step = source_();
    if (!step) {
      source_ = nullptr;
      break;
    }
    const std::uint64_t context = (std::uint64_t{run_} << tag_bits) | step->tag;
    if (engine_.submit({.packet = step->packet, .agent = step->agent}, *this, context, now)) {
      ++asked_;
    } else {
      // The engine is stopped, or swamped: either way this one is not sent.
      transport::Completion refused;
      refused.outcome = transport::Outcome::NotSent;
      refused.at = refused.now = now;
      refused.request = &step->packet;
      answer_(step->tag, refused);
    }
  }
  if (running_ && !source_ && asked_ == 0) {
    running_ = false;
    const Done done = std::exchange(done_, nullptr);
    done(now);
  }
}

bool Batch::ask_another_way(std::uint64_t tag, const transport::Completion& completion) {
  using transport::Outcome;
  if (!way_of_ || (completion.outcome != Outcome::TimedOut && completion.outcome != Outcome::AgentSilent))
    return false;
  const auto way = way_of_(tag);
  if (!way || way->path.size() > mad::DirectedRoute::max_hops) return false;
  const mad::DirectedRoute went = mad::read_directed_route(completion.request->mad);
  const auto first = went.initial_path.begin() + 1;
  if (std::equal(first, first + went.hop_count, way->path.begin(), way->path.end())) return false;
  mad::DirectedRoute route;
  route.hop_count = static_cast<std::uint8_t>(way->path.size());
  std::copy(way->path.begin(), way->path.end(), route.initial_path.begin() + 1);
  mad::Packet packet = *completion.request;
  mad::write_directed_route(route, packet.mad);
  // Its silence was that of the other way.
  return static_cast<bool>(
      engine_.submit({.packet = packet, .agent = way->agent, .on_silence = transport::OnSilence::Ask}, *this,
                     completion.context, completion.now));
}

bool Batch::still_wants(std::uint64_t context) {
  const bool is_ours = running_ && context >> tag_bits == run_;
  return !is_ours || !still_wanted_ || still_wanted_(context & tag_mask);
}

void Batch::on_completion(const transport::Completion& completion) {
  if (!running_ || completion.context >> tag_bits != run_) return;
  const std::uint64_t tag = completion.context & tag_mask;
  if (ask_another_way(tag, completion)) return;
  --asked_;
  answer_(tag, completion);
  pump(completion.now);
}

}  // namespace heddle::provision
