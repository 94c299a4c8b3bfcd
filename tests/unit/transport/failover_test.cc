#include "transport/failover_transport.h"

#include <gtest/gtest.h>

#include "support/scripted_transport.h"
#include "transport/requests.h"

namespace heddle::transport {
namespace {

struct FakePort {
  bool usable = true;
  bool opens = true;
  int opened = 0;
  test::ScriptedTransport* transport = nullptr;
};

class FailoverTest : public testing::Test {
 protected:
  FailoverTransport::Candidate candidate(std::string name, FakePort& port) {
    return {std::move(name),
            [&port]() -> Result<std::unique_ptr<Transport>> {
              if (!port.opens) return fail(ErrorCode::Io, "gone");
              ++port.opened;
              auto transport = std::make_unique<test::ScriptedTransport>();
              port.transport = transport.get();
              return transport;
            },
            [&port] { return port.usable; }};
  }
  Result<std::unique_ptr<FailoverTransport>> open() {
    return FailoverTransport::open({candidate("a", a), candidate("b", b)},
                                   [this](const std::string& name) { switches.push_back(name); });
  }

  FakePort a;
  FakePort b;
  std::vector<std::string> switches;
  mad::Packet packet = lid_smp({}, Lid{1});
};

TEST_F(FailoverTest, FirstUsablePortIsOpened) {
  a.usable = false;
  const auto transport = open();
  ASSERT_TRUE(transport);
  EXPECT_EQ((*transport)->name(), "b");
  EXPECT_EQ(a.opened, 0);
}

TEST_F(FailoverTest, WithoutAUsablePortTheFirstThatOpens) {
  a.usable = b.usable = false;
  a.opens = false;
  const auto transport = open();
  ASSERT_TRUE(transport);
  EXPECT_EQ((*transport)->name(), "b");
}

TEST_F(FailoverTest, NoPortAtAllIsAnErrorThatNamesThem) {
  a.opens = b.opens = false;
  const auto transport = open();
  ASSERT_FALSE(transport);
  EXPECT_NE(transport.error().message.find("a: gone"), std::string::npos);
  EXPECT_NE(transport.error().message.find("b: gone"), std::string::npos);
  EXPECT_FALSE(FailoverTransport::open({}));
}

TEST_F(FailoverTest, MovesWhenItsPortGoesDownAndStaysThere) {
  const auto transport = open();
  ASSERT_TRUE(transport);
  (*transport)->check();
  EXPECT_TRUE(switches.empty());
  a.usable = false;
  (*transport)->check();
  EXPECT_EQ(switches, std::vector<std::string>{"b"});
  ASSERT_TRUE((*transport)->send(packet));
  EXPECT_EQ(b.transport->sent.size(), 1U);
  a.usable = true;
  (*transport)->check();
  EXPECT_EQ((*transport)->name(), "b");
}

TEST_F(FailoverTest, MovesWhenItsPortRefusesEverything) {
  const auto transport = open();
  ASSERT_TRUE(transport);
  for (int i = 0; i < 3; ++i) a.transport->failures.push_back(Error{ErrorCode::Io, "down"});
  EXPECT_FALSE((*transport)->send(packet));
  EXPECT_FALSE((*transport)->send(packet));
  (*transport)->check();
  EXPECT_EQ((*transport)->name(), "b");
}

TEST_F(FailoverTest, APortWhoseDeviceWentAwayIsOpenedAgainWhenItIsBack) {
  const auto transport = open();
  ASSERT_TRUE(transport);
  b.usable = false;
  a.transport->is_gone = true;
  a.opens = false;
  for (int i = 0; i < 3; ++i) (*transport)->check();
  EXPECT_EQ(a.opened, 1) << "it is not back";
  EXPECT_TRUE((*transport)->gone());
  a.opens = true;
  std::size_t received = 0;
  (*transport)->receive_with([&](const mad::Packet&, Instant) { ++received; });
  (*transport)->check();
  EXPECT_EQ(a.opened, 2);
  EXPECT_EQ(switches, std::vector<std::string>{"a"}) << "whoever owns it starts over";
  EXPECT_FALSE((*transport)->gone());
  EXPECT_TRUE((*transport)->send(packet));
  EXPECT_EQ(a.transport->sent.size(), 1U);
  (*transport)->check();
  EXPECT_EQ(a.opened, 2);
}

TEST_F(FailoverTest, AnotherPortIsTakenBeforeOneThatWentAway) {
  const auto transport = open();
  ASSERT_TRUE(transport);
  a.transport->is_gone = true;
  (*transport)->check();
  EXPECT_EQ((*transport)->name(), "b");
  EXPECT_EQ(a.opened, 1);
}

TEST_F(FailoverTest, OneFailureAmongOthersIsNoReason) {
  const auto transport = open();
  ASSERT_TRUE(transport);
  a.transport->failures.push_back(Error{ErrorCode::Io, "full"});
  EXPECT_FALSE((*transport)->send(packet));
  EXPECT_TRUE((*transport)->send(packet));
  (*transport)->check();
  EXPECT_EQ((*transport)->name(), "a");
}

TEST_F(FailoverTest, StaysWhereNothingElseWorks) {
  const auto transport = open();
  ASSERT_TRUE(transport);
  a.usable = b.usable = false;
  (*transport)->check();
  EXPECT_EQ((*transport)->name(), "a");
  b.usable = true;
  b.opens = false;
  (*transport)->check();
  EXPECT_EQ((*transport)->name(), "a");
}

}  // namespace
}  // namespace heddle::transport
