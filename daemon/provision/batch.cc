#include "provision/batch.h"

#include <utility>

namespace heddle::provision {
namespace {

constexpr std::size_t most_in_engine = 1024;
constexpr unsigned tag_bits = 48;

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

void Batch::on_completion(const transport::Completion& completion) {
  if (!running_ || completion.context >> tag_bits != run_) return;
  --asked_;
  answer_(completion.context & ((std::uint64_t{1} << tag_bits) - 1), completion);
  pump(completion.now);
}

}  // namespace heddle::provision
