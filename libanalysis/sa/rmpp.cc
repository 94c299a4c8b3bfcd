#include "sa/rmpp.h"

#include <algorithm>
#include <utility>

#include "base/network_order.h"

namespace heddle::sa {
namespace {

/// Of each segment, counted in its payload length: 20 bytes of the class's own header (IBA 13.6.2.3).
constexpr std::uint32_t payload_size = data_size + 20;
/// Status of an abort: too many retries (IBA 13.6.2.2).
constexpr std::uint8_t too_many_retries = 119;
constexpr std::uint8_t unspecified = 0;

/// The lower half of the TID: carriers overwrite the upper one.
std::uint32_t transaction_of(const mad::Bytes& mad) {
  constexpr std::size_t at = 12;
  return from_network<std::uint32_t>(&mad[at]);
}

}  // namespace

RmppSender::Key RmppSender::key_of(Lid lid, std::uint32_t qp, const mad::Bytes& mad) {
  return {lid, qp, transaction_of(mad)};
}

bool RmppSender::begin(const mad::Packet& head, std::vector<std::uint8_t> data, Instant now) {
  const Key key = key_of(head.address.dlid, head.address.dqp, head.mad);
  // Asked again while it is being answered: the answer is under way, or its beginning was lost.
  if (const auto found = transfers_.find(key); found != transfers_.end()) {
    if (found->second.acknowledged == 0) send_segment(found->second, 1);
    return true;
  }
  if (transfers_.size() >= options_.transfers) return false;
  Transfer& transfer = transfers_[key];
  transfer.head = head;
  transfer.segments = segments_of(data.size());
  transfer.data = std::move(data);
  transfer.due = now + options_.patience;
  send_up_to_window(transfer);
  return true;
}

void RmppSender::send_segment(const Transfer& transfer, std::uint32_t number) {
  mad::Packet packet = transfer.head;
  const std::size_t from = std::size_t{number - 1} * data_size;
  const std::size_t length = std::min(data_size, transfer.data.size() - std::min(from, transfer.data.size()));
  std::fill(packet.mad.begin() + data_offset, packet.mad.end(), std::uint8_t{0});
  std::copy_n(transfer.data.begin() + static_cast<std::ptrdiff_t>(std::min(from, transfer.data.size())),
              length, packet.mad.begin() + data_offset);
  Rmpp rmpp{.type = Rmpp::Type::Data, .flags = Rmpp::active, .segment = number};
  const auto unused =
      static_cast<std::uint32_t>(std::size_t{transfer.segments} * data_size - transfer.data.size());
  if (number == 1) {
    rmpp.flags |= Rmpp::first;
    rmpp.length_or_window = transfer.segments * payload_size - unused;
  }
  if (number == transfer.segments) {
    rmpp.flags |= Rmpp::last;
    rmpp.length_or_window = payload_size - unused;
  }
  write_rmpp(rmpp, packet.mad);
  send_(packet);
}

void RmppSender::send_up_to_window(Transfer& transfer) {
  while (transfer.sent < std::min(transfer.window, transfer.segments))
    send_segment(transfer, ++transfer.sent);
}

void RmppSender::abort(const Transfer& transfer, std::uint8_t status) {
  mad::Packet packet = transfer.head;
  std::fill(packet.mad.begin() + data_offset, packet.mad.end(), std::uint8_t{0});
  write_rmpp({.type = Rmpp::Type::Abort, .flags = Rmpp::active, .status = status}, packet.mad);
  send_(packet);
}

void RmppSender::on_packet(const mad::Packet& packet, Instant now) {
  const auto found = transfers_.find(key_of(packet.address.slid, packet.address.sqp, packet.mad));
  if (found == transfers_.end()) return;
  Transfer& transfer = found->second;
  const Rmpp rmpp = read_rmpp(packet.mad);
  if ((rmpp.flags & Rmpp::active) == 0) return;
  if (rmpp.type == Rmpp::Type::Stop || rmpp.type == Rmpp::Type::Abort) {
    ++statistics_.given_up;
    transfers_.erase(found);
    return;
  }
  if (rmpp.type != Rmpp::Type::Ack) return;
  // What was never sent cannot have come, and a window does not shrink.
  if (rmpp.segment > transfer.sent || rmpp.length_or_window < rmpp.segment) {
    abort(transfer, unspecified);
    ++statistics_.given_up;
    transfers_.erase(found);
    return;
  }
  if (rmpp.segment < transfer.acknowledged) return;  // it was overtaken
  transfer.window = std::max(transfer.window, rmpp.length_or_window);
  if (rmpp.segment > transfer.acknowledged) {
    transfer.acknowledged = rmpp.segment;
    transfer.attempts = 0;
    transfer.due = now + options_.patience;
  }
  if (transfer.acknowledged == transfer.segments) {
    ++statistics_.finished;
    transfers_.erase(found);
    return;
  }
  send_up_to_window(transfer);
}

void RmppSender::on_timer(Instant now) {
  for (auto it = transfers_.begin(); it != transfers_.end();) {
    Transfer& transfer = it->second;
    if (transfer.due > now) {
      ++it;
      continue;
    }
    const bool silent = transfer.acknowledged == 0;
    if (++transfer.attempts >= options_.attempts) {
      if (!silent) abort(transfer, too_many_retries);
      ++statistics_.given_up;
      it = transfers_.erase(it);
      continue;
    }
    transfer.due = now + options_.patience;
    if (!silent) {
      // All that came after a lost segment was dropped by the other side (IBA 13.6.3).
      statistics_.repeated += transfer.sent - transfer.acknowledged;
      transfer.sent = transfer.acknowledged;
      send_up_to_window(transfer);
    }
    ++it;
  }
}

std::optional<Instant> RmppSender::next_deadline() const {
  std::optional<Instant> first;
  for (const auto& [key, transfer] : transfers_) {
    if (!first || transfer.due < *first) first = transfer.due;
  }
  return first;
}

}  // namespace heddle::sa
