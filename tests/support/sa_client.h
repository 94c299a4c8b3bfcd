/// A host that asks the subnet administrator, on a simulated fabric: what was lost is asked again, answers in
/// segments are acknowledged and put together (RMPP, IBA 13.6.3), written without the sender that is tested.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "mad/header.h"
#include "sa/wire.h"
#include "sim/simulated_fabric.h"

namespace heddle::test {

struct SaQuestion {
  mad::Method method = mad::Method::Get;
  sa::Attribute attribute = sa::Attribute::PathRecord;
  std::uint64_t components = 0;
  std::uint64_t sm_key = 0;
  std::uint32_t modifier = 0;
  std::vector<std::uint8_t> record{};
};

class SaClient {
 public:
  static constexpr std::uint32_t window = 8;

  SaClient(sim::SimulatedFabric& fabric, PortIndex port) : fabric_{fabric}, port_{port} {
    client_ = *fabric_.attach(port, [this](const mad::Packet& packet, Picoseconds at) { take(packet, at); });
  }
  ~SaClient() { fabric_.detach(client_); }
  SaClient(const SaClient&) = delete;
  SaClient& operator=(const SaClient&) = delete;

  void ask(const SaQuestion& question, Picoseconds now) {
    mad::Header header;
    header.mgmt_class = mad::MgmtClass::SubnAdm;
    header.class_version = sa::class_version;
    header.method = question.method;
    header.tid = ++tid_;
    header.attribute = static_cast<std::uint16_t>(question.attribute);
    header.modifier = question.modifier;
    request_ = {};
    request_.address = {.dlid = fabric_.port_info(port_).master_sm_lid,
                        .slid = fabric_.port_info(port_).lid,
                        .dqp = mad::gsi_qp,
                        .sqp = mad::gsi_qp};
    mad::write_header(header, request_.mad);
    sa::write_header({question.sm_key, 0, question.components}, request_.mad);
    std::copy(question.record.begin(), question.record.end(), request_.mad.begin() + sa::data_offset);
    answer.reset();
    data.clear();
    segments_ = 0;
    window_ = 1;
    again(now);
  }
  void again(Picoseconds now) {
    ++asked;
    fabric_.send(now, client_, request_);
  }

  [[nodiscard]] mad::Header answered() const { return mad::read_header(answer->mad); }
  template <class T>
  [[nodiscard]] T record() const {
    return sa::decode<T>(std::span{answer->mad}.subspan(sa::data_offset));
  }
  /// Of an answer in segments.
  [[nodiscard]] std::size_t records() const {
    const std::size_t stride = 8U * sa::read_header(answer->mad).attribute_offset;
    return stride == 0 ? 0 : data.size() / stride;
  }
  [[nodiscard]] std::span<const std::uint8_t> record_at(std::size_t i) const {
    return std::span{data}.subspan(i * 8U * sa::read_header(answer->mad).attribute_offset);
  }

  std::optional<mad::Packet> answer;  ///< its last segment
  std::vector<std::uint8_t> data;
  std::vector<mad::Packet> reports;
  unsigned asked = 0;
  unsigned aborts = 0;

 private:
  void take(const mad::Packet& packet, Picoseconds at) {
    const mad::Header header = mad::read_header(packet.mad);
    if (header.method == mad::Method::Report) {
      reports.push_back(packet);
      mad::Packet confirmed = packet;
      std::swap(confirmed.address.dlid, confirmed.address.slid);
      mad::Header head = header;
      head.method = mad::Method::ReportResp;
      mad::write_header(head, confirmed.mad);
      fabric_.send(at, client_, confirmed);
      return;
    }
    constexpr std::uint64_t lower = 0xffffffff;
    if (!mad::is_response(header.method) || (header.tid & lower) != tid_) return;
    const sa::Rmpp rmpp = sa::read_rmpp(packet.mad);
    if (rmpp.type == sa::Rmpp::Type::None) {
      answer = packet;
    } else if (rmpp.type == sa::Rmpp::Type::Abort) {
      ++aborts;
    } else if (rmpp.type == sa::Rmpp::Type::Data) {
      take_segment(packet, rmpp, at);
    }
  }
  void take_segment(const mad::Packet& packet, const sa::Rmpp& rmpp, Picoseconds at) {
    const bool next = rmpp.segment == segments_ + 1 && !answer;
    const bool last = (rmpp.flags & sa::Rmpp::last) != 0;
    if (next) {
      ++segments_;
      const std::size_t length = last ? rmpp.length_or_window - 20 : sa::data_size;
      data.insert(data.end(), packet.mad.begin() + sa::data_offset,
                  packet.mad.begin() + sa::data_offset + static_cast<std::ptrdiff_t>(length));
      if (last) answer = packet;
    }
    // At the end of each window; for what came twice or too early, what came in order so far.
    if (next && !last && segments_ != window_) return;
    window_ = segments_ + window;
    mad::Packet ack = request_;
    sa::write_rmpp({.type = sa::Rmpp::Type::Ack,
                    .flags = sa::Rmpp::active,
                    .segment = segments_,
                    .length_or_window = window_},
                   ack.mad);
    fabric_.send(at, client_, ack);
  }

  sim::SimulatedFabric& fabric_;
  PortIndex port_;
  sim::ClientId client_{0};
  std::uint32_t tid_ = 0;
  mad::Packet request_;
  std::uint32_t segments_ = 0;
  std::uint32_t window_ = 1;
};

template <class T>
std::vector<std::uint8_t> bytes_of(const T& record) {
  std::vector<std::uint8_t> bytes(T::size);
  sa::encode(record, bytes);
  return bytes;
}

}  // namespace heddle::test
