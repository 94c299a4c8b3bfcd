#include "sa/wire.h"

#include <algorithm>

#include "sa/bits.h"

namespace heddle::sa {
namespace {

constexpr std::size_t sm_key_offset = 36;
constexpr std::uint8_t rmpp_version = 1;
/// RRespTime of which nothing is said (IBA 13.6.2.1).
constexpr unsigned no_response_time = 31;

std::span<const std::uint8_t> from(const mad::Bytes& mad, std::size_t offset) {
  return std::span{mad}.subspan(offset);
}

Gid read_gid(BitReader& in) {
  Gid gid;
  gid.prefix = in(64);
  gid.id = in(64);
  return gid;
}
void write_gid(BitWriter& out, const Gid& gid) {
  out(64, gid.prefix);
  out(64, gid.id);
}
Selected read_selected(BitReader& in) {
  Selected selected;
  selected.selector = static_cast<Selector>(in(2));
  selected.code = static_cast<std::uint8_t>(in(6));
  return selected;
}
void write_selected(BitWriter& out, Selected selected) {
  out(2, static_cast<std::uint8_t>(selected.selector));
  out(6, selected.code);
}

template <class T>
T number(BitReader& in, unsigned bits) {
  return static_cast<T>(in(bits));
}

}  // namespace

Header read_header(const mad::Bytes& mad) {
  BitReader in{from(mad, sm_key_offset)};
  Header header;
  header.sm_key = in(64);
  header.attribute_offset = number<std::uint16_t>(in, 16);
  in.skip(16);
  header.components = in(64);
  return header;
}

void write_header(const Header& header, mad::Bytes& mad) {
  BitWriter out{std::span{mad}.subspan(sm_key_offset)};
  out(64, header.sm_key);
  out(16, header.attribute_offset);
  out(16, 0);
  out(64, header.components);
}

Rmpp read_rmpp(const mad::Bytes& mad) {
  BitReader in{from(mad, rmpp_offset)};
  in.skip(8);
  Rmpp rmpp;
  rmpp.type = static_cast<Rmpp::Type>(in(8));
  in.skip(5);
  rmpp.flags = number<std::uint8_t>(in, 3);
  rmpp.status = number<std::uint8_t>(in, 8);
  rmpp.segment = number<std::uint32_t>(in, 32);
  rmpp.length_or_window = number<std::uint32_t>(in, 32);
  return rmpp;
}

void write_rmpp(const Rmpp& rmpp, mad::Bytes& mad) {
  const bool none = rmpp.type == Rmpp::Type::None;
  BitWriter out{std::span{mad}.subspan(rmpp_offset)};
  out(8, none ? 0 : rmpp_version);
  out(8, static_cast<std::uint8_t>(rmpp.type));
  out(5, none ? 0 : no_response_time);
  out(3, rmpp.flags);
  out(8, rmpp.status);
  out(32, rmpp.segment);
  out(32, rmpp.length_or_window);
}

template <>
PathRecord decode(std::span<const std::uint8_t> record) {
  BitReader in{record};
  PathRecord path;
  path.service = in(64);
  path.dgid = read_gid(in);
  path.sgid = read_gid(in);
  path.dlid = Lid{number<std::uint16_t>(in, 16)};
  path.slid = Lid{number<std::uint16_t>(in, 16)};
  in.skip(4);  // raw traffic, and 3 bits of nothing
  path.flow_label = number<std::uint32_t>(in, 20);
  path.hop_limit = number<std::uint8_t>(in, 8);
  path.traffic_class = number<std::uint8_t>(in, 8);
  path.reversible = in(1) != 0;
  path.count = number<std::uint8_t>(in, 7);
  path.pkey = number<std::uint16_t>(in, 16);
  in.skip(12);  // QoS class
  path.sl = Sl{number<std::uint8_t>(in, 4)};
  path.mtu = read_selected(in);
  path.rate = read_selected(in);
  path.life = read_selected(in);
  path.preference = number<std::uint8_t>(in, 8);
  return path;
}

template <>
void encode(const PathRecord& path, std::span<std::uint8_t> record) {
  BitWriter out{record};
  out(64, path.service);
  write_gid(out, path.dgid);
  write_gid(out, path.sgid);
  out(16, path.dlid.raw());
  out(16, path.slid.raw());
  out(4, 0);
  out(20, path.flow_label);
  out(8, path.hop_limit);
  out(8, path.traffic_class);
  out(1, path.reversible ? 1 : 0);
  out(7, path.count);
  out(16, path.pkey);
  out(12, 0);
  out(4, path.sl.raw());
  write_selected(out, path.mtu);
  write_selected(out, path.rate);
  write_selected(out, path.life);
  out(8, path.preference);
  out(48, 0);
}

template <>
McMemberRecord decode(std::span<const std::uint8_t> record) {
  BitReader in{record};
  McMemberRecord member;
  member.mgid = read_gid(in);
  member.port = read_gid(in);
  member.qkey = number<std::uint32_t>(in, 32);
  member.mlid = Lid{number<std::uint16_t>(in, 16)};
  member.mtu = read_selected(in);
  member.traffic_class = number<std::uint8_t>(in, 8);
  member.pkey = number<std::uint16_t>(in, 16);
  member.rate = read_selected(in);
  member.life = read_selected(in);
  member.sl = Sl{number<std::uint8_t>(in, 4)};
  member.flow_label = number<std::uint32_t>(in, 20);
  member.hop_limit = number<std::uint8_t>(in, 8);
  member.scope = number<std::uint8_t>(in, 4);
  member.join_state = number<std::uint8_t>(in, 4);
  member.proxy_join = in(1) != 0;
  return member;
}

template <>
void encode(const McMemberRecord& member, std::span<std::uint8_t> record) {
  BitWriter out{record};
  write_gid(out, member.mgid);
  write_gid(out, member.port);
  out(32, member.qkey);
  out(16, member.mlid.raw());
  write_selected(out, member.mtu);
  out(8, member.traffic_class);
  out(16, member.pkey);
  write_selected(out, member.rate);
  write_selected(out, member.life);
  out(4, member.sl.raw());
  out(20, member.flow_label);
  out(8, member.hop_limit);
  out(4, member.scope);
  out(4, member.join_state);
  out(1, member.proxy_join ? 1 : 0);
  out(55, 0);
}

template <>
InformInfo decode(std::span<const std::uint8_t> record) {
  BitReader in{record};
  InformInfo info;
  info.gid = read_gid(in);
  info.first = Lid{number<std::uint16_t>(in, 16)};
  info.last = Lid{number<std::uint16_t>(in, 16)};
  in.skip(16);
  info.generic = in(8) != 0;
  info.subscribe = in(8) != 0;
  info.type = number<std::uint16_t>(in, 16);
  info.trap = number<std::uint16_t>(in, 16);
  info.qpn = number<std::uint32_t>(in, 24);
  in.skip(3);
  info.response_time = number<std::uint8_t>(in, 5);
  in.skip(8);
  info.producer = number<std::uint32_t>(in, 24);
  return info;
}

template <>
void encode(const InformInfo& info, std::span<std::uint8_t> record) {
  BitWriter out{record};
  write_gid(out, info.gid);
  out(16, info.first.raw());
  out(16, info.last.raw());
  out(16, 0);
  out(8, info.generic ? 1 : 0);
  out(8, info.subscribe ? 1 : 0);
  out(16, info.type);
  out(16, info.trap);
  out(24, info.qpn);
  out(3, 0);
  out(5, info.response_time);
  out(8, 0);
  out(24, info.producer);
}

template <>
void encode(const ClassPortInfo& info, std::span<std::uint8_t> record) {
  BitWriter out{record};
  out(8, info.base_version);
  out(8, info.version);
  out(16, info.capabilities);
  out(27, info.capabilities2);
  out(5, info.response_time);
  std::fill(record.begin() + 8, record.begin() + ClassPortInfo::size, std::uint8_t{0});
}

template <>
ClassPortInfo decode(std::span<const std::uint8_t> record) {
  BitReader in{record};
  ClassPortInfo info;
  info.base_version = number<std::uint8_t>(in, 8);
  info.version = number<std::uint8_t>(in, 8);
  info.capabilities = number<std::uint16_t>(in, 16);
  info.capabilities2 = number<std::uint32_t>(in, 27);
  info.response_time = number<std::uint8_t>(in, 5);
  return info;
}

namespace {

/// In 100 Mb/s, by code.
constexpr std::array<unsigned, 25> rates{0,    0,    25,  100,  300,  50,   200,  400,  600,
                                         800,  1200, 140, 560,  1120, 1680, 250,  1000, 2000,
                                         3000, 280,  500, 4000, 6000, 8000, 12000};

constexpr unsigned lane_rate(LinkSpeed speed) {
  switch (speed) {
    case LinkSpeed::None:
      return 0;
    case LinkSpeed::Sdr:
      return 25;
    case LinkSpeed::Ddr:
      return 50;
    case LinkSpeed::Qdr:
    case LinkSpeed::Fdr10:
      return 100;
    case LinkSpeed::Fdr:
      return 140;
    case LinkSpeed::Edr:
      return 250;
    case LinkSpeed::Hdr:
      return 500;
    case LinkSpeed::Ndr:
      return 1000;
    case LinkSpeed::Xdr:
      return 2000;
  }
  return 0;
}

}  // namespace

std::uint8_t rate_code(LinkWidth width, LinkSpeed speed) {
  const unsigned wanted = static_cast<unsigned>(lanes(width)) * lane_rate(speed);
  // The fastest code that promises no more: 8x and 12x of the fastest have none of their own.
  std::uint8_t best = 0;
  for (std::size_t code = 2; code < rates.size(); ++code) {
    if (rates[code] <= wanted && rates[code] > rates[best]) best = static_cast<std::uint8_t>(code);
  }
  return best;
}

unsigned rate_of(std::uint8_t code) { return code < rates.size() ? rates[code] : 0; }

}  // namespace heddle::sa
