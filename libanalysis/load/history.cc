#include "load/history.h"

#include <algorithm>
#include <cassert>

namespace heddle::load {
namespace {

constexpr std::uint16_t nothing = 0xffff;
constexpr float one = 50000;

std::uint16_t packed(float ratio) {
  if (!is_known(ratio)) return nothing;
  return static_cast<std::uint16_t>(std::clamp(ratio * one + 0.5F, 0.0F, 65534.0F));
}
float unpacked(std::uint16_t cell) { return cell == nothing ? unknown : static_cast<float>(cell) / one; }

}  // namespace

History::History(std::size_t depth) : depth_{depth}, at_(depth), grown_(depth) { assert(depth > 0); }

std::size_t History::bytes() const {
  std::size_t bytes = cells_.capacity() * sizeof(Cell) + errors_.capacity() * sizeof(errors_[0]);
  for (const auto& row : grown_) bytes += row.capacity() * sizeof(Growth);
  return bytes;
}

void History::rebase(std::shared_ptr<const Fabric> fabric) {
  const auto old_fabric = std::move(fabric_);
  const auto old_column = std::move(column_);
  fabric_ = std::move(fabric);
  column_.assign(fabric_->ports().size(), no_column);

  std::vector<bool> kept(width_);
  std::vector<std::size_t> wanting;  // ports with a cable and no column
  for (const Node& node : fabric_->nodes()) {
    const NodeIndex old = old_fabric ? old_fabric->find_node(node.guid) : no_node;
    for (std::size_t p = 1; p <= node.port_count; ++p) {
      const std::size_t port = node.first_port.raw() + p;
      if (old != no_node && p <= old_fabric->node(old).port_count) {
        column_[port] = old_column[old_fabric->node(old).first_port.raw() + p];
      }
      if (column_[port] != no_column) {
        kept[column_[port]] = true;
      } else if (fabric_->ports()[port].link != no_link) {
        wanting.push_back(port);
      }
    }
  }
  free_.clear();
  for (std::size_t c = width_; c-- > 0;) {
    if (kept[c]) continue;
    free_.push_back(static_cast<std::uint32_t>(c));
    for (std::size_t row = 0; row < filled_; ++row) cells_[row * width_ + c] = {nothing, nothing};
    errors_[c] = never_read;
  }
  for (auto& row : grown_) std::erase_if(row, [&](const Growth& growth) { return !kept[growth.column]; });
  if (wanting.size() > free_.size()) widen(width_ + wanting.size() - free_.size());
  for (const std::size_t port : wanting) {
    column_[port] = free_.back();
    free_.pop_back();
  }
}

void History::widen(std::size_t columns) {
  std::vector<Cell> wider(columns * depth_, Cell{nothing, nothing});
  for (std::size_t row = 0; row < filled_; ++row) {
    std::copy_n(cells_.begin() + static_cast<std::ptrdiff_t>(row * width_), width_,
                wider.begin() + static_cast<std::ptrdiff_t>(row * columns));
  }
  cells_ = std::move(wider);
  for (std::size_t c = columns; c-- > width_;) free_.push_back(static_cast<std::uint32_t>(c));
  width_ = columns;
  errors_.resize(width_, never_read);
}

void History::append(const Sample& sample) {
  assert(sample.fabric == fabric_);
  Cell* row = cells_.data() + next_ * width_;
  std::fill_n(row, width_, Cell{nothing, nothing});
  auto& grown = grown_[next_];
  grown.clear();
  for (std::size_t port = 0; port < column_.size(); ++port) {
    if (column_[port] == no_column) continue;
    const PortSample& from = sample.ports[port];
    row[column_[port]] = {packed(from.utilization), packed(from.congestion)};
    const std::uint64_t errors = error_count(from);
    std::uint64_t& before = errors_[column_[port]];
    if (before < errors && before != never_read) {
      grown.push_back(
          {column_[port], static_cast<std::uint32_t>(std::min<std::uint64_t>(errors - before, UINT32_MAX))});
    }
    before = errors;
  }
  at_[next_] = sample.ended;
  next_ = (next_ + 1) % depth_;
  filled_ = std::min(filled_ + 1, depth_);
}

std::vector<HistoryPoint> History::profile(PortIndex port, std::size_t most) const {
  std::vector<HistoryPoint> points;
  if (port.raw() >= column_.size() || column_[port.raw()] == no_column) return points;
  const std::size_t count = std::min(most, filled_);
  points.reserve(count);
  for (std::size_t place = filled_ - count; place < filled_; ++place) points.push_back(point(place, port));
  return points;
}

std::vector<Instant> History::times() const {
  std::vector<Instant> times;
  times.reserve(filled_);
  for (std::size_t place = 0; place < filled_; ++place) times.push_back(at_[row_of(place)]);
  return times;
}

std::vector<std::uint64_t> History::errors(std::size_t place) const {
  assert(place < filled_);
  std::vector<std::uint64_t> by_column = errors_;
  for (std::size_t later = place + 1; later < filled_; ++later) {
    for (const Growth& growth : grown_[row_of(later)]) by_column[growth.column] -= growth.errors;
  }
  std::vector<std::uint64_t> errors(column_.size());
  for (std::size_t port = 0; port < column_.size(); ++port) {
    if (column_[port] != no_column && by_column[column_[port]] != never_read)
      errors[port] = by_column[column_[port]];
  }
  return errors;
}

HistoryPoint History::point(std::size_t place, PortIndex port) const {
  if (place >= filled_) return {};
  const std::size_t row = row_of(place);
  if (port.raw() >= column_.size() || column_[port.raw()] == no_column) return {at_[row]};
  const Cell cell = cells_[row * width_ + column_[port.raw()]];
  return {at_[row], unpacked(cell.utilization), unpacked(cell.congestion)};
}

}  // namespace heddle::load
