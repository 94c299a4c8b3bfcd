#include "sa/administrator.h"

#include <algorithm>
#include <utility>

namespace heddle::sa {
namespace {

constexpr std::uint8_t response_bit = 0x80;
/// Of the modifier of PortInfoRecord: masks match where they have all bits that are asked for (IBA 15.2.5.3).
constexpr std::uint32_t masks_contain = 1U << 31U;

mad::Method answer_to(mad::Method method) {
  if (method == mad::Method::Set) return mad::Method::GetResp;
  return static_cast<mad::Method>(static_cast<std::uint8_t>(method) | response_bit);
}

/// The request turned round, with a status and no data.
Reply bare(const mad::Packet& request, const mad::Header& header, std::uint16_t status) {
  Reply reply;
  reply.head = request;
  std::swap(reply.head.address.dlid, reply.head.address.slid);
  std::swap(reply.head.address.dqp, reply.head.address.sqp);
  mad::Header head = header;
  head.method = answer_to(header.method);
  head.status = status;
  mad::write_header(head, reply.head.mad);
  write_rmpp({}, reply.head.mad);
  Header sa = read_header(reply.head.mad);
  sa.attribute_offset = 0;
  write_header(sa, reply.head.mad);
  std::fill(reply.head.mad.begin() + data_offset, reply.head.mad.end(), std::uint8_t{0});
  return reply;
}

/// One record to a Get, all of them to a GetTable. `put` writes record i.
template <class Put>
Reply with_records(const mad::Packet& request, const mad::Header& header, std::size_t count, std::size_t size,
                   Put put) {
  const bool table = header.method == method::get_table;
  if (!table && count == 0) return bare(request, header, status::no_records);
  if (!table && count > 1) return bare(request, header, status::too_many_records);
  Reply reply = bare(request, header, mad::status::ok);
  const std::size_t stride = (size + 7) / 8 * 8;
  Header sa = read_header(reply.head.mad);
  sa.attribute_offset = static_cast<std::uint16_t>(stride / 8);
  write_header(sa, reply.head.mad);
  if (!table) {
    put(0, std::span{reply.head.mad}.subspan(data_offset));
    return reply;
  }
  reply.in_segments = true;
  reply.data.resize(count * stride);
  for (std::size_t i = 0; i < count; ++i) put(i, std::span{reply.data}.subspan(i * stride));
  return reply;
}

template <class Records>
auto copy_of(const Records& records) {
  return [&records](std::size_t i, std::span<std::uint8_t> to) {
    std::copy(records[i].begin(), records[i].end(), to.begin());
  };
}

bool reads(const mad::Header& header) {
  return header.method == mad::Method::Get || header.method == method::get_table;
}

}  // namespace

bool Administrator::is_request(const mad::Packet& packet) {
  const mad::Header header = mad::read_header(packet.mad);
  const Rmpp rmpp = read_rmpp(packet.mad);
  const bool of_transfer = rmpp.type != Rmpp::Type::None && (rmpp.flags & Rmpp::active) != 0;
  // A GetTable that says that it is one segment of one is a request all the same.
  const bool whole = rmpp.type == Rmpp::Type::Data && rmpp.flags == (Rmpp::active | Rmpp::first | Rmpp::last);
  return header.mgmt_class == mad::MgmtClass::SubnAdm && !mad::is_response(header.method) &&
         (!of_transfer || whole);
}

std::optional<Reply> Administrator::answer(const mad::Packet& packet, Instant now) {
  const mad::Header header = mad::read_header(packet.mad);
  const Header sa = read_header(packet.mad);
  if (!directory_) return std::nullopt;
  const PortIndex from = directory_->find(packet.address.slid);
  if (from == no_port) {
    ++statistics_.strangers;
    return std::nullopt;
  }
  if (sa.sm_key != 0 && sa.sm_key != options_.sm_key) {
    ++statistics_.wrong_keys;
    return std::nullopt;
  }
  // Reports are answered, not asked here; a trap of this class has nobody to take it.
  if (header.method == mad::Method::Report || header.method == mad::Method::Trap ||
      header.method == mad::Method::TrapRepress) {
    return std::nullopt;
  }
  const Request request{packet, header, sa, from, sa.sm_key == 0 ? Trust::No : Trust::Yes};
  const Pace::Turn turn = turn_of(request, now);
  Reply reply;
  if (header.class_version != class_version) {
    reply = bare(packet, header, mad::status::bad_version);
  } else if (turn != Pace::Turn::Granted) {
    ++statistics_.too_often;
    if (turn == Pace::Turn::UnderWay) return std::nullopt;
    reply = bare(packet, header, mad::status::busy);
  } else {
    const auto attribute = static_cast<Attribute>(header.attribute);
    const bool get = header.method == mad::Method::Get;
    if (attribute == Attribute::ClassPortInfo && get) {
      reply = bare(packet, header, mad::status::ok);
      ClassPortInfo info;
      info.capabilities = ClassPortInfo::multicast | ClassPortInfo::matches_capability_masks;
      info.capabilities2 = ClassPortInfo::send_only_full_members;
      encode(info, std::span{reply.head.mad}.subspan(data_offset));
    } else if (attribute == Attribute::PathRecord && reads(header)) {
      reply = paths(request);
    } else if (attribute == Attribute::NodeRecord && reads(header)) {
      reply = nodes(request);
    } else if (attribute == Attribute::PortInfoRecord && reads(header)) {
      reply = ports(request);
    } else if (attribute == Attribute::McMemberRecord &&
               (reads(header) || header.method == mad::Method::Set || header.method == method::remove)) {
      reply = members(request);
    } else if (attribute == Attribute::InformInfo && header.method == mad::Method::Set) {
      reply = inform(request);
    } else {
      reply = bare(packet, header, mad::status::bad_method_attribute);
    }
  }
  ++statistics_.answered;
  if (mad::read_header(reply.head.mad).status != mad::status::ok) ++statistics_.refused;
  return reply;
}

Pace::Turn Administrator::turn_of(const Request& request, Instant now) {
  if (!reads(request.header)) return Pace::Turn::Granted;
  const auto attribute = static_cast<Attribute>(request.header.attribute);
  const std::size_t looks = directory_->looks(attribute, request.sa.components);
  if (looks <= 1) return Pace::Turn::Granted;
  // By its first LID: it may send from any that it has.
  const Lid lid = directory_->survey().fabric->port(request.from).lid;
  // Carriers overwrite the upper half of a TID.
  const auto transaction = static_cast<std::uint32_t>(request.header.tid);
  return pace_.take(lid, transaction, looks, directory_->all(), now);
}

Reply Administrator::paths(const Request& request) const {
  const bool get = request.header.method == mad::Method::Get;
  // Of many paths, a Get is given the best (as OpenSM does; IBA leaves it open).
  const PathAnswer found = directory_->paths(decode<PathRecord>(request.record()), request.sa.components,
                                             get ? 1 : options_.most_records);
  if (found.status != mad::status::ok && (get || found.status != status::no_records)) {
    return bare(request.packet, request.header, found.status);
  }
  return with_records(request.packet, request.header, found.paths.size(), PathRecord::size,
                      [&](std::size_t i, std::span<std::uint8_t> to) { encode(found.paths[i], to); });
}

Reply Administrator::nodes(const Request& request) const {
  const auto found = directory_->nodes(request.record(), request.sa.components);
  return with_records(request.packet, request.header, found.size(), Directory::node_record_size,
                      copy_of(found));
}

Reply Administrator::ports(const Request& request) const {
  const auto masks =
      (request.header.modifier & masks_contain) != 0 ? Directory::Masks::Contain : Directory::Masks::Equal;
  const auto found = directory_->ports(request.record(), request.sa.components, masks);
  return with_records(request.packet, request.header, found.size(), Directory::port_record_size,
                      copy_of(found));
}

Reply Administrator::members(const Request& request) {
  if (reads(request.header)) {
    const auto found = groups_.records(request.record(), request.sa.components, request.trust);
    return with_records(request.packet, request.header, found.size(), McMemberRecord::size, copy_of(found));
  }
  const auto wish = decode<McMemberRecord>(request.record());
  const PortIndex port = directory_->find(wish.port);
  if (port == no_port) return bare(request.packet, request.header, status::request_invalid);
  // Another port joins for its own (IBA 15.4.1.2, 15.2.5.17): a proxy must be trusted.
  if (request.trust == Trust::No && port != request.from) {
    return bare(request.packet, request.header, status::denied);
  }
  const PortGuid guid = directory_->survey().fabric->port(port).guid;
  const Groups::Answer done =
      request.header.method == mad::Method::Set
          ? groups_.join(wish, request.sa.components, guid, directory_->capacity(port))
          : groups_.leave(wish, request.sa.components, guid);
  if (done.status != mad::status::ok) return bare(request.packet, request.header, done.status);
  Reply reply = bare(request.packet, request.header, mad::status::ok);
  encode(done.record, std::span{reply.head.mad}.subspan(data_offset));
  return reply;
}

Reply Administrator::inform(const Request& request) {
  const auto info = decode<InformInfo>(request.record());
  const std::uint16_t status = subscriptions_.set({request.packet.address}, info);
  Reply reply = bare(request.packet, request.header, status);
  if (status == mad::status::ok) encode(info, std::span{reply.head.mad}.subspan(data_offset));
  return reply;
}

}  // namespace heddle::sa
