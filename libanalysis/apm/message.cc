#include "apm/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apm/wire.h"
#include "base/network_order.h"

namespace heddle::apm {
namespace {

// Of an order to move.
constexpr std::size_t move_plane_offset = body_offset;
constexpr std::size_t move_number_offset = body_offset + 8;

// Of a standing.
constexpr std::size_t plane_offset = body_offset;
constexpr std::size_t progress_offset = body_offset + 1;
constexpr std::size_t counts_offset = body_offset + 4;
constexpr std::size_t incarnation_offset = body_offset + 40;
constexpr std::size_t order_offset = body_offset + 48;
constexpr std::size_t trouble_offset = body_offset + 56;
static_assert(trouble_offset + Standing::most_trouble == message_end);

/// The counts, in the order of the wire.
template <class Its, class Visit>
void each_count(Its& standing, Visit visit) {
  std::size_t at = counts_offset;
  for (auto* count :
       {&standing.connections, &standing.in_plane[0], &standing.in_plane[1], &standing.armed,
        &standing.moving, &standing.failed, &standing.unable, &standing.others, &standing.processes}) {
    visit(*count, at);
    at += sizeof *count;
  }
}

tl::unexpected<Error> invalid(std::string why) {
  return fail(ErrorCode::Invalid, "a message of a host's agent: " + std::move(why));
}

bool is_known(Attribute attribute, mad::Method method) {
  const bool asks = method == mad::Method::Get && attribute == Attribute::Connections;
  const bool orders =
      method == mad::Method::Set && (attribute == Attribute::Arm || attribute == Attribute::Move);
  return asks || orders || method == mad::Method::GetResp;
}

}  // namespace

std::string_view to_string(Progress progress) {
  constexpr std::array<std::string_view, 5> names{"none", "moving", "moved", "partial", "failed"};
  return names[static_cast<std::size_t>(progress)];
}

bool is_ours(const mad::Bytes& mad) {
  return mad[0] == 1 && mad[1] == static_cast<std::uint8_t>(vendor_class) &&
         std::equal(oui.begin(), oui.end(), mad.begin() + oui_offset);
}

Result<Envelope> read_envelope(const mad::Bytes& mad) {
  const mad::Header header = mad::read_header(mad);
  if (header.class_version != 1 || mad[version_offset] != version) {
    return invalid(fmt::format("version {}, not {}", mad[version_offset], version));
  }
  const auto attribute = static_cast<Attribute>(header.attribute);
  if (attribute < Attribute::Connections || attribute > Attribute::Move ||
      !is_known(attribute, header.method)) {
    return invalid(fmt::format("method {:#04x} of attribute {:#06x} is unknown",
                               static_cast<unsigned>(header.method), header.attribute));
  }
  return Envelope{header.method, attribute, header.status, from_network<std::uint64_t>(&mad[sequence_offset]),
                  PortGuid{from_network<std::uint64_t>(&mad[port_offset])}};
}

mad::Packet request(mad::Method method, Attribute attribute, Lid dlid, PortGuid port) {
  mad::Packet packet;
  packet.address = {.dlid = dlid, .dqp = mad::gsi_qp, .sqp = mad::gsi_qp};
  mad::Header header;
  header.mgmt_class = vendor_class;
  header.method = method;
  header.attribute = static_cast<std::uint16_t>(attribute);
  mad::write_header(header, packet.mad);
  std::copy(oui.begin(), oui.end(), packet.mad.begin() + oui_offset);
  packet.mad[version_offset] = version;
  to_network(port.raw(), &packet.mad[port_offset]);
  return packet;
}

mad::Packet answer_to(const mad::Packet& request, std::uint16_t status) {
  mad::Packet answer;
  answer.address = request.address;
  answer.address.dlid = request.address.slid;
  answer.address.slid = request.address.dlid;
  std::swap(answer.address.dqp, answer.address.sqp);
  std::copy_n(request.mad.begin(), tag_offset, answer.mad.begin());
  mad::Header header = mad::read_header(request.mad);
  header.method = mad::Method::GetResp;
  header.status = status;
  mad::write_header(header, answer.mad);
  return answer;
}

void set_sequence(std::uint64_t sequence, mad::Bytes& mad) { to_network(sequence, &mad[sequence_offset]); }

void encode(const MoveOrder& order, mad::Bytes& mad) {
  mad[move_plane_offset] = order.plane;
  to_network(order.number, &mad[move_number_offset]);
}

Result<MoveOrder> read_move(const mad::Bytes& mad) {
  if (mad[move_plane_offset] >= planes) {
    return invalid(fmt::format("plane {} of {}", mad[move_plane_offset], planes));
  }
  return MoveOrder{from_network<std::uint64_t>(&mad[move_number_offset]), mad[move_plane_offset]};
}

void encode(const Standing& standing, mad::Bytes& mad) {
  mad[plane_offset] = standing.plane;
  mad[progress_offset] = static_cast<std::uint8_t>(standing.progress);
  each_count(standing, [&](std::uint32_t count, std::size_t at) { to_network(count, &mad[at]); });
  to_network(standing.incarnation, &mad[incarnation_offset]);
  to_network(standing.order, &mad[order_offset]);
  std::fill_n(mad.begin() + trouble_offset, Standing::most_trouble, std::uint8_t{0});
  std::copy_n(standing.trouble.begin(), std::min(standing.trouble.size(), Standing::most_trouble),
              mad.begin() + trouble_offset);
}

Result<Standing> read_standing(const mad::Bytes& mad) {
  Standing standing;
  standing.plane = mad[plane_offset];
  if (standing.plane >= planes) return invalid(fmt::format("plane {} of {}", standing.plane, planes));
  if (mad[progress_offset] > static_cast<std::uint8_t>(Progress::Failed)) {
    return invalid(fmt::format("progress {}", mad[progress_offset]));
  }
  standing.progress = static_cast<Progress>(mad[progress_offset]);
  each_count(standing,
             [&](std::uint32_t& count, std::size_t at) { count = from_network<std::uint32_t>(&mad[at]); });
  standing.incarnation = from_network<std::uint64_t>(&mad[incarnation_offset]);
  standing.order = from_network<std::uint64_t>(&mad[order_offset]);
  const auto* trouble = mad.begin() + trouble_offset;
  standing.trouble.assign(trouble, std::find(trouble, trouble + Standing::most_trouble, std::uint8_t{0}));
  const std::uint64_t in_planes = std::uint64_t{standing.in_plane[0]} + standing.in_plane[1];
  if (in_planes > standing.connections || standing.armed > standing.connections) {
    return invalid(fmt::format("{} connections, {} in planes, {} armed", standing.connections, in_planes,
                               standing.armed));
  }
  const bool all_there = standing.in_plane[standing.plane] == standing.connections;
  if (standing.progress == Progress::Moved && !all_there) {
    return invalid(fmt::format("all have moved, but {} of {} connections are in plane {}",
                               standing.in_plane[standing.plane], standing.connections, standing.plane));
  }
  return standing;
}

}  // namespace heddle::apm
