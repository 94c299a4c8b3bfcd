#include "record/recorder.h"

#include <fmt/format.h>

#include <span>

namespace heddle::record {
namespace {

/// What each event looks like in a recording.
struct Put {
  Entry& entry;
  StandIns& keys;

  void operator()(const core::Began& /*event*/) const { entry.kind = Kind::Began; }
  void operator()(const core::Arrived& event) const {
    Writer out;
    put(out.time(event.at), keys.in(event.packet));
    set(Kind::Arrived, out);
  }
  void operator()(const core::TimersDue& /*event*/) const { entry.kind = Kind::TimersDue; }
  void operator()(const core::TookLong& /*event*/) const { entry.kind = Kind::TookLong; }
  void operator()(const core::WayMoved& /*event*/) const { entry.kind = Kind::WayMoved; }
  void operator()(const core::Asked& event) const {
    entry.kind = Kind::Asked;
    entry.body = event.words == nullptr ? std::string{} : (*event.words)();
  }
  void operator()(const core::CameBack& event) const {
    Writer out;
    set(Kind::CameBack, out.number(static_cast<std::uint8_t>(event.from)).text(event.words));
  }
  void operator()(const core::Reloaded& event) const {
    Writer out;
    put(out, event.settings);
    set(Kind::Reloaded, out);
  }
  void operator()(const core::StopAsked& event) const {
    Writer out;
    set(Kind::StopAsked, out.number(static_cast<std::uint8_t>(event.changes)));
  }
  void set(Kind kind, const Writer& out) const {
    entry.kind = kind;
    entry.body = out.bytes();
  }
};

bool same(const transport::LocalPort& a, const transport::LocalPort& b) {
  return a.node == b.node && a.guid == b.guid && a.port == b.port && a.lid == b.lid && a.sm_lid == b.sm_lid;
}

}  // namespace

void put_event(Entry& entry, const core::Event& event, StandIns& keys) {
  std::visit(Put{entry, keys}, event);
}

std::string deed_of(core::Severity severity, const std::string& text) {
  return static_cast<char>(severity) + text;
}
std::string deed_of(const journal::Event& event) {
  return fmt::format("{}\n{}\n{}\n{}", event.at.time_since_epoch().count(), event.kind, event.links,
                     event.text);
}
std::string deed_of(transport::SmClaim claim) { return {static_cast<char>(claim)}; }

/// Remembers which of the journal's writes failed.
class Recorder::BetweenJournal final : public journal::Journal {
 public:
  BetweenJournal(Recorder& recorder, std::unique_ptr<Journal> real)
      : recorder_{recorder}, failures_{recorder.failures_}, real_{std::move(real)} {}

  [[nodiscard]] Result<void> check() const override {
    auto result = real_->check();
    std::string is = result ? "" : result.error().message;
    if (is != recorder_.journal_is_) {
      recorder_.journal_is_ = is;
      recorder_.entry_.answers.push_back({Answer::What::JournalIs, 0, {}, {ErrorCode::Io, std::move(is)}});
    }
    return result;
  }
  Result<void> write(const regulation::Record& record) override { return heard(real_->write(record)); }
  [[nodiscard]] const regulation::Memory& memory() const override { return real_->memory(); }
  Result<void> put_ranks(std::span<const journal::Rank> ranks) override {
    return heard(real_->put_ranks(ranks));
  }
  [[nodiscard]] Result<std::vector<journal::Rank>> ranks() const override { return real_->ranks(); }
  Result<void> put_lids(std::span<const journal::PortLid> lids) override {
    return heard(real_->put_lids(lids));
  }
  [[nodiscard]] Result<std::vector<journal::PortLid>> lids() const override { return real_->lids(); }
  Result<void> put_cables(std::span<const journal::Cable> cables) override {
    return heard(real_->put_cables(cables));
  }
  [[nodiscard]] Result<std::vector<journal::Cable>> cables() const override { return real_->cables(); }
  [[nodiscard]] Result<std::string> image() const override { return real_->image(); }
  Result<void> put_energy(const power::EnergyRecord& record) override {
    return heard(real_->put_energy(record));
  }
  [[nodiscard]] Result<power::EnergyRecord> energy() const override { return real_->energy(); }
  Result<std::uint64_t> append(const journal::Event& event) override { return heard(real_->append(event)); }
  [[nodiscard]] Result<std::vector<journal::Event>> events(std::uint64_t after,
                                                           std::size_t most) const override {
    return real_->events(after, most);
  }

 private:
  template <class Value>
  Result<Value> heard(Result<Value> result) {
    const std::uint64_t nth = writes_++;
    if (!result) {
      const std::lock_guard lock{failures_->mutex};
      failures_->all.push_back({Answer::What::JournalFailed, nth, {}, result.error()});
    }
    return result;
  }

  Recorder& recorder_;
  std::shared_ptr<Failures> failures_;
  std::unique_ptr<Journal> real_;
  std::uint64_t writes_ = 0;
};

class Recorder::BetweenHosts final : public regulate::PathMigrator {
 public:
  BetweenHosts(Recorder& recorder, PathMigrator& real) : recorder_{recorder}, real_{real} {}
  void migrate(unsigned plane, Instant now, Done done) override {
    recorder_.digest_.add(Deed::Migrate, std::to_string(plane));
    real_.migrate(plane, now,
                  [&recorder = recorder_, done = std::move(done)](const Result<void>& moved, Instant at) {
                    done(recorder.heard(Answer::What::HostsFailed, 0, moved), at);
                  });
  }

 private:
  Recorder& recorder_;
  PathMigrator& real_;
};

Recorder::Recorder(transport::Transport& real, Sink sink, std::uint64_t most)
    : real_{real}, sink_{std::move(sink)}, most_{most} {}

void Recorder::open(const Opening& opening) {
  sink_(magic);
  write(Block::Opening, to_bytes(opening));
}

void Recorder::made(Instant now) {
  entry_.kind = Kind::Made;
  entry_.now = now;
  finish();
}

void Recorder::begin(const core::Event& event, Instant now) {
  if (ended_) return;
  entry_.now = now;
  put_event(entry_, event, keys_);
  if (entry_.kind != Kind::CameBack) return;
  const std::lock_guard lock{failures_->mutex};
  for (Answer& failure : failures_->all) entry_.answers.push_back(std::move(failure));
  failures_->all.clear();
}

void Recorder::finish() {
  if (ended_) return;
  entry_.deeds = digest_.deeds();
  entry_.digest = digest_.value();
  // Who only looks changes nothing, however long it took: in a replay that would be of the event before.
  const bool of_a_look = entry_.kind == Kind::TookLong && only_looked_;
  only_looked_ = entry_.kind == Kind::Asked && entry_.deeds == 0;
  if (!only_looked_ && !of_a_look) {
    write(Block::Entry, to_bytes(entry_));
    entry_.answers.clear();
  }
  entry_.body.clear();
  digest_.clear();
  sends_ = claims_ = 0;
}

void Recorder::end(const std::string& why) {
  if (std::exchange(ended_, true)) return;
  sink_(frame(Block::End, why));
  sink_({});
}

void Recorder::write(Block block, std::string_view bytes) {
  if (ended_) return;
  const std::string framed = frame(block, bytes);
  written_ += framed.size();
  if (written_ > most_) return end("record.most was reached");
  if (!sink_(framed)) ended_ = true;
}

std::unique_ptr<journal::Journal> Recorder::between(std::unique_ptr<journal::Journal> real) {
  return std::make_unique<BetweenJournal>(*this, std::move(real));
}

Desk Recorder::between(Desk real) {
  return {[this, run = std::move(real.run)](std::function<void()> work, std::function<void()> then) {
            digest_.add(Deed::Desk, "");
            run(std::move(work), std::move(then));
          },
          std::move(real.now)};
}

std::unique_ptr<regulate::PathMigrator> Recorder::between(regulate::PathMigrator* real) {
  return real == nullptr ? nullptr : std::make_unique<BetweenHosts>(*this, *real);
}

std::function<Result<void>(Result<void>)> Recorder::noting(Answer::What what) {
  return [failures = failures_, what, next = std::make_shared<std::uint64_t>(0)](Result<void> result) {
    const std::uint64_t nth = (*next)++;
    if (!result) {
      const std::lock_guard lock{failures->mutex};
      failures->all.push_back({what, nth, {}, result.error()});
    }
    return result;
  };
}

bool Recorder::asked(std::uint64_t question, bool answer) const {
  if (std::exchange(plugin_is_[question], answer) != answer) {
    entry_.answers.push_back(
        {Answer::What::PluginIs, question, {}, {ErrorCode::Invalid, answer ? "yes" : ""}});
  }
  return answer;
}

void Recorder::said(core::Severity severity, const std::string& text) {
  digest_.add(Deed::Say, deed_of(severity, text));
}
void Recorder::logged(const journal::Event& event) { digest_.add(Deed::Log, deed_of(event)); }

Result<void> Recorder::heard(Answer::What what, std::uint64_t nth, Result<void> result) const {
  if (!result) entry_.answers.push_back({what, nth, {}, result.error()});
  return result;
}

Result<void> Recorder::send(const mad::Packet& packet) {
  digest_.add(Deed::Send, keys_.in(packet));
  return heard(Answer::What::SendFailed, sends_++, real_.send(packet));
}

Result<void> Recorder::send_long(const mad::Packet& head, std::span<const std::uint8_t> data) {
  digest_.add(Deed::SendLong, keys_.in(head));
  digest_.add(Deed::SendLong, {reinterpret_cast<const char*>(data.data()), data.size()});
  return heard(Answer::What::SendFailed, sends_++, real_.send_long(head, data));
}

transport::LocalPort Recorder::local() const {
  const transport::LocalPort port = real_.local();
  if (!local_ || !same(*local_, port)) {
    local_ = port;
    entry_.answers.push_back({Answer::What::LocalIs, 0, port, {}});
  }
  return port;
}

Result<void> Recorder::claim_sm(transport::SmClaim claim) {
  digest_.add(Deed::Claim, deed_of(claim));
  return heard(Answer::What::ClaimFailed, claims_++, real_.claim_sm(claim));
}

}  // namespace heddle::record
