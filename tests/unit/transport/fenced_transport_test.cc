#include "transport/fenced_transport.h"

#include <gtest/gtest.h>

#include "support/scripted_transport.h"

namespace heddle::transport {
namespace {

mad::Packet packet(mad::Method method) {
  mad::Packet packet;
  mad::Header header;
  header.method = method;
  mad::write_header(header, packet.mad);
  return packet;
}

TEST(FencedTransport, LetsNothingThroughThatChangesAFabric) {
  test::ScriptedTransport behind;
  bool may = false;
  FencedTransport fenced{behind, [&may] { return may; }};
  for (const auto method : {mad::Method::Set, mad::Method::GetResp, mad::Method::TrapRepress}) {
    const auto sent = fenced.send(packet(method));
    ASSERT_FALSE(sent);
    EXPECT_EQ(sent.error().code, ErrorCode::Refused);
  }
  EXPECT_FALSE(fenced.claim_sm(SmClaim::Hold));
  EXPECT_FALSE(fenced.send_long(packet(mad::Method::GetResp), {}));
  EXPECT_TRUE(behind.sent.empty());
  // Asking changes nothing, and letting go neither.
  EXPECT_TRUE(fenced.send(packet(mad::Method::Get)));
  EXPECT_TRUE(fenced.claim_sm(SmClaim::Release));
  EXPECT_EQ(behind.sent.size(), 1U);
}

TEST(FencedTransport, AsksBeforeEachMad) {
  test::ScriptedTransport behind;
  int left = 2;
  FencedTransport fenced{behind, [&left] { return left-- > 0; }};
  EXPECT_TRUE(fenced.send(packet(mad::Method::Set)));
  EXPECT_TRUE(fenced.send(packet(mad::Method::Set)));
  EXPECT_FALSE(fenced.send(packet(mad::Method::Set)));
  EXPECT_EQ(behind.sent.size(), 2U);
}

}  // namespace
}  // namespace heddle::transport
