/// Writes down what enters the core, what the core is told when it asks, and a digest of what it does,
/// through what stands between the core and the world: a transport, a journal and agents of hosts, each in
/// place of the real one. Nothing of it is there where nobody records.
///
/// The core's thread, but for the journal's failures.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "authority/path_migrator.h"
#include "base/desk.h"
#include "core/event.h"
#include "core/outside.h"
#include "record/recording.h"
#include "record/stand_ins.h"
#include "transport/transport.h"

namespace heddle::record {

class Recorder final : public transport::Transport {
 public:
  /// Takes bytes in this order; false: it takes no more. Nothing: nothing comes any more.
  using Sink = std::function<bool(std::string_view)>;

  /// `most`: bytes; then the recording ends with a sentence. `real` must outlive it.
  Recorder(transport::Transport& real, Sink sink, std::uint64_t most);

  /// Once, before the core is made. Keys of the opening are stand-ins already: key().
  void open(const Opening& opening);
  /// The core is made: what it asked and did for that counts as the first entry.
  void made(Instant now);
  void begin(const core::Event& event, Instant now);
  void finish();
  /// Nothing more is written; the sentence says why.
  void end(const std::string& why);
  [[nodiscard]] bool ended() const { return ended_; }

  [[nodiscard]] std::uint64_t key(std::uint64_t real) { return keys_.of(real); }

  // What stands between.
  [[nodiscard]] std::unique_ptr<journal::Journal> between(std::unique_ptr<journal::Journal> real);
  [[nodiscard]] Desk between(Desk real);
  /// Remembers which of the results that it is given, one after the other, are failures. Of one desk.
  [[nodiscard]] std::function<Result<void>(Result<void>)> noting(Answer::What what);
  /// The answer of whoever is beside the core to one of its questions.
  bool asked(std::uint64_t question, bool answer) const;
  /// The core tells whoever is beside it.
  void told(std::string_view words) { digest_.add(Deed::Tell, words); }
  /// Null for null. `real` must outlive it.
  [[nodiscard]] std::unique_ptr<regulate::PathMigrator> between(regulate::PathMigrator* real);
  void said(core::Severity severity, const std::string& text);
  void logged(const journal::Event& event);

  // Transport
  void receive_with(Receiver receiver) override { real_.receive_with(std::move(receiver)); }
  Result<void> send(const mad::Packet& packet) override;
  [[nodiscard]] transport::LocalPort local() const override;
  Result<void> claim_sm(transport::SmClaim claim) override;
  [[nodiscard]] bool segments() const override { return real_.segments(); }
  Result<void> send_long(const mad::Packet& head, std::span<const std::uint8_t> data) override;
  [[nodiscard]] bool gone() const override { return real_.gone(); }

 private:
  /// Of the disk's thread.
  struct Failures {
    std::mutex mutex;
    std::vector<Answer> all;
  };
  class BetweenJournal;
  class BetweenHosts;

  void write(Block block, std::string_view bytes);
  [[nodiscard]] Result<void> heard(Answer::What what, std::uint64_t nth, Result<void> result) const;

  transport::Transport& real_;
  Sink sink_;
  std::uint64_t most_;
  std::uint64_t written_ = 0;
  bool ended_ = false;
  StandIns keys_;
  mutable Entry entry_;
  Digest digest_;
  mutable std::optional<transport::LocalPort> local_;  ///< as it was written down
  std::shared_ptr<Failures> failures_ = std::make_shared<Failures>();
  std::string journal_is_;
  mutable std::map<std::uint64_t, bool> plugin_is_;
  std::uint64_t sends_ = 0;  ///< of this event
  std::uint64_t claims_ = 0;
  bool only_looked_ = false;  ///< who asked last, and it is not written
};

/// What a line of the log comes to as a deed; replays count the same.
[[nodiscard]] std::string deed_of(core::Severity severity, const std::string& text);
[[nodiscard]] std::string deed_of(const journal::Event& event);
[[nodiscard]] std::string deed_of(transport::SmClaim claim);
void put_event(Entry& entry, const core::Event& event, StandIns& keys);

}  // namespace heddle::record
