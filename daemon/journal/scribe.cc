#include "journal/scribe.h"

#include <fmt/format.h>

namespace heddle::journal {

Scribe::Scribe(Journal& journal, Desk desk)
    : journal_{journal},
      desk_{std::move(desk)},
      memory_{journal.memory()},
      ranks_{journal.ranks()},
      lids_{journal.lids()},
      cables_{journal.cables()},
      energy_{journal.energy()} {}

template <class Value>
void Scribe::hand_over(std::function<Result<Value>()> work, std::function<void(const Result<Value>&)> then) {
  handed_over_.push_back(desk_.now());
  auto result = std::make_shared<std::optional<Result<Value>>>();
  desk_.run([result, work = std::move(work)] { result->emplace(work()); },
            [this, alive = std::weak_ptr(alive_), result, then = std::move(then)] {
              if (alive.expired()) return;
              handed_over_.pop_front();
              ++done_;
              then(**result);
              came_back();
            });
}

void Scribe::came_back() {
  while (!fences_.empty() && fences_.front().first <= done_) {
    const Then then = std::move(fences_.front().second);
    fences_.pop_front();
    then(desk_.now());
  }
}

void Scribe::after(Then then) {
  if (handed_over_.empty()) {
    then(desk_.now());
  } else {
    fences_.emplace_back(done_ + handed_over_.size(), std::move(then));
  }
}

void Scribe::write(const regulation::Record& record, Stored stored) {
  unstored_.push_back(record);
  hand_over<void>([&journal = journal_, record] { return journal.write(record); },
                  [this, stored = std::move(stored)](const Result<void>& written) {
                    if (written) regulation::apply(memory_, unstored_.front());
                    unstored_.pop_front();
                    stored(written);
                  });
}

regulation::Memory Scribe::memory() const {
  regulation::Memory memory = memory_;
  for (const auto& record : unstored_) regulation::apply(memory, record);
  return memory;
}

void Scribe::put_ranks(const std::vector<Rank>& ranks, Stored stored) {
  ranks_ = ranks;
  hand_over<void>([&journal = journal_, ranks] { return journal.put_ranks(ranks); }, std::move(stored));
}

void Scribe::put_lids(std::vector<PortLid> lids, Stored stored) {
  lids_ = lids;
  hand_over<void>([&journal = journal_, lids = std::move(lids)] { return journal.put_lids(lids); },
                  std::move(stored));
}

void Scribe::put_cables(std::vector<Cable> cables, Stored stored) {
  cables_ = cables;
  hand_over<void>([&journal = journal_, cables = std::move(cables)] { return journal.put_cables(cables); },
                  std::move(stored));
}

void Scribe::put_energy(const power::EnergyRecord& record, Stored stored) {
  if (std::exchange(energy_waits_, true)) return;
  hand_over<void>([&journal = journal_, record] { return journal.put_energy(record); },
                  [this, stored = std::move(stored)](const Result<void>& written) {
                    energy_waits_ = false;
                    stored(written);
                  });
}

Result<void> Scribe::not_too_many() const {
  if (waiting() < most_waiting) return {};
  return fail(ErrorCode::Io, fmt::format("the disk has taken nothing of the journal for {:.0f} s; see what "
                                         "keeps it busy, and ask again",
                                         seconds(wait())));
}

void Scribe::append(const Event& event, Stored stored) {
  if (auto room = not_too_many(); !room) return stored(room);
  hand_over<void>(
      [&journal = journal_, event]() -> Result<void> {
        if (auto id = journal.append(event); !id) return fail(id.error());
        return {};
      },
      std::move(stored));
}

void Scribe::events(std::uint64_t after, std::size_t most, Read read) {
  if (auto room = not_too_many(); !room) return read(fail(room.error()));
  if (reads_waiting_ >= most_reads) {
    return read(fail(ErrorCode::Unreachable, "the log of decisions is being read for others; ask again"));
  }
  ++reads_waiting_;
  hand_over<std::vector<Event>>([&journal = journal_, after, most] { return journal.events(after, most); },
                                [this, read = std::move(read)](const Result<std::vector<Event>>& found) {
                                  --reads_waiting_;
                                  read(found);
                                });
}

}  // namespace heddle::journal
