#include "shared/shared_journal.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "shared/candidate.h"
#include "shared/record_text.h"
#include "support/memory_store.h"
#include "support/scratch.h"

namespace heddle::shared {
namespace {

using namespace std::chrono_literals;
using namespace regulation;
using journal::Calendar;

LinkRef link(std::uint64_t n) { return {{NodeGuid{n}, PortNum{1}}, {NodeGuid{~n}, PortNum{36}}}; }

OffRecord off(std::uint64_t n) {
  return {link(n),     link(n).a,     {LinkWidth::X4, LinkSpeed::Xdr}, power::off_mode, Cause::Operator,
          Instant{5s}, "\"quoted\"\n"};
}

Drain drain() { return {"leaf-0", {link(3)}, {NodeGuid{3}}, "fans", "ada", Instant{1s}, Instant{9s}, true}; }

Baseline baseline() {
  return {std::make_shared<const std::string>("StartDevice,\"x\"\n"), "cables.csv", "ada", Instant{4s}};
}

std::vector<Record> one_of_each() {
  return {Intent{ChangeId{~std::uint64_t{}}, Instant{2s}, {off(1), off(2)}, {link(4)}},
          Outcome{ChangeId{7}, Instant{3s}, {off(1)}, {link(2)}, "one did not answer"},
          OverrideRecord{link(5), {Wish::Pin, "storage", "ada", Instant{8s}, true}},
          OverrideRecord{link(5), {}},
          ModeRecord{Mode::Enforce, "ada"},
          PlaneRecord{1},
          DrainRecord{"leaf-0", drain()},
          DrainRecord{"leaf-0", std::nullopt},
          BaselineRecord{baseline()},
          BaselineRecord{},
          WakeRecord{{{link(6), {4500ms, 180s}}, {link(7), {}}}}};
}

const Calendar here{journal::WallTime{1'700'000'000'000ms}, Instant{}};

TEST(RecordText, IsReadAsItWasWritten) {
  const auto all = one_of_each();
  const auto read = records_in(to_text(all, here), here);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(*read, all);
}

TEST(RecordText, MeansTheSameTimeOnAnotherHost) {
  const Calendar there{here.wall + 10s, Instant{100s}};
  const Record record = Intent{ChangeId{1}, Instant{2s}, {}, {}};
  const auto read = records_in(to_text(std::span(&record, 1), here), there);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(std::get<Intent>(read->front()).at, Instant{92s});
}

TEST(RecordText, IsRefusedWhereSomethingIsMissingOrDoesNotFit) {
  const std::string good = to_text(one_of_each(), here);
  ASSERT_TRUE(records_in(good, here));
  for (const char* bad : {"", "{}", "[1]", "[{}]", R"([{"intent":1}])", R"([{"mode":"on","by":""}])",
                          R"([{"plane":-1}])", R"([{"intent":1,"at":9223372036854775807,"off":[],"on":[]}])",
                          R"([{"intent":1,"at":0,"off":[],"on":["0x1:1"]}])",
                          R"([{"intent":1,"at":0,"off":[],"on":["0x1:256 0x2:1"]}])",
                          R"([{"wakes":[{"link":"0x1:1 0x2:1","took":[-1]}]}])", R"([{"wakes":[1]}])"}) {
    EXPECT_FALSE(records_in(bad, here)) << bad;
  }
  for (std::size_t cut = 0; cut < good.size(); ++cut) EXPECT_FALSE(records_in(good.substr(0, cut), here));
}

TEST(RecordText, HasRanks) {
  const std::vector<journal::Rank> ranks{{NodeGuid{1}, 0}, {NodeGuid{~std::uint64_t{}}, 65535}};
  EXPECT_EQ(ranks_in(to_text(ranks)), ranks);
  EXPECT_FALSE(ranks_in("[]"));
  EXPECT_FALSE(ranks_in(R"({"0x1":65536})"));
}

/// A host with its own file, that owns the fabric or follows.
struct Owner {
  explicit Owner(MemoryStore& where, const std::string& name = "a")
      : store{where}, candidate{where, lease, {.prefix = "/h", .name = name, .lease = 5s}} {}

  /// Takes the place, and opens the journal with what `file` has.
  void own(std::unique_ptr<journal::Journal> file = empty_file()) {
    const Beat beat = candidate.beat(Fit::Yes);
    ASSERT_TRUE(beat.taken);
    take(texts, "/h", beat.changed);
    auto stored = journal_in(texts, here);
    ASSERT_TRUE(stored.has_value()) << stored.error().message;
    journal = shared_journal(std::move(file), *std::move(stored),
                             {store, lease, "/h", candidate.guard(), 0ms}, here);
  }
  static std::unique_ptr<journal::Journal> empty_file() {
    static const test::Scratch directory;
    static int files = 0;
    return *journal::open_journal(directory / fmt::format("{}.db", ++files), here);
  }

  MemoryStore& store;
  Lease lease{MemoryStore::now};
  Candidate candidate;
  Texts texts;
  std::unique_ptr<journal::Journal> journal;
};

struct SharedJournalTest : testing::Test {
  MemoryStore store;
  Owner a{store, "a"};
  Owner b{store, "b"};
};

TEST_F(SharedJournalTest, AnotherHostGoesOnWithAll) {
  a.own();
  for (const Record& record : one_of_each()) ASSERT_TRUE(a.journal->write(record).has_value());
  ASSERT_TRUE(a.journal->put_ranks(std::vector<journal::Rank>{{NodeGuid{1}, 2}}).has_value());
  const std::vector<journal::PortLid> lids{{{NodeGuid{1}, PortNum{0}}, Lid{1}},
                                           {{NodeGuid{3}, PortNum{1}}, Lid{4}}};
  ASSERT_TRUE(a.journal->put_lids(lids).has_value());
  const std::vector<journal::Cable> cables{{link(1), "leaf \"1\"", "spine-0"}};
  ASSERT_TRUE(a.journal->put_cables(cables).has_value());
  const Memory known = a.journal->memory();
  a.candidate.resign();
  b.own();
  EXPECT_EQ(b.journal->memory(), known);
  EXPECT_EQ(b.journal->cables(), cables);
  EXPECT_EQ(b.journal->ranks(), (std::vector<journal::Rank>{{NodeGuid{1}, 2}}));
  EXPECT_EQ(b.journal->lids(), lids);
  // And the one after that, when its file has all as well.
  ASSERT_TRUE(b.journal->write(PlaneRecord{0}).has_value());
  b.candidate.resign();
  Owner c{store, "c"};
  c.own();
  EXPECT_EQ(c.journal->memory(), b.journal->memory());
}

TEST_F(SharedJournalTest, BeginsWithWhatTheFileKnowsWhereNothingIsStored) {
  auto file = Owner::empty_file();
  ASSERT_TRUE(file->write(Outcome{ChangeId{3}, Instant{1s}, {off(1)}, {}, ""}).has_value());
  const std::vector<journal::PortLid> lids{{{NodeGuid{3}, PortNum{1}}, Lid{4}}};
  ASSERT_TRUE(file->put_lids(lids).has_value());
  const std::vector<journal::Cable> cables{{link(1), "leaf-1", "spine-0"}};
  ASSERT_TRUE(file->put_cables(cables).has_value());
  a.own(std::move(file));
  ASSERT_TRUE(a.journal->write(PlaneRecord{1}).has_value());
  a.candidate.resign();
  b.own();
  EXPECT_TRUE(b.journal->memory().off.contains(link(1)));
  EXPECT_EQ(b.journal->lids(), lids);
  EXPECT_EQ(b.journal->cables(), cables);
}

// The sum goes on; what each link drew is known where it was measured.
TEST_F(SharedJournalTest, AnotherHostGoesOnWithTheEnergyOfTheFabric) {
  a.own();
  power::EnergyRecord spent;
  spent.links = {{link(1), {Joules{7.5}, Joules{1}}}};
  spent.total = {Joules{1.5e9}, Joules{0.1}};
  ASSERT_TRUE(a.journal->put_energy(spent).has_value());
  EXPECT_EQ(a.journal->energy()->links, spent.links);
  a.candidate.resign();
  b.own();
  EXPECT_EQ(b.journal->energy()->total, spent.total);
  EXPECT_TRUE(b.journal->energy()->links.empty());
}

TEST_F(SharedJournalTest, EnergyIsKeptInTheFileWhileTheStoreIsAway) {
  auto file = Owner::empty_file();
  journal::Journal& kept = *file;
  a.own(std::move(file));
  store.cut = MemoryStore::Cut::Before;
  power::EnergyRecord spent;
  spent.total = {Joules{3}, Joules{4}};
  EXPECT_FALSE(a.journal->put_energy(spent).has_value());
  EXPECT_EQ(kept.energy()->total, spent.total);
}

TEST_F(SharedJournalTest, WhatIsStoredCountsMoreThanTheFile) {
  a.own();
  ASSERT_TRUE(a.journal->write(Outcome{ChangeId{3}, Instant{1s}, {off(1)}, {}, ""}).has_value());
  a.candidate.resign();
  auto file = Owner::empty_file();
  ASSERT_TRUE(file->write(Outcome{ChangeId{2}, Instant{1s}, {off(2)}, {}, ""}).has_value());
  journal::Journal& seen = *file;
  b.own(std::move(file));
  ASSERT_TRUE(b.journal->write(PlaneRecord{1}).has_value());
  EXPECT_FALSE(b.journal->memory().off.contains(link(2)));
  EXPECT_EQ(seen.memory(), b.journal->memory());
}

TEST_F(SharedJournalTest, NothingIsStoredWithoutTheLease) {
  a.own();
  ASSERT_TRUE(a.journal->write(PlaneRecord{1}).has_value());
  MemoryStore::time += 10s;
  const auto before = store.all();
  EXPECT_FALSE(a.journal->write(PlaneRecord{0}).has_value());
  EXPECT_EQ(store.all(), before);
  EXPECT_EQ(a.journal->memory().plane, 1U);
}

TEST_F(SharedJournalTest, WhoeverWasPushedAsideStopsAtOnce) {
  a.own();
  ASSERT_TRUE(a.journal->write(PlaneRecord{1}).has_value());
  (void)store.commit({std::nullopt, {{.what = Operation::What::Delete, .key = "/h/owner"}}});
  b.own();
  EXPECT_TRUE(a.lease.held());
  EXPECT_FALSE(a.journal->write(PlaneRecord{0}).has_value());
  EXPECT_FALSE(a.lease.held());
  EXPECT_EQ(b.journal->memory().plane, 1U);
}

TEST_F(SharedJournalTest, AWriteWithoutAnswerMayBeRepeated) {
  a.own();
  ASSERT_TRUE(a.journal->write(PlaneRecord{1}).has_value());
  for (const auto cut : {MemoryStore::Cut::Before, MemoryStore::Cut::After}) {
    store.cut = cut;
    EXPECT_FALSE(a.journal->write(PlaneRecord{2}).has_value());
    store.cut = MemoryStore::Cut::None;
  }
  ASSERT_TRUE(a.journal->write(PlaneRecord{3}).has_value());
  a.candidate.resign();
  b.own();
  EXPECT_EQ(b.journal->memory().plane, 3U);
}

TEST_F(SharedJournalTest, AStoreThatIsAwayForAMomentLosesNothing) {
  a.own();
  ASSERT_TRUE(a.journal->write(PlaneRecord{1}).has_value());
  store.cut = MemoryStore::Cut::After;
  store.cut_calls = most_attempts - 1;
  EXPECT_TRUE(a.journal->write(PlaneRecord{2}).has_value());
  a.candidate.resign();
  b.own();
  EXPECT_EQ(b.journal->memory().plane, 2U);
}

/// A file whose disk is full at times.
struct FullAtTimes final : journal::Journal {
  std::unique_ptr<journal::Journal> file = Owner::empty_file();
  bool full = false;

  Result<void> write(const Record& record) override {
    return full ? fail(ErrorCode::Io, "disk is full") : file->write(record);
  }
  const Memory& memory() const override { return file->memory(); }
  Result<void> put_ranks(std::span<const journal::Rank> ranks) override { return file->put_ranks(ranks); }
  Result<std::vector<journal::Rank>> ranks() const override { return file->ranks(); }
  Result<void> put_lids(std::span<const journal::PortLid> lids) override { return file->put_lids(lids); }
  Result<std::vector<journal::PortLid>> lids() const override { return file->lids(); }
  Result<void> put_cables(std::span<const journal::Cable> cables) override {
    return file->put_cables(cables);
  }
  Result<std::vector<journal::Cable>> cables() const override { return file->cables(); }
  Result<void> put_energy(const power::EnergyRecord& record) override { return file->put_energy(record); }
  Result<power::EnergyRecord> energy() const override { return file->energy(); }
  Result<std::uint64_t> append(const journal::Event& event) override { return file->append(event); }
  Result<std::vector<journal::Event>> events(std::uint64_t after, std::size_t most) const override {
    return file->events(after, most);
  }
};

TEST_F(SharedJournalTest, AFileThatMissedSomethingCatchesUp) {
  auto file = std::make_unique<FullAtTimes>();
  FullAtTimes& disk = *file;
  a.own(std::move(file));
  ASSERT_TRUE(a.journal->write(PlaneRecord{1}).has_value());
  disk.full = true;
  EXPECT_FALSE(a.journal->write(Outcome{ChangeId{3}, Instant{1s}, {off(1)}, {}, ""}).has_value());
  disk.full = false;
  ASSERT_TRUE(a.journal->write(PlaneRecord{2}).has_value());
  EXPECT_TRUE(disk.memory().off.contains(link(1)));
  EXPECT_EQ(disk.memory(), a.journal->memory());
}

TEST_F(SharedJournalTest, StaysSmall) {
  a.own();
  for (unsigned n = 0; n < 3 * records_per_snapshot; ++n) {
    MemoryStore::time += 1ms;
    ASSERT_TRUE(a.journal->write(PlaneRecord{n % 2}).has_value());
    if (n % 100 == 0) (void)a.candidate.beat(Fit::Yes);
  }
  EXPECT_LT(store.all().size(), records_per_snapshot + 10);
  take(b.texts, "/h", b.candidate.beat(Fit::No).changed);
  drop_old_records(b.texts);
  EXPECT_LT(b.texts.size(), records_per_snapshot + 10);
}

TEST_F(SharedJournalTest, ARecordLargerThanTheStoreTakesIsThereAsAWhole) {
  a.own();
  Intent large{ChangeId{1}, Instant{}, {}, {}};
  for (std::uint64_t n = 0; n < 20'000; ++n) large.off.push_back(off(n));
  // Cut off in the middle, it is not there at all.
  ASSERT_TRUE(a.journal->write(PlaneRecord{1}).has_value());
  ASSERT_TRUE(a.journal->write(large).has_value());
  for (const auto& [key, value] : store.all()) EXPECT_LE(value.value.size(), Writer::most_at_once + 1);
  a.candidate.resign();
  b.own();
  ASSERT_TRUE(b.journal->memory().open.contains(ChangeId{1}));
  EXPECT_EQ(b.journal->memory().open.at(ChangeId{1}), large);
}

TEST(SharedTexts, WithoutAPartAreNotThere) {
  MemoryStore store;
  Writer writer{store, "/h", {"/h/owner", 0}};
  const std::string long_text(2 * Writer::most_at_once + 1, 'x');
  ASSERT_TRUE(writer.put("plan", long_text).has_value());
  Texts texts;
  for (const auto& [key, value] : store.all()) take(texts, "/h", {value});
  EXPECT_EQ(whole_text(texts, "plan"), long_text);
  ASSERT_EQ(texts.size(), 4U);
  texts.erase(texts.begin());
  EXPECT_TRUE(texts.contains("plan"));
  EXPECT_FALSE(whole_text(texts, "plan"));
  // A later text takes the parts of this one away.
  ASSERT_TRUE(writer.put("plan", "short").has_value());
  EXPECT_EQ(store.all().size(), 1U);
}

}  // namespace
}  // namespace heddle::shared
