/// One transport out of several ports: the first that works, and the next one when it does not any more.
/// Whoever owns it calls check() from time to time, and starts over with discovery after a switch: routes and
/// LIDs are seen from elsewhere then.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "transport/transport.h"

namespace heddle::transport {

class FailoverTransport final : public Transport {
 public:
  struct Candidate {
    std::string name;
    std::function<Result<std::unique_ptr<Transport>>()> open;
    std::function<bool()> usable;  ///< asked whether open or not
  };
  /// The name of the port that is in use from here on: another one, or the same opened anew.
  using Switched = std::function<void(const std::string&)>;

  /// Opens the first candidate that is usable, or else the first that opens. Errors: of the candidates, one
  /// after the other.
  static Result<std::unique_ptr<FailoverTransport>> open(std::vector<Candidate> candidates,
                                                         Switched switched = {});

  void receive_with(Receiver receiver) override;
  /// Errors: of the port in use; check() decides what becomes of it.
  Result<void> send(const mad::Packet& packet) override;
  [[nodiscard]] LocalPort local() const override { return current_->local(); }
  Result<void> claim_sm(SmClaim claim) override { return current_->claim_sm(claim); }
  [[nodiscard]] bool segments() const override { return current_->segments(); }
  Result<void> send_long(const mad::Packet& head, std::span<const std::uint8_t> data) override {
    return current_->send_long(head, data);
  }
  [[nodiscard]] bool gone() const override { return current_->gone(); }

  /// Moves to a usable port if this one is not, or did nothing but refuse since the last check. One whose
  /// device went away, with no other to move to, is opened again as soon as that works: call it again until
  /// then.
  void check();
  [[nodiscard]] const std::string& name() const { return candidates_[in_use_].name; }
  [[nodiscard]] Transport& current() { return *current_; }

 private:
  explicit FailoverTransport(std::vector<Candidate> candidates, Switched switched)
      : candidates_{std::move(candidates)}, switched_{std::move(switched)} {}
  [[nodiscard]] bool failing() const;
  bool move_to(std::size_t candidate);

  std::vector<Candidate> candidates_;
  Switched switched_;
  std::size_t in_use_ = 0;
  std::unique_ptr<Transport> current_;
  Receiver receiver_;
  std::size_t sent_ = 0;    ///< since the last check
  std::size_t failed_ = 0;  ///< likewise
};

}  // namespace heddle::transport
