#include "app/disk_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace heddle::app {
namespace {

TEST(DiskThread, HoldsNobodyAndComesBackInOrder) {
  boost::asio::io_context io;
  std::promise<void> disk;
  std::vector<int> back;
  const auto here = std::this_thread::get_id();
  auto there = here;
  {
    DiskThread thread{io};
    thread.run(
        [&] {
          there = std::this_thread::get_id();
          disk.get_future().wait();
        },
        [&] { back.push_back(1); });
    thread.run([] {}, [&] { back.push_back(2); });
    // The disk does nothing, and here things go on.
    io.poll();
    EXPECT_TRUE(back.empty());
    disk.set_value();
  }
  io.restart();
  io.run();
  EXPECT_EQ(back, (std::vector{1, 2}));
  EXPECT_NE(there, here);
}

TEST(DiskThread, DoesBeforeItsEndWhatItWasGiven) {
  boost::asio::io_context io;
  int done = 0;
  {
    DiskThread thread{io};
    for (int i = 0; i < 100; ++i) thread.run([&] { ++done; }, [] {});
  }
  EXPECT_EQ(done, 100);
}

TEST(DiskThread, FinishesWhatItWasGivenForWhoeverTakesAwayWhatItWorksOn) {
  boost::asio::io_context io;
  DiskThread thread{io};
  std::atomic<int> done = 0;
  for (int i = 0; i < 100; ++i) thread.run([&] { ++done; }, [] {});
  thread.finish();
  EXPECT_EQ(done, 100);
}

}  // namespace
}  // namespace heddle::app
