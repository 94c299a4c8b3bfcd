#include "load/counter.h"

namespace heddle::load {
namespace {

struct Row {
  int narrow_bits;
  std::string_view name;
};

// IBA 16.1.3.5, table 244 (PortCounters).
constexpr std::array<Row, counter_count> rows{{
    {32, "xmit_data"},
    {32, "rcv_data"},
    {32, "xmit_packets"},
    {32, "rcv_packets"},
    {0, "unicast_xmit_packets"},
    {0, "unicast_rcv_packets"},
    {0, "multicast_xmit_packets"},
    {0, "multicast_rcv_packets"},
    {32, "xmit_wait"},
    {16, "symbol_errors"},
    {8, "link_recovers"},
    {8, "link_downed"},
    {16, "rcv_errors"},
    {16, "rcv_remote_physical_errors"},
    {16, "rcv_switch_relay_errors"},
    {16, "xmit_discards"},
    {8, "xmit_constraint_errors"},
    {8, "rcv_constraint_errors"},
    {4, "local_link_integrity_errors"},
    {4, "excessive_buffer_overrun_errors"},
    {16, "vl15_dropped"},
    {16, "qp1_dropped"},
}};

}  // namespace

int narrow_bits(Counter counter) { return rows[at(counter)].narrow_bits; }

std::uint64_t largest(Counter counter, Width width) {
  const int bits = width == Width::Wide ? 64 : rows[at(counter)].narrow_bits;
  return bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

std::string_view to_string(Counter counter) { return rows[at(counter)].name; }

}  // namespace heddle::load
