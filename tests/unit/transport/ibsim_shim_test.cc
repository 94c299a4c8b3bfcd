#include "transport/ibsim_shim.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <cstdlib>
#include <string>

namespace heddle::transport {
namespace {

/// A local datagram socket with an abstract name, as libumad2sim and ibsim bind theirs.
class LocalSocket {
 public:
  explicit LocalSocket(const std::string& name) : fd_{::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0)} {
    address_.sun_family = AF_UNIX;
    std::ranges::copy(name, address_.sun_path + 1);
    size_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + 2);
    EXPECT_EQ(::bind(fd_, get(), size_), 0);
  }
  ~LocalSocket() { ::close(fd_); }
  LocalSocket(const LocalSocket&) = delete;
  LocalSocket& operator=(const LocalSocket&) = delete;

  void connect(const LocalSocket& peer) { EXPECT_EQ(::connect(fd_, peer.get(), peer.size_), 0); }
  bool write() { return ::write(fd_, message_.data(), message_.size()) > 0; }
  bool read() { return ::read(fd_, message_.data(), message_.size()) > 0; }

 private:
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address_); }

  int fd_;
  sockaddr_un address_{};
  socklen_t size_ = 0;
  std::array<char, 288> message_{};
};

class ShimSocketTest : public testing::Test {
 protected:
  ShimSocketTest() { ::setenv("IBSIM_SOCKNAME", base.c_str(), 1); }
  ~ShimSocketTest() override { ::unsetenv("IBSIM_SOCKNAME"); }

  const std::string base = fmt::format("heddle-shim-test-{}", ::getpid());
  boost::asio::io_context io;
};

TEST_F(ShimSocketTest, WithoutTheShimThereIsNone) {
  const LocalSocket other{base + ":ctl"};
  EXPECT_EQ(ShimSocket::find(io), nullptr);
}

TEST_F(ShimSocketTest, SaysWhenTheNextWriteWouldBlock) {
  LocalSocket own{fmt::format("{}:in{}", base, ::getpid())};
  LocalSocket ibsim{base + ":out0"};
  own.connect(ibsim);
  ibsim.connect(own);
  const auto shim = ShimSocket::find(io);
  ASSERT_NE(shim, nullptr);

  int written = 0;
  while (shim->has_room()) {
    ASSERT_TRUE(own.write());  // never blocks where there is room
    ASSERT_LT(++written, 100'000);
  }
  EXPECT_GT(written, 0);

  bool called = false;
  shim->wait_for_room([&] { called = true; });
  io.poll();
  EXPECT_FALSE(called);
  while (ibsim.read()) {
  }
  EXPECT_TRUE(shim->has_room());
  io.restart();
  io.run_one();
  EXPECT_TRUE(called);
}

TEST_F(ShimSocketTest, NobodyIsCalledAfterItsEnd) {
  LocalSocket own{fmt::format("{}:in{}", base, ::getpid())};
  LocalSocket ibsim{base + ":out0"};
  own.connect(ibsim);
  ibsim.connect(own);
  auto shim = ShimSocket::find(io);
  ASSERT_NE(shim, nullptr);
  while (shim->has_room()) ASSERT_TRUE(own.write());
  shim->wait_for_room([] { FAIL() << "called for a socket that is gone"; });
  shim.reset();
  while (ibsim.read()) {
  }
  io.poll();
}

}  // namespace
}  // namespace heddle::transport
