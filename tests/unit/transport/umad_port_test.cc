#include "transport/umad_port.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "transport/port_mark.h"

#include "transport/patience.h"
#include "transport/umad_transport.h"

namespace heddle::transport {
namespace {

using testing::HasSubstr;

UmadPort a_port(std::string device, int number, bool active, bool infiniband = true) {
  UmadPort port;
  port.device = std::move(device);
  port.port = number;
  port.guid = PortGuid{0x100U + static_cast<unsigned>(number)};
  port.active = active;
  port.infiniband = infiniband;
  return port;
}

std::string chosen(std::string_view name, const std::vector<UmadPort>& ports) {
  const auto found = choose_port(name, ports);
  return found ? name_of(*found) : found.error().message;
}

// Adapters of servers often have an Ethernet port first, and Active.
TEST(ChoosePort, RoceIsPassedOver) {
  const std::vector<UmadPort> ports{a_port("mlx5_0", 1, true, false), a_port("mlx5_1", 1, false),
                                    a_port("mlx5_1", 2, true)};
  EXPECT_EQ(chosen("", ports), "mlx5_1:2");
  EXPECT_EQ(chosen("mlx5_1", ports), "mlx5_1:2");
  EXPECT_THAT(chosen("mlx5_0", ports), HasSubstr("RoCE"));
  EXPECT_THAT(chosen("mlx5_0:1", ports), AllOf(HasSubstr("mlx5_0:1"), HasSubstr("RoCE")));
}

TEST(ChoosePort, WithoutAnActivePortTheFirstOne) {
  EXPECT_EQ(chosen("", {a_port("mlx5_0", 1, true, false), a_port("mlx5_1", 1, false)}), "mlx5_1:1");
  EXPECT_THAT(chosen("", {a_port("mlx5_0", 1, true, false)}), HasSubstr("RoCE"));
  EXPECT_THAT(chosen("", {}), HasSubstr("ib_umad"));
}

TEST(ChoosePort, ByNameAndByGuid) {
  const std::vector<UmadPort> ports{a_port("mlx5_0", 1, true), a_port("mlx5_0", 2, false)};
  EXPECT_EQ(chosen("mlx5_0:2", ports), "mlx5_0:2");
  EXPECT_EQ(chosen("0x102", ports), "mlx5_0:2");
  EXPECT_THAT(chosen("mlx5_0:3", ports), HasSubstr("no port 3"));
  EXPECT_THAT(chosen("mlx5_7", ports), HasSubstr("mlx5_7"));
  EXPECT_THAT(chosen("mlx5_0:x", ports), HasSubstr("mlx5_0:1"));
  EXPECT_THAT(chosen("0x999", ports), HasSubstr("0x999"));
}

TEST(KernelTimeout, TheKernelKeepsARequestLongerThanItsAnswerIsWaitedFor) {
  using namespace std::chrono_literals;
  EXPECT_EQ(kernel_timeout(200ms), 2s);
  for (const std::chrono::milliseconds timeout : {100ms, 600ms, 10000ms}) {
    EXPECT_GE(kernel_timeout(timeout), (slow_stretch + 1) * timeout) << "of a request that is slow";
  }
}

TEST(UmadPort, OtherRailsAreActiveAndNeitherInUseNorSpare) {
  std::vector<UmadPort> ports;
  for (const int number : {1, 2, 3, 4, 5}) {
    UmadPort port;
    port.device = "mlx5_0";
    port.port = number;
    port.guid = PortGuid{0x10U + static_cast<unsigned>(number)};
    port.active = number != 3;
    port.infiniband = number != 4;
    ports.push_back(port);
  }
  const auto names = [&](const std::vector<std::string>& spares) {
    std::string all;
    for (const UmadPort& port : other_rails(ports, "mlx5_0:1", spares)) all += name_of(port) + " ";
    return all;
  };
  EXPECT_EQ(names({""}), "mlx5_0:2 mlx5_0:5 ");
  EXPECT_EQ(names({"mlx5_0:1", "mlx5_0:2"}), "mlx5_0:5 ");
  EXPECT_EQ(names({"0x15"}), "mlx5_0:2 ");
}

TEST(PortMark, IsThereForAsLongAsItsHolder) {
  const std::string port = "test_" + std::to_string(getpid()) + ":1";
  EXPECT_FALSE(PortMark::is_there(port));
  {
    const PortMark mark{port};
    EXPECT_TRUE(PortMark::is_there(port));
    const PortMark second{port};
    EXPECT_FALSE(PortMark::is_there(port + "0"));
  }
  EXPECT_FALSE(PortMark::is_there(port));
}

}  // namespace
}  // namespace heddle::transport
