/// What befalls a daemon in a simulated world: where it is killed, what of its disk is refused, which of its
/// MADs are lost.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "journal/journal.h"
#include "mad/packet.h"

namespace heddle::test {

/// Counts what the daemon does to the world outside, and has a test stop it there.
class Fate {
 public:
  enum class Moment : std::uint8_t { BeforeMad, AfterMad, BeforeWrite, AfterWrite };
  enum class Verdict : std::uint8_t { Goes, Lost };
  /// Whether the daemon is killed at this moment. From then on nothing that it does reaches the world; the
  /// world lets go of it as soon as it gives control back.
  enum class Life : std::uint8_t { GoesOn, Ends };
  std::function<Life(Moment, std::uint64_t number)> on_moment;
  bool dead = false;
  /// Whether the disk has no room for this record.
  std::function<bool(const regulation::Record&)> refuses;
  /// Whether the SMP with this number arrives. Answers have numbers of their own. What reads counters is not
  /// counted: it changes nothing.
  std::function<Verdict(std::uint64_t number, const mad::Packet&)> on_request;
  std::function<Verdict(std::uint64_t number)> on_answer;
  /// What becomes of an answer on its way in.
  std::function<void(mad::Packet&)> spoil;

  std::uint64_t moments = 0;
  std::uint64_t requests = 0;
  std::uint64_t answers = 0;

  void pass(Moment moment) {
    if (dead) return;
    const std::uint64_t number = moments++;
    dead = on_moment && on_moment(moment, number) == Life::Ends;
  }
};

/// Writes through, and dies before or after a write if that is its fate.
class MortalJournal final : public journal::Journal {
 public:
  MortalJournal(std::unique_ptr<journal::Journal> real, Fate& fate) : real_{std::move(real)}, fate_{fate} {}

  [[nodiscard]] Result<void> check() const override { return real_->check(); }
  Result<void> write(const regulation::Record& record) override {
    fate_.pass(Fate::Moment::BeforeWrite);
    if (fate_.dead) return {};
    if (fate_.refuses && fate_.refuses(record)) return fail(ErrorCode::Io, "the disk is full");
    auto result = real_->write(record);
    fate_.pass(Fate::Moment::AfterWrite);
    return result;
  }
  [[nodiscard]] const regulation::Memory& memory() const override { return real_->memory(); }
  Result<void> put_ranks(std::span<const journal::Rank> ranks) override {
    fate_.pass(Fate::Moment::BeforeWrite);
    if (fate_.dead) return {};
    auto result = real_->put_ranks(ranks);
    fate_.pass(Fate::Moment::AfterWrite);
    return result;
  }
  [[nodiscard]] Result<std::vector<journal::Rank>> ranks() const override { return real_->ranks(); }
  Result<void> put_lids(std::span<const journal::PortLid> lids) override {
    fate_.pass(Fate::Moment::BeforeWrite);
    if (fate_.dead) return {};
    auto result = real_->put_lids(lids);
    fate_.pass(Fate::Moment::AfterWrite);
    return result;
  }
  [[nodiscard]] Result<std::vector<journal::PortLid>> lids() const override { return real_->lids(); }
  Result<void> put_energy(const power::EnergyRecord& record) override {
    fate_.pass(Fate::Moment::BeforeWrite);
    if (fate_.dead) return {};
    auto result = real_->put_energy(record);
    fate_.pass(Fate::Moment::AfterWrite);
    return result;
  }
  Result<void> put_cables(std::span<const journal::Cable> cables) override {
    fate_.pass(Fate::Moment::BeforeWrite);
    if (fate_.dead) return {};
    auto result = real_->put_cables(cables);
    fate_.pass(Fate::Moment::AfterWrite);
    return result;
  }
  [[nodiscard]] Result<std::vector<journal::Cable>> cables() const override { return real_->cables(); }
  [[nodiscard]] Result<std::string> image() const override { return real_->image(); }
  [[nodiscard]] Result<power::EnergyRecord> energy() const override { return real_->energy(); }
  Result<std::uint64_t> append(const journal::Event& event) override {
    fate_.pass(Fate::Moment::BeforeWrite);
    if (fate_.dead) return 0;
    auto result = real_->append(event);
    fate_.pass(Fate::Moment::AfterWrite);
    return result;
  }
  [[nodiscard]] Result<std::vector<journal::Event>> events(std::uint64_t after,
                                                           std::size_t most) const override {
    return real_->events(after, most);
  }

 private:
  std::unique_ptr<journal::Journal> real_;
  Fate& fate_;
};

}  // namespace heddle::test
