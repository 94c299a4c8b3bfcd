#include "journal/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "support/scratch.h"
#include "support/volatile_disk.h"

namespace heddle::journal {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

class JournalTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return directory_ / "journal.db"; }
  [[nodiscard]] std::unique_ptr<Journal> open() const {
    auto journal = open_journal(path(), {});
    EXPECT_TRUE(journal) << journal.error().message;
    return journal ? std::move(*journal) : nullptr;
  }

  test::Scratch directory_;
};

LinkRef link(std::uint64_t a, std::uint64_t b) {
  return {{NodeGuid{0xffff'0000'0000'0000ULL + a}, PortNum{254}}, {NodeGuid{b}, PortNum{1}}};
}

regulation::OffRecord off(const LinkRef& which) {
  return {which,
          which.a,
          {LinkWidth::X4, LinkSpeed::Hdr},
          power::off_mode,
          regulation::Cause::Regulation,
          Instant{1234567ms},
          "load below 5 %"};
}

/// Lists within a change have no order on disk.
regulation::Memory sorted(regulation::Memory memory) {
  for (auto& [id, intent] : memory.open) {
    std::sort(intent.on.begin(), intent.on.end());
    std::sort(intent.off.begin(), intent.off.end(),
              [](const auto& x, const auto& y) { return x.link < y.link; });
  }
  return memory;
}

TEST_F(JournalTest, KeepsWhatItWasTold) {
  power::EnergyRecord energy;
  energy.links = {{link(3, 2), {Joules{1.5e9}, Joules{2.25}}}};
  energy.switches = {{NodeGuid{7}, {Joules{1}, Joules{2}}}, {NodeGuid{~0ULL}, {Joules{3}, Joules{4}}}};
  energy.total = {Joules{5}, Joules{6}};
  const std::vector<Rank> ranks{{NodeGuid{1}, 0}, {NodeGuid{2}, 65535}};
  const std::vector<PortLid> lids{{{NodeGuid{1}, PortNum{0}}, Lid{1}},
                                  {{NodeGuid{1}, PortNum{254}}, Lid{0xbfff}},
                                  {{NodeGuid{~0ULL}, PortNum{1}}, Lid{2}}};
  const std::vector<Cable> cables{{link(1, 2), "leaf-1", "spine-0"}, {link(9, 2), "twin", "twin"}};
  {
    auto journal = open();
    ASSERT_TRUE(journal->put_ranks(std::vector<Rank>{{NodeGuid{9}, 1}}));
    ASSERT_TRUE(journal->put_ranks(ranks));
    ASSERT_TRUE(journal->put_lids(std::vector<PortLid>{{{NodeGuid{9}, PortNum{1}}, Lid{9}}, lids.back()}));
    ASSERT_TRUE(journal->put_lids(lids));
    ASSERT_TRUE(journal->put_cables(
        std::vector<Cable>{{link(1, 2), "old name", "spine-0"}, cables[1], {link(5, 6), "gone", "gone"}}));
    ASSERT_TRUE(journal->put_cables(cables));
    ASSERT_TRUE(journal->put_energy({}));
    ASSERT_TRUE(journal->put_energy(energy));
    EXPECT_EQ(*journal->append({0, WallTime{9ms}, "confirmed", "a/1 -- b/2", "idle"}), 1U);
  }
  auto journal = open();
  EXPECT_EQ(*journal->ranks(), ranks);
  EXPECT_EQ(*journal->lids(), lids);
  EXPECT_EQ(*journal->cables(), cables);
  EXPECT_EQ(*journal->energy(), energy);
  EXPECT_EQ(*journal->events(0, 10),
            (std::vector{Event{1, WallTime{9ms}, "confirmed", "a/1 -- b/2", "idle"}}));
}

/// A record as the governor might make it, of few links and changes, so that they meet.
regulation::Record a_record() {
  const auto some_link = [] { return link(*rc::gen::inRange(0, 4), 1); };
  const auto some_time = [] { return Instant{std::chrono::milliseconds{*rc::gen::inRange(0, 100'000)}}; };
  const auto some_links = [&] {
    std::set<LinkRef> links;
    for (int i = *rc::gen::inRange(0, 4); i > 0; --i) links.insert(some_link());
    return std::vector<LinkRef>(links.begin(), links.end());
  };
  const auto some_off = [&] {
    std::vector<regulation::OffRecord> records;
    for (const LinkRef& one : some_links()) {
      records.push_back(off(one));
      records.back().since = some_time();
    }
    return records;
  };
  const regulation::ChangeId change{*rc::gen::inRange<std::uint64_t>(1, 4)};
  switch (*rc::gen::inRange(0, 8)) {
    case 0:
      return regulation::Intent{change, some_time(), some_off(), some_links()};
    case 1:
      return regulation::Outcome{change, some_time(), some_off(), some_links(), ""};
    case 2: {
      regulation::Override value;
      value.wish = static_cast<regulation::Wish>(*rc::gen::inRange(0, 4));
      value.reason = "storage";
      value.by = "alice";
      if (*rc::gen::arbitrary<bool>()) value.until = some_time();
      value.forced = *rc::gen::arbitrary<bool>();
      return regulation::OverrideRecord{some_link(), value};
    }
    case 4: {
      const std::string what = *rc::gen::element<std::string>("leaf-1", "it's; a\nname");
      if (*rc::gen::arbitrary<bool>()) return regulation::DrainRecord{what, std::nullopt};
      regulation::Drain drain{what, some_links(), {NodeGuid{1}, NodeGuid{~0ULL}}, "fan", "alice", some_time(),
                              {}};
      if (*rc::gen::arbitrary<bool>()) drain.until = some_time();
      drain.forced = *rc::gen::arbitrary<bool>();
      return regulation::DrainRecord{what, drain};
    }
    case 5: {
      regulation::WakeRecord record;
      for (const LinkRef& one : some_links()) {
        record.links.push_back({one, {}});
        for (int i = *rc::gen::inRange(0, 4); i > 0; --i)
          record.links.back().took.emplace_back(*rc::gen::inRange(0, 600'000));
      }
      return record;
    }
    case 6: {
      if (*rc::gen::arbitrary<bool>()) return regulation::BaselineRecord{};
      const auto plan = *rc::gen::element<std::string>("", "StartDevice,'x'\n\xc3\xa4");
      return regulation::BaselineRecord{
          regulation::Baseline{std::make_shared<const std::string>(plan), "it's.csv", "alice", some_time()}};
    }
    case 3:
      return regulation::ModeRecord{static_cast<regulation::Mode>(*rc::gen::inRange(0, 3)), "bob"};
    default:
      return regulation::PlaneRecord{*rc::gen::inRange(0U, 2U)};
  }
}

TEST_F(JournalTest, ItsMemoryIsTheFoldOfAllRecordsAlsoAfterReopening) {
  rc::check([this] {
    fs::remove(path());
    fs::remove(path() + "-wal");
    regulation::Memory expected;
    auto journal = open();
    for (int i = *rc::gen::inRange(1, 12); i > 0; --i) {
      const regulation::Record record = a_record();
      regulation::apply(expected, record);
      RC_ASSERT(journal->write(record).has_value());
      RC_ASSERT(journal->memory() == expected);
    }
    journal.reset();
    RC_ASSERT(sorted(open()->memory()) == sorted(expected));
  });
}

// As a recording has it, and a replay goes on with it.
TEST_F(JournalTest, AnImageHasAllOfItAndIsApart) {
  const std::vector<Rank> ranks{{NodeGuid{1}, 0}};
  auto journal = open();
  ASSERT_TRUE(journal->put_ranks(ranks));
  ASSERT_TRUE(journal->write(regulation::Intent{regulation::ChangeId{1}, Instant{}, {off(link(3, 2))}, {}}));
  const auto image = journal->image();  // of what is in the log beside the file, too
  ASSERT_TRUE(image) << image.error().message;
  auto played = open_image(*image, {});
  ASSERT_TRUE(played) << played.error().message;
  EXPECT_EQ((*played)->memory(), journal->memory());
  EXPECT_EQ(*(*played)->ranks(), ranks);
  EXPECT_EQ(*(*played)->append({0, WallTime{9ms}, "confirmed", "", ""}), 1U);
  ASSERT_TRUE((*played)->write(regulation::ModeRecord{regulation::Mode::Off, "bob"}));
  EXPECT_NE((*played)->memory().mode, journal->memory().mode);
  EXPECT_TRUE(journal->events(0, 10)->empty());
  EXPECT_FALSE(open_image("no database", {}));
}

TEST_F(JournalTest, TimesMoveWithTheClockOfTheFabric) {
  {
    auto journal = open();
    ASSERT_TRUE(journal->write(regulation::Intent{regulation::ChangeId{1}, Instant{5s}, {}, {}}));
  }
  // An hour later, on a host whose clock began anew.
  auto later = open_journal(path(), {WallTime{1h}, Instant{0s}});
  ASSERT_TRUE(later);
  EXPECT_EQ((*later)->memory().open.at(regulation::ChangeId{1}).at, Instant{5s - 1h});
}

TEST_F(JournalTest, GivesTheNewestEventsAndForgetsTheOldest) {
  auto journal = open();
  ASSERT_TRUE(journal->append({0, WallTime{1ms}, "mode", "", "first"}));
  ASSERT_TRUE(journal->append({0, WallTime{2ms}, "mode", "", "second"}));
  ASSERT_TRUE(journal->append({0, WallTime{3ms}, "mode", "", "third"}));
  EXPECT_EQ(journal->events(0, 2)->front().text, "second");
  EXPECT_EQ(journal->events(2, 10)->size(), 1U);
  EXPECT_TRUE(journal->events(3, 10)->empty());
}

// Whatever mask it was started with: who turned what off, and why, is nobody else's.
// The log beside the file grows with the largest change, and not with their number.
TEST_F(JournalTest, FitsIntoASmallDirectory) {
  const auto journal = open();
  constexpr std::uintmax_t room = 1U << 20U;
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    ASSERT_TRUE(journal->append({0, {}, "decided", "leaf-0/1 -- spine-0/1", std::string(100, 'x')}));
    ASSERT_TRUE(
        journal->write(regulation::Intent{regulation::ChangeId{i}, Instant{}, {off(link(i, i))}, {}}));
    ASSERT_TRUE(journal->write(regulation::Outcome{regulation::ChangeId{i}, Instant{}, {}, {}, ""}));
    std::uintmax_t size = 0;
    for (const auto& file : fs::directory_iterator(directory_.path())) size += file.file_size();
    ASSERT_LT(size, room) << "after " << i << " changes";
  }
}

TEST_F(JournalTest, IsItsOwnersAlone) {
  const auto mode = [this] { return fs::status(path()).permissions(); };
  constexpr auto mine = fs::perms::owner_read | fs::perms::owner_write;
  EXPECT_TRUE(open());
  EXPECT_EQ(mode(), mine);
  fs::permissions(path(), mine | fs::perms::group_read | fs::perms::others_read);
  const auto journal = open();
  EXPECT_EQ(mode(), mine);
  for (const auto& file : fs::directory_iterator(directory_.path()))
    EXPECT_EQ(file.status().permissions(), mine) << file.path();
}

TEST_F(JournalTest, SeesThatItsFileIsGoneOrAnotherOne) {
  const auto journal = open();
  EXPECT_TRUE(journal->check());
  ASSERT_TRUE(journal->write(regulation::ModeRecord{regulation::Mode::Enforce, "alice"}));
  EXPECT_TRUE(journal->check());
  fs::remove(path());
  ASSERT_FALSE(journal->check());
  EXPECT_EQ(journal->check().error().code, ErrorCode::Io);
  EXPECT_THAT(journal->check().error().message, HasSubstr("the file was deleted"));
  std::ofstream(path()) << "another one";
  EXPECT_THAT(journal->check().error().message, HasSubstr("another file"));
}

TEST_F(JournalTest, IsForOneDaemonAtATime) {
  auto journal = open();
  ASSERT_TRUE(journal->write(regulation::ModeRecord{}));
  const auto second = open_journal(path(), {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::Io);
  EXPECT_THAT(second.error().message, HasSubstr(path()));
  EXPECT_THAT(second.error().message, HasSubstr("another program holds it"));
}

TEST_F(JournalTest, RefusesAnotherProgramsDatabase) {
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &raw), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(raw, "CREATE TABLE mine(x)", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(raw);
  const auto journal = open_journal(path(), {});
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, ErrorCode::Invalid);
  EXPECT_THAT(journal.error().message, HasSubstr("another program"));
}

TEST_F(JournalTest, RefusesWhatIsNoDatabase) {
  std::ofstream(path()) << std::string(8192, 'x');
  const auto journal = open_journal(path(), {});
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, ErrorCode::Invalid);
  const std::string& told = journal.error().message;
  EXPECT_THAT(told, HasSubstr("the file is damaged (file is not a database)"));
  EXPECT_EQ(told.find(path()), told.rfind(path())) << "named twice: " << told;
}

TEST_F(JournalTest, RefusesALaterSchema) {
  (void)open();
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &raw), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(raw, "PRAGMA user_version=99", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(raw);
  const auto journal = open_journal(path(), {});
  ASSERT_FALSE(journal);
  EXPECT_THAT(journal.error().message, HasSubstr("later version"));
}

TEST_F(JournalTest, TakesOverTheSchemaBefore) {
  const regulation::OverrideRecord before{link(1, 2), {regulation::Wish::Off, "cable", "ada", std::nullopt}};
  ASSERT_TRUE(open()->write(before));
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &raw), SQLITE_OK);
  ASSERT_EQ(
      sqlite3_exec(
          raw,
          "ALTER TABLE override DROP COLUMN forced; DROP TABLE drain; DROP TABLE drain_link; DROP TABLE "
          "drain_node; DROP TABLE wake; DROP TABLE lid; DROP TABLE baseline; DROP TABLE cable; PRAGMA "
          "user_version=1",
          nullptr, nullptr, nullptr),
      SQLITE_OK);
  sqlite3_close(raw);
  auto after = before;
  {
    auto journal = open();
    ASSERT_TRUE(journal);
    EXPECT_EQ(journal->memory().overrides.at(before.link), before.value);
    after.value.forced = true;
    ASSERT_TRUE(journal->write(after));
  }
  EXPECT_EQ(open()->memory().overrides.at(before.link), after.value);
  const regulation::Drain drain{"leaf-1", {link(1, 2)}, {NodeGuid{2}}, "", "ada", Instant{5s}, Instant{9s}};
  ASSERT_TRUE(open()->write(regulation::DrainRecord{drain.what, drain}));
  EXPECT_EQ(open()->memory().drains.at(drain.what), drain);
  const regulation::WakeHistory wakes{link(1, 2), {4s, 180s}};
  ASSERT_TRUE(open()->write(regulation::WakeRecord{{wakes}}));
  EXPECT_EQ(open()->memory().wakes.at(wakes.link), wakes.took);
}

TEST_F(JournalTest, TakesOverTheThirdSchema) {
  ASSERT_TRUE(open()->write(regulation::PlaneRecord{1}));
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &raw), SQLITE_OK);
  ASSERT_EQ(
      sqlite3_exec(
          raw,
          "DROP TABLE wake; DROP TABLE lid; DROP TABLE baseline; DROP TABLE cable; PRAGMA user_version=3",
          nullptr, nullptr, nullptr),
      SQLITE_OK);
  sqlite3_close(raw);
  const regulation::WakeHistory wakes{link(1, 2), {4s}};
  ASSERT_TRUE(open()->write(regulation::WakeRecord{{wakes}}));
  EXPECT_EQ(open()->memory().plane, 1U);
  EXPECT_EQ(open()->memory().wakes.at(wakes.link), wakes.took);
}

TEST_F(JournalTest, TakesOverTheFourthSchema) {
  ASSERT_TRUE(open()->write(regulation::PlaneRecord{1}));
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &raw), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(raw, "DROP TABLE lid; DROP TABLE baseline; DROP TABLE cable; PRAGMA user_version=4",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(raw);
  EXPECT_TRUE(open()->lids()->empty());
  const std::vector<PortLid> lids{{{NodeGuid{1}, PortNum{1}}, Lid{4}}};
  ASSERT_TRUE(open()->put_lids(lids));
  EXPECT_EQ(open()->memory().plane, 1U);
  EXPECT_EQ(*open()->lids(), lids);
}

TEST_F(JournalTest, TakesOverTheFifthSchema) {
  ASSERT_TRUE(open()->write(regulation::PlaneRecord{1}));
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &raw), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(raw, "DROP TABLE baseline; DROP TABLE cable; PRAGMA user_version=5", nullptr,
                         nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(raw);
  const regulation::Baseline baseline{std::make_shared<const std::string>("plan"), "cables.csv", "ada",
                                      Instant{5s}};
  ASSERT_TRUE(open()->write(regulation::BaselineRecord{baseline}));
  EXPECT_EQ(open()->memory().plane, 1U);
  EXPECT_EQ(open()->memory().baseline, baseline);
}

TEST_F(JournalTest, TakesOverTheSixthSchema) {
  ASSERT_TRUE(open()->write(regulation::PlaneRecord{1}));
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &raw), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(raw, "DROP TABLE cable; PRAGMA user_version=6", nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(raw);
  EXPECT_TRUE(open()->cables()->empty());
  const std::vector<Cable> cables{{link(1, 2), "leaf-1", "spine-0"}};
  ASSERT_TRUE(open()->put_cables(cables));
  EXPECT_EQ(open()->memory().plane, 1U);
  EXPECT_EQ(*open()->cables(), cables);
}

// SQLite's check knows nothing of it; 300 was port 44, and of a rank that cannot be read none was known.
TEST_F(JournalTest, RefusesValuesThatCannotBe) {
  for (const char* damage : {"UPDATE lid SET port=300", "UPDATE rank SET rank=70000"}) {
    fs::remove(path());
    {
      auto journal = open();
      const std::vector<PortLid> lids{{PortRef{NodeGuid{7}, PortNum{1}}, Lid{5}}};
      const std::vector<Rank> ranks{{NodeGuid{7}, 1}};
      ASSERT_TRUE(journal->put_lids(lids));
      ASSERT_TRUE(journal->put_ranks(ranks));
    }
    sqlite3* raw = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &raw), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(raw, damage, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(raw);
    const auto journal = open_journal(path(), {});
    ASSERT_FALSE(journal) << damage;
    EXPECT_THAT(journal.error().message, HasSubstr("damaged (it has values that cannot be)"));
  }
}

TEST_F(JournalTest, RefusesADamagedPage) {
  {
    auto journal = open();
    regulation::Intent intent{regulation::ChangeId{1}, Instant{}, {}, {}};
    for (std::uint64_t i = 0; i < 500; ++i) intent.off.push_back(off(link(i, i + 1)));
    ASSERT_TRUE(journal->write(intent));
  }
  {
    std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(fs::file_size(path()) - 4096));
    file << std::string(4096, '\xa5');
  }
  const auto journal = open_journal(path(), {});
  ASSERT_FALSE(journal);
  EXPECT_THAT(journal.error().message, HasSubstr("damaged"));
}

// A crash leaves the main file and a log whose last part never reached the disk: what was answered is there
// up to the last whole change, and never half of one.
TEST_F(JournalTest, ATornLogLosesWholeChangesOnly) {
  const fs::path copy = directory_ / "copy.db";
  const std::string wal = path() + "-wal";
  std::vector<std::uintmax_t> sizes;
  auto journal = open();
  for (std::uint64_t i = 0; i < 5; ++i) {
    ASSERT_TRUE(journal->write(regulation::Outcome{
        regulation::ChangeId{i}, Instant{}, {off(link(2 * i, 1)), off(link(2 * i + 1, 1))}, {}, ""}));
    sizes.push_back(fs::file_size(wal));
  }
  fs::copy_file(path(), copy);
  for (std::uintmax_t cut = 0; cut <= sizes.back(); cut += 509) {
    fs::copy_file(wal, copy.string() + "-wal", fs::copy_options::overwrite_existing);
    fs::resize_file(copy.string() + "-wal", cut);
    const fs::path again = directory_ / "again.db";
    fs::copy_file(copy, again, fs::copy_options::overwrite_existing);
    fs::copy_file(copy.string() + "-wal", again.string() + "-wal", fs::copy_options::overwrite_existing);
    auto reopened = open_journal(again, {});
    ASSERT_TRUE(reopened) << reopened.error().message;
    const auto whole = static_cast<std::size_t>(
        std::count_if(sizes.begin(), sizes.end(), [&](std::uintmax_t size) { return size <= cut; }));
    EXPECT_EQ((*reopened)->memory().off.size(), 2 * whole) << "cut at " << cut;
  }
}

// Moving the file away, as one does with a damaged one, would orphan every link that is off.
TEST_F(JournalTest, ADiskThatFailsDamagesNothing) {
  test::VolatileDisk disk{18};
  regulation::OffRecord long_one = off(link(1, 2));
  long_one.reason.assign(100'000, '.');  // the check reads what does not fit into one page in another way
  ASSERT_TRUE(open()->write(regulation::Outcome{regulation::ChangeId{1}, Instant{}, {long_one}, {}, ""}));
  int failed = 0;
  for (int i = 0; i < 300; ++i) {
    disk.set_manners({.fails = 0.1});
    const auto journal = open_journal(path(), {});
    disk.set_manners({});
    if (journal) continue;
    ++failed;
    ASSERT_EQ(journal.error().code, ErrorCode::Io) << journal.error().message;
  }
  EXPECT_GT(failed, 0);
  EXPECT_EQ(open()->memory().off.size(), 1U);
}

// Whatever part of what was not synced reaches the disk when the power goes, and whichever writes the disk
// has refused before.
TEST_F(JournalTest, APowerCutForgetsNothingThatWasAnswered) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    test::VolatileDisk disk{seed};
    std::set<LinkRef> answered;
    for (std::uint64_t i = 0; i < 60; ++i) {
      auto journal = open();
      ASSERT_NE(journal, nullptr);
      disk.set_manners({.fails = seed % 2 == 0 ? 0.02 : 0});
      for (std::uint64_t k = 0; k < 1 + seed % 7; ++k) {
        const LinkRef ref = link(100 * i + k, 1);
        if (journal->write(regulation::Outcome{regulation::ChangeId{i}, Instant{}, {off(ref)}, {}, ""}))
          answered.insert(ref);
      }
      disk.set_manners({});
      disk.lose_power();
    }
    const auto journal = open();
    ASSERT_NE(journal, nullptr);
    for (const LinkRef& ref : answered) ASSERT_TRUE(journal->memory().off.contains(ref)) << "seed " << seed;
  }
}

TEST_F(JournalTest, SaysWhatIsThereInPlaceOfAFile) {
  const auto says = [&](const char* what) {
    const auto journal = open_journal(path(), {});
    ASSERT_FALSE(journal) << what;
    EXPECT_THAT(journal.error().message,
                ::testing::AllOf(HasSubstr(path() + ": this is " + what), HasSubstr("move it away")));
    fs::remove(path());
  };
  fs::create_directory(path());
  says("a directory");
  ASSERT_EQ(mkfifo(path().c_str(), S_IRUSR | S_IWUSR), 0);
  says("a named pipe");
  fs::create_symlink("/dev/null", path());
  says("a device");
  fs::create_symlink(directory_ / "nowhere", path());
  says("a symbolic link that leads nowhere");
}

TEST_F(JournalTest, NamesADirectoryThatIsNotThere) {
  const auto journal = open_journal(directory_.path() / "missing" / "journal.db", {});
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, ErrorCode::Io);
  EXPECT_THAT(journal.error().message, HasSubstr("missing/journal.db"));
}

}  // namespace
}  // namespace heddle::journal
