#include "journal/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>

namespace heddle::journal {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

class JournalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    directory_ = fs::path(::testing::TempDir()) / (std::string("heddle-journal-") + test->name());
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }

  [[nodiscard]] std::string path() const { return directory_ / "journal.db"; }
  [[nodiscard]] std::unique_ptr<Journal> open() const {
    auto journal = open_journal(path());
    EXPECT_TRUE(journal) << journal.error().message;
    return journal ? std::move(*journal) : nullptr;
  }

  fs::path directory_;
};

LinkRef link(std::uint64_t a, std::uint64_t b) {
  return {{NodeGuid{0xffff'0000'0000'0000ULL + a}, PortNum{254}}, {NodeGuid{b}, PortNum{1}}};
}

LinkEntry off(const LinkRef& which) {
  return {which,           LinkWidth::X4,     LinkSpeed::Hdr,   Target::Off,
          Stage::Intended, Owner::Regulation, "load below 5 %", WallTime{1234567ms}};
}

TEST_F(JournalTest, KeepsWhatItWasTold) {
  const LinkEntry entry = off(link(1, 2));
  const Override wish{link(3, 4), Wish::Pin, "storage", "alice", WallTime{5ms}, WallTime{7ms}, true};
  const Override endless{link(5, 6), Wish::Off, "", "", WallTime{5ms}, std::nullopt, false};
  const EnergyTotal total{"total", Joules{1.5e9}, Joules{2.25}};
  const std::vector<Rank> ranks{{NodeGuid{1}, 0}, {NodeGuid{2}, 65535}};
  {
    auto journal = open();
    ASSERT_TRUE(journal->put(std::span(&entry, 1)));
    ASSERT_TRUE(journal->put(wish));
    ASSERT_TRUE(journal->put(endless));
    ASSERT_TRUE(journal->put_mode("enforce"));
    ASSERT_TRUE(journal->put_ranks(ranks));
    ASSERT_TRUE(journal->put_energy(std::span(&total, 1)));
    EXPECT_EQ(*journal->append({0, WallTime{9ms}, "off", "a/1 -- b/2", "idle"}), 1U);
  }
  auto journal = open();
  EXPECT_EQ(*journal->links(), std::vector{entry});
  EXPECT_THAT(*journal->overrides(), ::testing::UnorderedElementsAre(wish, endless));
  EXPECT_EQ(*journal->mode(), "enforce");
  EXPECT_EQ(*journal->ranks(), ranks);
  EXPECT_EQ(*journal->energy(), std::vector{total});
  EXPECT_EQ(*journal->events(0, 10), (std::vector{Event{1, WallTime{9ms}, "off", "a/1 -- b/2", "idle"}}));
}

TEST_F(JournalTest, ReplacesAndForgets) {
  auto journal = open();
  LinkEntry entry = off(link(1, 2));
  const LinkEntry other = off(link(2, 3));
  ASSERT_TRUE(journal->put(std::vector{entry, other}));
  entry.stage = Stage::Done;
  ASSERT_TRUE(journal->put(std::span(&entry, 1)));
  EXPECT_EQ(*journal->links(), (std::vector{entry, other}));
  ASSERT_TRUE(journal->forget(std::span(&entry.link, 1)));
  EXPECT_EQ(*journal->links(), std::vector{other});
  ASSERT_TRUE(journal->put(Override{link(1, 2), Wish::On, "", "", WallTime{}, std::nullopt, false}));
  ASSERT_TRUE(journal->forget_override(link(1, 2)));
  EXPECT_TRUE(journal->overrides()->empty());
  ASSERT_TRUE(journal->put_ranks(std::vector<Rank>{{NodeGuid{1}, 1}}));
  ASSERT_TRUE(journal->put_ranks(std::vector<Rank>{{NodeGuid{2}, 2}}));
  EXPECT_EQ(*journal->ranks(), (std::vector<Rank>{{NodeGuid{2}, 2}}));
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

TEST_F(JournalTest, IsForOneDaemonAtATime) {
  auto journal = open();
  ASSERT_TRUE(journal->put_mode("enforce"));
  const auto second = open_journal(path());
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr(path()));
}

TEST_F(JournalTest, RefusesAnotherProgramsDatabase) {
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &raw), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(raw, "CREATE TABLE mine(x)", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(raw);
  const auto journal = open_journal(path());
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, ErrorCode::Invalid);
  EXPECT_THAT(journal.error().message, HasSubstr("another program"));
}

TEST_F(JournalTest, RefusesWhatIsNoDatabase) {
  std::ofstream(path()) << std::string(8192, 'x');
  const auto journal = open_journal(path());
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, ErrorCode::Invalid);
  EXPECT_THAT(journal.error().message, HasSubstr("damaged"));
}

TEST_F(JournalTest, RefusesALaterSchema) {
  (void)open();
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &raw), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(raw, "PRAGMA user_version=99", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(raw);
  const auto journal = open_journal(path());
  ASSERT_FALSE(journal);
  EXPECT_THAT(journal.error().message, HasSubstr("later version"));
}

TEST_F(JournalTest, RefusesADamagedPage) {
  {
    auto journal = open();
    std::vector<LinkEntry> entries;
    for (std::uint64_t i = 0; i < 500; ++i) entries.push_back(off(link(i, i + 1)));
    ASSERT_TRUE(journal->put(entries));
  }
  {
    std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(fs::file_size(path()) - 4096));
    file << std::string(4096, '\xa5');
  }
  const auto journal = open_journal(path());
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
    ASSERT_TRUE(journal->put(std::vector{off(link(2 * i, 1)), off(link(2 * i + 1, 1))}));
    sizes.push_back(fs::file_size(wal));
  }
  fs::copy_file(path(), copy);
  for (std::uintmax_t cut = 0; cut <= sizes.back(); cut += 509) {
    fs::copy_file(wal, copy.string() + "-wal", fs::copy_options::overwrite_existing);
    fs::resize_file(copy.string() + "-wal", cut);
    const fs::path again = directory_ / "again.db";
    fs::copy_file(copy, again, fs::copy_options::overwrite_existing);
    fs::copy_file(copy.string() + "-wal", again.string() + "-wal", fs::copy_options::overwrite_existing);
    auto reopened = open_journal(again);
    ASSERT_TRUE(reopened) << reopened.error().message;
    const auto whole = static_cast<std::size_t>(
        std::count_if(sizes.begin(), sizes.end(), [&](std::uintmax_t size) { return size <= cut; }));
    EXPECT_EQ((*reopened)->links()->size(), 2 * whole) << "cut at " << cut;
  }
}

TEST_F(JournalTest, NamesADirectoryThatIsNotThere) {
  const auto journal = open_journal(directory_ / "missing" / "journal.db");
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, ErrorCode::Io);
  EXPECT_THAT(journal.error().message, HasSubstr("missing/journal.db"));
}

}  // namespace
}  // namespace heddle::journal
