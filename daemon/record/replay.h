/// The world outside as a recording has it: answers as it answered, and compares what the core does with what
/// it did. Opens nothing and writes nothing.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "authority/path_migrator.h"
#include "base/desk.h"
#include "core/event.h"
#include "core/fabric_core.h"
#include "journal/journal.h"
#include "record/recording.h"
#include "transport/transport.h"

namespace heddle::record {

class Replay final : public transport::Transport, public regulate::PathMigrator, public core::Outside {
 public:
  /// What enters by Asked.
  using Order = std::function<void(const std::string& words)>;
  using Line = std::function<void(Instant at, core::Severity severity, const std::string& text)>;

  Replay(const Opening& opening, Line line);

  /// Before the core is made: what it is told meanwhile.
  void prepare(const Entry& made);
  /// What comes back from it enters by CameBack.
  [[nodiscard]] Desk desk(core::Source from = core::Source::Disk);
  /// Whether what is to be done, one after the other, failed.
  [[nodiscard]] std::function<Result<void>()> failing(Answer::What what);
  /// Who hears what OpenSM's plugin said.
  using Words = std::function<void(std::string_view)>;
  void hear_with(Words plugin) { plugin_ = std::move(plugin); }
  [[nodiscard]] bool asked(std::uint64_t question) const;
  void told(std::string_view words) { digest_.add(Deed::Tell, words); }
  /// In place of one that fails where the recorded one did. `image` may be changed, and is not kept.
  [[nodiscard]] std::unique_ptr<journal::Journal> between(std::unique_ptr<journal::Journal> image);
  /// The core, from here on.
  void play(core::FabricCore& core, Order order);

  /// One after the other, the first of which is the one that was prepared for. The sentence says what
  /// differs.
  [[nodiscard]] std::optional<std::string> step(const Entry& entry);
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] std::uint64_t deeds() const { return deeds_; }
  [[nodiscard]] Instant now() const { return now_; }

  // Transport
  void receive_with(Receiver /*receiver*/) override {}
  Result<void> send(const mad::Packet& packet) override;
  [[nodiscard]] transport::LocalPort local() const override { return local_; }
  Result<void> claim_sm(transport::SmClaim claim) override;
  [[nodiscard]] bool segments() const override { return segments_; }
  Result<void> send_long(const mad::Packet& head, std::span<const std::uint8_t> data) override;
  // PathMigrator
  void migrate(unsigned plane, Instant now, Done done) override;
  // Outside
  void say(core::Severity severity, const std::string& text) override;
  void on_logged(const journal::Event& event) override;
  void on_rest() override { core_->end(); }

 private:
  class BetweenJournal;
  using Failures = std::map<std::pair<Answer::What, std::uint64_t>, Error>;
  struct Work {
    std::function<void()> work;
    std::function<void()> then;
  };

  void take(const Entry& entry);
  void enter(const Entry& entry);
  void come_back(core::Source from, const std::string& words);
  [[nodiscard]] Result<void> told(Answer::What what, std::uint64_t nth) const;
  [[nodiscard]] std::string difference(const Entry& entry) const;

  bool segments_;
  Line line_;
  core::FabricCore* core_ = nullptr;
  Order order_;
  Instant now_{};
  transport::LocalPort local_{};
  std::vector<Answer> answers_;  ///< of this event
  Digest digest_;
  std::uint64_t sends_ = 0;
  std::uint64_t claims_ = 0;
  std::map<core::Source, std::deque<Work>> desks_;
  Words plugin_;
  std::map<std::uint64_t, bool> plugin_is_;
  std::deque<Done> hosts_;
  std::shared_ptr<Failures> failures_ = std::make_shared<Failures>();
  std::shared_ptr<std::string> journal_is_ = std::make_shared<std::string>();
  bool nothing_to_come_back_ = false;
  bool damaged_ = false;
  std::uint64_t events_ = 0;
  std::uint64_t deeds_ = 0;
};

}  // namespace heddle::record
