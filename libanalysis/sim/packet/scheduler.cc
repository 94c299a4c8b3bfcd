#include "sim/packet/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>

namespace heddle::packet {
namespace {

Result<void> check_table(std::string_view key, const std::vector<TableEntry>& table, std::size_t most_entries,
                         unsigned most_lanes, std::uint32_t most_weight) {
  if (table.size() > most_entries) {
    return fail(ErrorCode::Invalid,
                fmt::format("{}: {} entries, there is room for {}", key, table.size(), most_entries));
  }
  for (const TableEntry& entry : table) {
    if (entry.lane >= most_lanes) {
      return fail(ErrorCode::Invalid,
                  fmt::format("{}: no lane {}: 0 to {}", key, entry.lane, most_lanes - 1));
    }
    if (entry.weight > most_weight) {
      return fail(ErrorCode::Invalid,
                  fmt::format("{}: weight {} is above {}", key, entry.weight, most_weight));
    }
  }
  return {};
}

qos::ArbTable arb_table(const std::vector<TableEntry>& entries) {
  qos::ArbTable table;
  for (const TableEntry& entry : entries)
    table.push_back({Vl{entry.lane}, static_cast<std::uint8_t>(entry.weight)});
  return table;
}

}  // namespace

Result<Scheduler> Scheduler::make(const SchedulerConfig& config, int flit_bytes) {
  const bool infiniband = config.discipline == Discipline::InfiniBand;
  const std::size_t entries = infiniband ? qos::max_entries : 256;
  const unsigned lanes = infiniband ? qos::max_data_vls : qos::max_lanes;
  const std::uint32_t weight = infiniband ? 255 : 1'000'000;
  if (auto ok = check_table("high", config.high, entries, lanes, weight); !ok) return fail(ok.error());
  if (auto ok = check_table("low", config.low, entries, lanes, weight); !ok) return fail(ok.error());
  const auto serves = [](const TableEntry& entry) { return entry.weight > 0; };
  if (config.discipline != Discipline::RoundRobin && std::ranges::none_of(config.high, serves) &&
      std::ranges::none_of(config.low, serves)) {
    return fail(ErrorCode::Invalid, "table: no entry has a weight, so nothing would ever be sent");
  }
  Scheduler scheduler;
  scheduler.config_ = config;
  scheduler.flit_bytes_ = flit_bytes;
  if (infiniband) {
    scheduler.new_infiniband_.emplace(
        qos::VlArbitration{arb_table(config.high), arb_table(config.low), qos::HighLimit{config.high_limit}},
        config.low_grant, config.rounding);
  }
  return scheduler;
}

std::uint32_t Scheduler::add_port() {
  const auto number = static_cast<std::uint32_t>(last_.size());
  last_.push_back(31);
  switch (config_.discipline) {
    case Discipline::RoundRobin:
      break;
    case Discipline::InfiniBand:
      infiniband_.push_back(*new_infiniband_);
      break;
    case Discipline::SimpleTable: {
      std::vector<std::uint32_t> weights(qos::max_lanes);
      for (const TableEntry& entry : config_.high) weights[entry.lane] = entry.weight;
      std::vector<std::uint8_t> itself(qos::max_lanes);
      std::iota(itself.begin(), itself.end(), std::uint8_t{0});
      simple_.emplace_back(std::move(weights), std::move(itself), config_.restore);
      break;
    }
    case Discipline::DeficitTable: {
      qos::DTable table;
      for (const TableEntry& entry : config_.high) table.push_back({qos::Lane{entry.lane}, entry.weight});
      deficit_.emplace_back(std::move(table));
      break;
    }
  }
  return number;
}

void Scheduler::set_tables(std::uint32_t port, const qos::VlArbitration& tables) {
  assert(config_.discipline == Discipline::InfiniBand);
  infiniband_[port] = qos::IbaArbiter{tables, config_.low_grant, config_.rounding};
}

std::optional<unsigned> Scheduler::pick_table(std::uint32_t port, LaneMask active, const HeadFlits& heads) {
  std::array<std::uint32_t, qos::max_lanes> bytes{};
  for (LaneMask left = active; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(left));
    bytes[lane] = static_cast<std::uint32_t>(heads[lane] * flit_bytes_);
  }
  std::optional<qos::Pick> pick;
  if (config_.discipline == Discipline::InfiniBand) {
    pick = infiniband_[port].select(bytes, active);
  } else if (config_.discipline == Discipline::SimpleTable) {
    pick = simple_[port].select(bytes);
  } else {
    pick = deficit_[port].select(bytes);
  }
  if (!pick) return std::nullopt;
  return pick->lane.raw();
}

}  // namespace heddle::packet
