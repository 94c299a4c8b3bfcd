#include "transport/failover_transport.h"

#include <utility>

namespace heddle::transport {

Result<std::unique_ptr<FailoverTransport>> FailoverTransport::open(std::vector<Candidate> candidates,
                                                                   Switched switched) {
  std::unique_ptr<FailoverTransport> transport{
      new FailoverTransport(std::move(candidates), std::move(switched))};
  std::string why;
  for (const bool must_be_usable : {true, false}) {
    for (std::size_t i = 0; i < transport->candidates_.size(); ++i) {
      const Candidate& candidate = transport->candidates_[i];
      if (must_be_usable && !candidate.usable()) continue;
      auto opened = candidate.open();
      if (opened) {
        transport->in_use_ = i;
        transport->current_ = *std::move(opened);
        return transport;
      }
      why += (why.empty() ? "" : "; ") + candidate.name + ": " + opened.error().message;
    }
  }
  return fail(ErrorCode::Io, why.empty() ? "no port is configured" : why);
}

void FailoverTransport::receive_with(Receiver receiver) {
  receiver_ = std::move(receiver);
  current_->receive_with(receiver_);
}

Result<void> FailoverTransport::send(const mad::Packet& packet) {
  ++sent_;
  auto sent = current_->send(packet);
  if (!sent && sent.error().code == ErrorCode::Io) ++failed_;
  return sent;
}

bool FailoverTransport::failing() const { return sent_ > 0 && failed_ == sent_; }

void FailoverTransport::check() {
  const bool refuses = failing();
  sent_ = failed_ = 0;
  const bool gone = current_->gone();
  if (!gone && !refuses && candidates_[in_use_].usable()) return;
  for (std::size_t step = 1; step < candidates_.size(); ++step) {
    const std::size_t next = (in_use_ + step) % candidates_.size();
    if (candidates_[next].usable() && move_to(next)) return;
  }
  if (gone) move_to(in_use_);
}

bool FailoverTransport::move_to(std::size_t candidate) {
  auto opened = candidates_[candidate].open();
  if (!opened) return false;
  current_->receive_with({});
  in_use_ = candidate;
  current_ = *std::move(opened);
  current_->receive_with(receiver_);
  if (switched_) switched_(candidates_[candidate].name);
  return true;
}

}  // namespace heddle::transport
