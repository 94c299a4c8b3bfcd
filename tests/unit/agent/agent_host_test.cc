// heddle-agent without an adapter: its settings, its programs over a real socket with the library's own side,
// and what it makes of the kernel's list of queue pairs.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <poll.h>
#include <rdma/rdma_netlink.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "agent/service.h"
#include "agent_link.h"
#include "support/places.h"
#include "support/scratch.h"
#include "unit/apm_plugin/stand_in.h"

namespace heddle::agent {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const PortName port{"mlx5_0", 1};

TEST(AgentSettings, EachKeyIsReadAndNoOther) {
  const auto settings = parse_settings(
      "key_file = \"/k\"\nports = [\"mlx5_0:1\"]\nobeys = [3, 49151]\n"
      "socket = \"/s\"\nstate = \"/v\"\ncount = \"none\"\nignore = [\"ib_ipoib\"]\n",
      "agent.toml");
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->key_file, "/k");
  EXPECT_THAT(settings->obeys, ElementsAre(Lid{3}, Lid{49151}));
  EXPECT_EQ(settings->count, Count::None);
  for (const char* wrong : {"obeys = [0]", "obeys = [49152]", "count = \"some\"", "ports = \"mlx5_0:1\"",
                            "keys = 1", "ignore = [1]", "= 1"}) {
    const auto refused = parse_settings(std::string{"\n"} + wrong, "agent.toml");
    ASSERT_FALSE(refused) << wrong;
    EXPECT_THAT(refused.error().message, HasSubstr("agent.toml:2")) << wrong;
  }
}

TEST(AgentSettings, TheShippedFileIsTheDefault) {
  const auto shipped = read_settings(test::source_directory() / "systemd/heddle-agent.toml");
  ASSERT_TRUE(shipped) << shipped.error().message;
  const Settings usual;
  EXPECT_EQ(shipped->key_file, usual.key_file);
  EXPECT_EQ(shipped->socket, usual.socket);
  EXPECT_EQ(shipped->state, usual.state);
  EXPECT_EQ(shipped->count, usual.count);
  EXPECT_TRUE(shipped->ports.empty() && shipped->obeys.empty() && shipped->ignore.empty());
}

TEST(AgentSettings, AKeyThatEverybodyMayReadIsRefused) {
  const test::Scratch scratch;
  const std::string file = scratch / "key";
  std::ofstream{file} << std::string(64, 'a') << '\n';
  ::chmod(file.c_str(), 0644);
  const auto refused = read_key(file);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Refused);
  ::chmod(file.c_str(), 0600);
  EXPECT_TRUE(read_key(file));
}

/// A process with a connection that is ready to send.
struct Program {
  Program() {
    auto& pair = verbs.make();
    pair.now.ah_attr.dlid = 0x20;
    pair.now.qp_state = IBV_QPS_RTS;
    connections.on_modified(&pair.qp, apm::test::attributes(IBV_QPS_INIT, 1), IBV_QP_STATE | IBV_QP_PORT);
    connections.on_modified(&pair.qp, apm::test::attributes(IBV_QPS_RTS), IBV_QP_STATE);
  }
  apm::test::StandIn verbs;
  apm::Connections connections{verbs.verbs, [](const std::string&) {}};
};

/// The agent's side, and a program's.
int connect_to(const std::string& path) {
  const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return fd;
}

class ProgramsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto listening = Programs::listen(socket_);
    ASSERT_TRUE(listening) << listening.error().message;
    programs_ = *std::move(listening);
  }
  /// Until it is so; the library's thread works meanwhile.
  bool serve(const std::function<bool()>& done) {
    for (int i = 0; i < 3000 && !done(); ++i) {
      std::vector<pollfd> ready;
      for (const int fd : programs_->descriptors()) ready.push_back({fd, POLLIN, 0});
      ::poll(ready.data(), ready.size(), 10);
      for (const pollfd& one : ready) {
        if (one.revents != 0) programs_->on_ready(one.fd);
      }
    }
    return done();
  }
  int dial() const { return connect_to(socket_); }

  test::Scratch scratch_;
  std::string socket_ = scratch_ / "agent.sock";
  std::unique_ptr<Programs> programs_;
};

TEST_F(ProgramsTest, AProgramIsToldToMoveAndSaysWhenItHas) {
  Program program;
  apm::AgentLink link{program.connections, socket_};
  ASSERT_TRUE(serve([&] { return programs_->standing(port).armed == 1; }));
  programs_->move(port, 1);
  EXPECT_EQ(programs_->standing(port).moving, 1U) << "until it says that it has";
  ASSERT_TRUE(serve([&] { return programs_->standing(port).moving == 0; }));
  EXPECT_THAT(programs_->standing(port).in_plane, ElementsAre(0, 1));
  EXPECT_EQ(programs_->standing(port).processes, 1U);
  EXPECT_THAT(programs_->reported(port), ElementsAre(std::pair{::getpid(), 1U}));
}

TEST_F(ProgramsTest, AProgramThatComesLaterIsToldTheLastOrder) {
  programs_->move(port, 1);
  Program program;
  apm::AgentLink link{program.connections, socket_};
  EXPECT_TRUE(serve([&] { return programs_->standing(port).in_plane[1] == 1; }));
}

TEST_F(ProgramsTest, OneThatEndsIsForgotten) {
  const int program = dial();
  apm::local::Report report{.connections = 3, .unable = 1};
  std::strcpy(report.port.device, "mlx5_0");
  report.port.port = 1;
  ASSERT_EQ(::send(program, &report, sizeof report, 0), static_cast<ssize_t>(sizeof report));
  ASSERT_TRUE(serve([&] { return programs_->standing(port).connections == 3; }));
  ::close(program);
  EXPECT_TRUE(serve([&] { return programs_->standing(port).connections == 0; }));
  EXPECT_EQ(programs_->size(), 0U);
}

TEST_F(ProgramsTest, RubbishEndsTheConversation) {
  const int program = dial();
  ASSERT_EQ(::send(program, "rubbish", 7, 0), 7);
  EXPECT_TRUE(serve([&] {
    char byte = 0;
    return ::recv(program, &byte, 1, MSG_DONTWAIT) == 0;
  }));
  ::close(program);
}

TEST_F(ProgramsTest, FiguresThatContradictThemselvesAddUpToNoMoreThanThereIs) {
  const int program = dial();
  apm::local::Report report{.moving = 99, .connections = 2, .in_plane = {9, 9}, .armed = 9};
  std::strcpy(report.port.device, "mlx5_0");
  report.port.port = 1;
  ASSERT_EQ(::send(program, &report, sizeof report, 0), static_cast<ssize_t>(sizeof report));
  ASSERT_TRUE(serve([&] { return programs_->standing(port).connections == 2; }));
  EXPECT_THAT(programs_->standing(port).in_plane, ElementsAre(2, 0));
  EXPECT_EQ(programs_->standing(port).armed, 2U);
  mad::Packet packet;
  apm::encode(programs_->standing(port), packet.mad);
  EXPECT_TRUE(apm::read_standing(packet.mad)) << "the daemon can read it";
  ::close(program);
}

TEST_F(ProgramsTest, AProgramNamesSoManyPortsAndNoMore) {
  const int program = dial();
  for (std::size_t i = 0; i <= Programs::most_ports; ++i) {
    apm::local::Report report;
    std::strcpy(report.port.device, fmt::format("mlx5_{}", i).c_str());
    ASSERT_EQ(::send(program, &report, sizeof report, 0), static_cast<ssize_t>(sizeof report));
  }
  EXPECT_TRUE(serve([&] {
    char byte = 0;
    const auto got = ::recv(program, &byte, 1, MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno == ECONNRESET);
  }));
  ::close(program);
}

// One that spoke faster than it was listened to had the agent listen to it alone, and no MAD was answered.
TEST_F(ProgramsTest, NobodyIsListenedToLongerThanForAReportOfEachPort) {
  const int program = dial();
  ASSERT_TRUE(serve([&] { return programs_->size() == 1; }));
  constexpr auto most = static_cast<std::uint32_t>(Programs::most_ports);
  for (std::uint32_t i = 1; i <= most + 1; ++i) {
    apm::local::Report report{.connections = i};
    std::strcpy(report.port.device, "mlx5_0");
    report.port.port = 1;
    ASSERT_EQ(::send(program, &report, sizeof report, 0), static_cast<ssize_t>(sizeof report));
  }
  for (const std::uint32_t heard : {most, most + 1}) {
    programs_->on_ready(programs_->descriptors().at(1));
    EXPECT_EQ(programs_->standing(port).connections, heard);
  }
  ::close(program);
}

// With as many programs as files could be opened, none could be sent away, and the agent had no rest.
TEST(ProgramsLimit, IsWhatTheLimitOfOpenFilesLeavesRoomFor) {
  const test::Scratch scratch;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit little{64 + 2, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &little), 0);
  auto programs = Programs::listen(scratch / "agent.sock");
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(programs) << programs.error().message;
  std::vector<int> dialled;
  for (int i = 0; i < 3; ++i) {
    dialled.push_back(connect_to(scratch / "agent.sock"));
    (*programs)->on_ready((*programs)->descriptors().front());
  }
  EXPECT_LE((*programs)->size(), 2U) << "2 of root's, none of others', who may have a quarter";
  char byte = 0;
  EXPECT_EQ(::recv(dialled.back(), &byte, 1, MSG_DONTWAIT), 0) << "it is sent away";
  for (const int fd : dialled) ::close(fd);
}

// --- the kernel's list ---

std::vector<std::uint8_t> attribute(unsigned type, const std::vector<std::uint8_t>& value) {
  nlattr head{static_cast<std::uint16_t>(sizeof head + value.size()), static_cast<std::uint16_t>(type)};
  std::vector<std::uint8_t> bytes(NLA_ALIGN(head.nla_len));
  std::memcpy(bytes.data(), &head, sizeof head);
  std::copy(value.begin(), value.end(), bytes.begin() + sizeof head);
  return bytes;
}

std::vector<std::uint8_t> word(std::uint32_t value) {
  std::vector<std::uint8_t> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::vector<std::uint8_t> operator+(std::vector<std::uint8_t> a, const std::vector<std::uint8_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(KernelPairs, ADumpIsRead) {
  const auto own = attribute(RDMA_NLDEV_ATTR_PORT_INDEX, word(1)) + attribute(RDMA_NLDEV_ATTR_RES_TYPE, {2}) +
                   attribute(RDMA_NLDEV_ATTR_RES_STATE, {3}) + attribute(RDMA_NLDEV_ATTR_RES_PID, word(4711));
  const auto kernels = attribute(RDMA_NLDEV_ATTR_PORT_INDEX, word(1)) +
                       attribute(RDMA_NLDEV_ATTR_RES_TYPE, {4}) + attribute(RDMA_NLDEV_ATTR_RES_STATE, {3}) +
                       attribute(RDMA_NLDEV_ATTR_RES_KERN_NAME, {'i', 'b', '_', 'i', 'p', 'o', 'i', 'b', 0});
  const auto table = attribute(RDMA_NLDEV_ATTR_RES_QP | NLA_F_NESTED,
                               attribute(RDMA_NLDEV_ATTR_RES_QP_ENTRY | NLA_F_NESTED, own) +
                                   attribute(RDMA_NLDEV_ATTR_RES_QP_ENTRY | NLA_F_NESTED, kernels));
  const auto message = attribute(RDMA_NLDEV_ATTR_DEV_INDEX, word(0)) + table;
  std::vector<KernelPair> pairs;
  read_pairs(message, "mlx5_0", pairs);
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_EQ(pairs[0].port, port);
  EXPECT_EQ(pairs[0].process, 4711);
  EXPECT_EQ(pairs[1].kernel_user, "ib_ipoib");
  EXPECT_EQ(unreported(pairs, port, {}, {}), 2U);
  EXPECT_EQ(unreported(pairs, port, {{4711, 1}}, {}), 1U);
  const std::vector<std::string> ignored{"ib_ipoib"};
  EXPECT_EQ(unreported(pairs, port, {{4711, 5}}, ignored), 0U);
  EXPECT_EQ(unreported(pairs, {"mlx5_0", 2}, {}, {}), 0U);
  for (std::size_t length = 0; length < message.size(); ++length) {
    std::vector<KernelPair> some;
    read_pairs(std::span{message}.first(length), "mlx5_0", some);
    EXPECT_LE(some.size(), 2U);
  }
}

TEST(KernelPairs, ManagementAndWhatIsNotReadyDoNotCount) {
  std::vector<KernelPair> pairs(3, {.port = port, .type = 2, .state = 3, .process = 7, .kernel_user = {}});
  pairs[0].type = 1;
  pairs[1].state = 1;
  EXPECT_EQ(unreported(pairs, port, {}, {}), 1U);
}

// --- a port ---

Result<std::vector<KernelPair>> no_list() { return fail(ErrorCode::Io, "RDMA netlink: no"); }

TEST(HostPortTest, NumbersOutliveTheProcess) {
  const test::Scratch scratch;
  const Settings settings{.socket = scratch / "agent.sock", .state = scratch / ""};
  const auto programs = Programs::listen(settings.socket).value();
  HostPort host{*programs, settings, port, PortGuid{0xabc}, &no_list};
  EXPECT_EQ(host.kept().value(), 0U);
  ASSERT_TRUE(host.keep(77));
  HostPort next{*programs, settings, port, PortGuid{0xabc}, &no_list};
  EXPECT_EQ(next.kept().value(), 77U);
  std::ofstream{settings.state + "/0000000000000abc.sequence"} << "many";
  EXPECT_FALSE(next.kept());
}

TEST(HostPortTest, WhereTheKernelDoesNotTellSomethingMayBeThatCannotMove) {
  const test::Scratch scratch;
  Settings settings{.socket = scratch / "agent.sock", .state = scratch / ""};
  const auto programs = Programs::listen(settings.socket).value();
  HostPort host{*programs, settings, port, PortGuid{0xabc}, &no_list};
  EXPECT_EQ(host.standing().others, 1U);
  EXPECT_THAT(host.standing().trouble, HasSubstr("netlink"));
  settings.count = Count::None;
  EXPECT_EQ(host.standing().others, 0U);
}

}  // namespace
}  // namespace heddle::agent
