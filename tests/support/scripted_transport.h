/// A transport whose fabric is the test: keeps what was sent, answers as the test says, fails on demand.
#pragma once

#include <deque>
#include <vector>

#include "mad/header.h"
#include "transport/transport.h"

namespace heddle::test {

class ScriptedTransport : public transport::Transport {
 public:
  void receive_with(Receiver receiver) override { receiver_ = std::move(receiver); }
  Result<void> send(const mad::Packet& packet) override {
    if (!failures.empty()) {
      const auto failure = failures.front();
      failures.pop_front();
      if (failure) return fail(*failure);
    }
    sent.push_back(packet);
    return {};
  }
  [[nodiscard]] transport::LocalPort local() const override { return local_port; }
  [[nodiscard]] bool gone() const override { return is_gone; }

  /// What a correct agent says to the i-th MAD sent.
  [[nodiscard]] mad::Packet answer_to(std::size_t i) const {
    mad::Packet answer = sent.at(i);
    mad::Header header = mad::read_header(answer.mad);
    header.method = mad::Method::GetResp;
    header.tid |= 0x1234567800000000ULL;  // the kernel's half
    mad::write_header(header, answer.mad);
    return answer;
  }

  std::vector<mad::Packet> sent;
  std::deque<std::optional<Error>> failures;  ///< of the next calls of send()
  bool is_gone = false;
  transport::LocalPort local_port{NodeGuid{1}, PortGuid{1}, PortNum{1}, Lid{1}, Lid{1}};

 private:
  Receiver receiver_;
};

}  // namespace heddle::test
