#include "record/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "record/recorder.h"

namespace heddle::record {

/// Fails where the recorded one failed.
class Replay::BetweenJournal final : public journal::Journal {
 public:
  BetweenJournal(const Replay& replay, std::unique_ptr<Journal> image)
      : failures_{replay.failures_}, is_{replay.journal_is_}, image_{std::move(image)} {}

  [[nodiscard]] Result<void> check() const override {
    if (is_->empty()) return {};
    return fail(ErrorCode::Io, *is_);
  }
  Result<void> write(const regulation::Record& record) override {
    if (auto failed = next()) return fail(*failed);
    return image_->write(record);
  }
  [[nodiscard]] const regulation::Memory& memory() const override { return image_->memory(); }
  Result<void> put_ranks(std::span<const journal::Rank> ranks) override {
    if (auto failed = next()) return fail(*failed);
    return image_->put_ranks(ranks);
  }
  [[nodiscard]] Result<std::vector<journal::Rank>> ranks() const override { return image_->ranks(); }
  Result<void> put_lids(std::span<const journal::PortLid> lids) override {
    if (auto failed = next()) return fail(*failed);
    return image_->put_lids(lids);
  }
  [[nodiscard]] Result<std::vector<journal::PortLid>> lids() const override { return image_->lids(); }
  Result<void> put_cables(std::span<const journal::Cable> cables) override {
    if (auto failed = next()) return fail(*failed);
    return image_->put_cables(cables);
  }
  [[nodiscard]] Result<std::vector<journal::Cable>> cables() const override { return image_->cables(); }
  Result<void> put_energy(const power::EnergyRecord& record) override {
    if (auto failed = next()) return fail(*failed);
    return image_->put_energy(record);
  }
  [[nodiscard]] Result<power::EnergyRecord> energy() const override { return image_->energy(); }
  Result<std::uint64_t> append(const journal::Event& event) override {
    if (auto failed = next()) return fail(*failed);
    return image_->append(event);
  }
  [[nodiscard]] Result<std::vector<journal::Event>> events(std::uint64_t after,
                                                           std::size_t most) const override {
    return image_->events(after, most);
  }

 private:
  std::optional<Error> next() {
    const auto failed = failures_->find({Answer::What::JournalFailed, writes_++});
    if (failed == failures_->end()) return std::nullopt;
    return failed->second;
  }

  std::shared_ptr<Failures> failures_;
  std::shared_ptr<std::string> is_;
  std::unique_ptr<Journal> image_;
  std::uint64_t writes_ = 0;
};

Replay::Replay(const Opening& opening, Line line) : segments_{opening.segments}, line_{std::move(line)} {}

Desk Replay::desk(core::Source from) {
  return {[this, from](std::function<void()> work, std::function<void()> then) {
            digest_.add(Deed::Desk, "");
            desks_[from].push_back({std::move(work), std::move(then)});
          },
          [this] { return now_; }};
}

std::function<Result<void>()> Replay::failing(Answer::What what) {
  return [failures = failures_, what, next = std::make_shared<std::uint64_t>(0)]() -> Result<void> {
    const auto failed = failures->find({what, (*next)++});
    if (failed == failures->end()) return {};
    return fail(failed->second);
  };
}

bool Replay::asked(std::uint64_t question) const {
  const auto found = plugin_is_.find(question);
  return found != plugin_is_.end() && found->second;
}

std::unique_ptr<journal::Journal> Replay::between(std::unique_ptr<journal::Journal> image) {
  return std::make_unique<BetweenJournal>(*this, std::move(image));
}

void Replay::prepare(const Entry& made) { take(made); }

void Replay::play(core::FabricCore& core, Order order) {
  core_ = &core;
  order_ = std::move(order);
}

/// What the core is told in this event.
void Replay::take(const Entry& entry) {
  now_ = entry.now;
  answers_ = entry.answers;
  for (const Answer& answer : answers_) {
    if (answer.what == Answer::What::LocalIs) local_ = answer.port;
    if (answer.what == Answer::What::JournalIs) *journal_is_ = answer.error.message;
    if (answer.what == Answer::What::PluginIs) plugin_is_[answer.nth] = !answer.error.message.empty();
    failures_->emplace(std::pair{answer.what, answer.nth}, answer.error);
  }
}

std::optional<std::string> Replay::step(const Entry& entry) {
  if (entry.kind != Kind::Made) {
    take(entry);
    enter(entry);
  }
  const bool same = digest_.deeds() == entry.deeds && digest_.value() == entry.digest;
  std::optional<std::string> differs;
  if (!same || nothing_to_come_back_ || damaged_) differs = difference(entry);
  ++events_;
  deeds_ += entry.deeds;
  digest_.clear();
  sends_ = claims_ = 0;
  return differs;
}

std::string Replay::difference(const Entry& entry) const {
  const std::string where = fmt::format("event {} at {:.6f} s ({})", events_,
                                        seconds(entry.now.time_since_epoch()), to_string(entry.kind));
  if (damaged_) return where + ": what came in is not whole; this recording is damaged";
  if (nothing_to_come_back_) return where + ": nothing was handed out that could come back";
  if (digest_.deeds() != entry.deeds) {
    return fmt::format("{}: {} deeds here, {} in the recording", where, digest_.deeds(), entry.deeds);
  }
  return fmt::format("{}: {} deeds, and they are others", where, entry.deeds);
}

void Replay::enter(const Entry& entry) {
  Reader in{entry.body};
  const auto is_whole = [&] {
    damaged_ = !in.at_end();
    return !damaged_;
  };
  switch (entry.kind) {
    case Kind::Made:
      return;
    case Kind::Began:
      return core_->on(core::Began{}, now_);
    case Kind::Arrived: {
      const Instant at = in.time();
      const mad::Packet packet = get_packet(in);
      if (is_whole()) core_->on(core::Arrived{packet, at}, now_);
      return;
    }
    case Kind::TimersDue:
      return core_->on(core::TimersDue{}, now_);
    case Kind::TookLong:
      return core_->on(core::TookLong{}, now_);
    case Kind::WayMoved:
      return core_->on(core::WayMoved{}, now_);
    case Kind::Asked:
      return core_->on(core::Asked{[&] { order_(entry.body); }}, now_);
    case Kind::CameBack: {
      const auto from = in.one_up_to(core::Source::Plugin);
      const std::string words = in.text();
      if (is_whole()) come_back(from, words);
      return;
    }
    case Kind::Reloaded: {
      const core::Settings settings = get_settings(in);
      if (is_whole()) core_->on(core::Reloaded{settings}, now_);
      return;
    }
    case Kind::StopAsked: {
      const auto changes = in.one_up_to(core::Changes::End);
      if (is_whole()) core_->on(core::StopAsked{changes}, now_);
      return;
    }
  }
}

void Replay::come_back(core::Source from, const std::string& words) {
  if (auto& desk = desks_[from]; !desk.empty()) {
    const Work first = std::move(desk.front());
    desk.pop_front();
    first.work();
    core_->on(core::CameBack{first.then, from}, now_);
  } else if (from == core::Source::Plugin && plugin_) {
    core_->on(core::CameBack{[&] { plugin_(words); }, from}, now_);
  } else if (from == core::Source::Hosts && !hosts_.empty()) {
    const Done done = std::move(hosts_.front());
    hosts_.pop_front();
    core_->on(core::CameBack{[&] { done(told(Answer::What::HostsFailed, 0), now_); }, from}, now_);
  } else {
    nothing_to_come_back_ = true;
  }
}

Result<void> Replay::told(Answer::What what, std::uint64_t nth) const {
  const auto found = std::find_if(answers_.begin(), answers_.end(), [&](const Answer& answer) {
    return answer.what == what && answer.nth == nth;
  });
  if (found == answers_.end()) return {};
  return fail(found->error);
}

Result<void> Replay::send(const mad::Packet& packet) {
  digest_.add(Deed::Send, packet);
  return told(Answer::What::SendFailed, sends_++);
}

Result<void> Replay::send_long(const mad::Packet& head, std::span<const std::uint8_t> data) {
  digest_.add(Deed::SendLong, head);
  digest_.add(Deed::SendLong, {reinterpret_cast<const char*>(data.data()), data.size()});
  return told(Answer::What::SendFailed, sends_++);
}

Result<void> Replay::claim_sm(transport::SmClaim claim) {
  digest_.add(Deed::Claim, deed_of(claim));
  return told(Answer::What::ClaimFailed, claims_++);
}

void Replay::migrate(unsigned plane, Instant /*now*/, Done done) {
  digest_.add(Deed::Migrate, std::to_string(plane));
  hosts_.push_back(std::move(done));
}

void Replay::say(core::Severity severity, const std::string& text) {
  digest_.add(Deed::Say, deed_of(severity, text));
  line_(now_, severity, text);
}

void Replay::on_logged(const journal::Event& event) { digest_.add(Deed::Log, deed_of(event)); }

}  // namespace heddle::record
