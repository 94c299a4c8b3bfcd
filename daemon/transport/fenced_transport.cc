#include "transport/fenced_transport.h"

#include "mad/header.h"

namespace heddle::transport {
namespace {

tl::unexpected<Error> fenced() {
  return fail(ErrorCode::Refused, "this daemon may not write the fabric at present");
}

}  // namespace

Result<void> FencedTransport::send(const mad::Packet& packet) {
  const bool asks = mad::read_header(packet.mad).method == mad::Method::Get;
  if (!asks && !may_write_()) return fenced();
  return behind_.send(packet);
}

Result<void> FencedTransport::claim_sm(SmClaim claim) {
  if (claim == SmClaim::Hold && !may_write_()) return fenced();
  return behind_.claim_sm(claim);
}

Result<void> FencedTransport::send_long(const mad::Packet& head, std::span<const std::uint8_t> data) {
  if (!may_write_()) return fenced();
  return behind_.send_long(head, data);
}

}  // namespace heddle::transport
