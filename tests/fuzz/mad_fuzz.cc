// MADs: header and directed route, and each attribute of subnet and performance management. Any bytes decode;
// what was decoded is encoded to bytes that decode to the same again. What ports say of their links makes
// sense together.

#include <algorithm>
#include <utility>

#include "fuzz/fuzz_target.h"
#include "mad/attributes.h"
#include "mad/counters.h"
#include "mad/header.h"
#include "mad/link_capability.h"
#include "sampling/readings.h"

namespace {

using namespace heddle;

/// Reserved bits may be lost on the first way, and nothing on the second.
template <class Decode, class Encode>
void round_trip(const mad::Bytes& mad, Decode decode, Encode encode) {
  mad::Bytes once{};
  encode(decode(mad), once);
  mad::Bytes twice{};
  encode(decode(once), twice);
  fuzz::require(once == twice, "what was decoded is written, and read as the same again");
}

template <class T>
void smp(const mad::Bytes& mad) {
  round_trip(
      mad, [](const mad::Bytes& from) { return mad::decode<T>(mad::smp_data(from)); },
      [](const T& value, mad::Bytes& to) { mad::encode(value, mad::smp_data(to)); });
}

template <class T>
void gmp(const mad::Bytes& mad) {
  round_trip(
      mad, [](const mad::Bytes& from) { return mad::decode_gmp<T>(mad::gmp_data(from)); },
      [](const T& value, mad::Bytes& to) { mad::encode_gmp(value, mad::gmp_data(to)); });
}

void readings(const mad::Bytes& mad) {
  load::Reading reading;
  constexpr auto all = static_cast<load::CounterMask>(~load::CounterMask{});
  sampling::read_extended(mad::decode_gmp<mad::PortCountersExtended>(mad::gmp_data(mad)), all, {}, reading);
  sampling::read_basic(mad::decode_gmp<mad::PortCounters>(mad::gmp_data(mad)), all, {}, reading);
  const mad::PortCounters reset = sampling::reset_of(PortNum{mad[0]}, mad[1]);
  fuzz::require(reset.port_select == PortNum{mad[0]}, "counters of this port are cleared");
}

/// Two ports: what the MAD says, and the same read from 64 bytes further on.
void links(const mad::Bytes& mad) {
  const auto info = mad::decode<mad::PortInfo>(mad::smp_data(mad));
  mad::Bytes shifted{};
  std::copy(mad.begin() + 64, mad.end(), shifted.begin());
  const auto other = mad::decode<mad::PortInfo>(mad::smp_data(std::as_const(shifted)));
  for (const auto by : {mad::By::Supported, mad::By::Enabled}) {
    const mad::LinkMode one_way = mad::best_common(info, other, by);
    const mad::LinkMode back = mad::best_common(other, info, by);
    fuzz::require(one_way.width == back.width && one_way.speed == back.speed, "both ends agree");
  }
  mad::PortInfo set = info;
  set_speed(mad::active_speed(info, nullptr), set);
  if (mad::active_speed(info, nullptr) != LinkSpeed::None)
    fuzz::require(mad::active_speed(set, nullptr) == mad::active_speed(info, nullptr), "a speed is set");
  set_width(mad::active_width(info), set);
  fuzz::require(mad::active_width(set) == mad::active_width(info), "a width is set");
  const auto ext = mad::decode<mad::MlnxExtPortInfo>(mad::smp_data(std::as_const(shifted)));
  (void)mad::active_speed(info, &ext);
  (void)mad::hides_speed(info, info.capability_mask);
  fuzz::require(mad::data_vls(mad[0]) <= 15, "a port has 15 data VLs at most");
}

void notice(const mad::Bytes& mad) {
  auto notice = mad::decode<mad::Notice>(mad::smp_data(mad));
  const Lid lid = notice.data_lid();
  notice.set_data_lid(lid);
  fuzz::require(notice.data_lid() == lid, "a notice's LID is written where it is read");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mad::Bytes mad{};
  std::copy_n(data, std::min(size, mad.size()), mad.begin());
  const mad::Header header = mad::read_header(mad);
  mad::Bytes written{};
  mad::write_header(header, written);
  fuzz::require(mad::read_header(written).attribute == header.attribute,
                "a header is read as it was written");
  round_trip(
      mad, [](const mad::Bytes& from) { return mad::read_directed_route(from); },
      [](const mad::DirectedRoute& route, mad::Bytes& to) { mad::write_directed_route(route, to); });
  smp<mad::NodeInfo>(mad);
  smp<mad::NodeDescription>(mad);
  smp<mad::SwitchInfo>(mad);
  smp<mad::PortInfo>(mad);
  smp<mad::MlnxExtPortInfo>(mad);
  smp<mad::LftBlock>(mad);
  smp<mad::MftBlock>(mad);
  smp<mad::PKeyBlock>(mad);
  smp<mad::SlToVlTable>(mad);
  smp<mad::VlArbBlock>(mad);
  smp<mad::GuidInfoBlock>(mad);
  smp<mad::SmInfo>(mad);
  smp<mad::Notice>(mad);
  gmp<mad::ClassPortInfo>(mad);
  gmp<mad::PortCounters>(mad);
  gmp<mad::PortCountersExtended>(mad);
  gmp<mad::PortSamplesControl>(mad);
  gmp<mad::PortSamplesResult>(mad);
  gmp<mad::PortRcvErrorDetails>(mad);
  gmp<mad::PortXmitDiscardDetails>(mad);
  for (const auto width : {mad::CounterWidth::Bits16, mad::CounterWidth::Bits32}) {
    round_trip(
        mad, [width](const mad::Bytes& from) { return mad::decode_per_vl(mad::gmp_data(from), width); },
        [width](const mad::PerVlCounters& value, mad::Bytes& to) {
          mad::encode_per_vl(value, width, mad::gmp_data(to));
        });
  }
  readings(mad);
  links(mad);
  notice(mad);
  return 0;
}
