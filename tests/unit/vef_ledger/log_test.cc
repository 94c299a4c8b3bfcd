#include "ledger/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

namespace heddle::vef {
namespace {

File nameless_file() {
  std::string name = ::testing::TempDir() + "heddle-log-XXXXXX";
  File made{::mkstemp(name.data())};
  ::unlink(name.c_str());
  return made;
}

/// So many records, the amount of each its place.
Log filled(std::uint64_t records) {
  Log log{nameless_file()};
  for (std::uint64_t i = 0; i < records; ++i) log.add({.what = What::Posted, .where = nowhere, .amount = i});
  return log;
}

TEST(LogTest, GivesBackWhatItSpilledInOrder) {
  Log log = filled(3 * Log::most_in_memory + 5);
  std::uint64_t next = 0;
  log.each([&](const Record& record) { EXPECT_EQ(record.amount, next++); });
  EXPECT_EQ(next, log.size());
}

TEST(LogTest, SomeEndWhereTheFileEndsAndGoOnInMemory) {
  Log log = filled(Log::most_in_memory + 10);
  std::uint64_t place = 0;
  while (place < log.size()) {
    const auto some = log.some(place, 1000);
    ASSERT_FALSE(some.empty());
    for (const Record& record : some) EXPECT_EQ(record.amount, place++);
  }
  EXPECT_TRUE(log.some(place, 1000).empty());
}

TEST(LogTest, APlaceIsKnownLaterOnDiskAndInMemory) {
  Log log = filled(Log::most_in_memory + 10);
  log.set_where(7, 70);
  log.set_where(Log::most_in_memory + 3, 30);
  std::uint64_t place = 0;
  log.each([&](const Record& record) {
    const std::uint32_t expected = place == 7 ? 70 : place == Log::most_in_memory + 3 ? 30 : nowhere;
    EXPECT_EQ(record.where, expected) << place;
    ++place;
  });
}

// A signal would end the program that is recorded.
TEST(LogTest, ALimitOfFilesIsAnErrorAndNoSignal) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{.rlim_cur = Log::most_in_memory * sizeof(Record) * 3 / 2, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(filled(3 * Log::most_in_memory), std::system_error);
  setrlimit(RLIMIT_FSIZE, &before);
}

TEST(LogTest, AFileThatIsNoneIsAnError) {
  Log log{File{}};
  for (std::size_t i = 0; i < Log::most_in_memory; ++i) log.add({});
  EXPECT_THROW(log.add({}), std::system_error);
}

}  // namespace
}  // namespace heddle::vef
