// MADs: header and directed route, and each attribute of subnet and performance management. Any bytes decode;
// what was decoded is encoded to bytes that decode to the same again.

#include <algorithm>

#include "fuzz/fuzz_target.h"
#include "mad/attributes.h"
#include "mad/counters.h"
#include "mad/header.h"
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
  return 0;
}
