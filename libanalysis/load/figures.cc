#include "load/figures.h"

#include <algorithm>

namespace heddle::load {
namespace {

/// Of figures that may be unknown.
class Spread {
 public:
  void add(float value) {
    if (!is_known(value)) return;
    sum_ += value;
    most_ = count_++ == 0 ? value : std::max(most_, value);
  }
  void add(const Spread& other) {
    if (other.count_ == 0) return;
    most_ = count_ == 0 ? other.most_ : std::max(most_, other.most_);
    sum_ += other.sum_;
    count_ += other.count_;
  }
  [[nodiscard]] float mean() const { return count_ == 0 ? unknown : static_cast<float>(sum_ / count_); }
  [[nodiscard]] float most() const { return most_; }
  [[nodiscard]] std::uint32_t count() const { return count_; }

 private:
  double sum_ = 0;
  float most_ = unknown;
  std::uint32_t count_ = 0;
};

struct Tally {
  double xmit = 0;
  double rcv = 0;
  std::uint32_t cabled = 0;
  Spread utilization;
  Spread congestion;

  void add(const Tally& other) {
    xmit += other.xmit;
    rcv += other.rcv;
    cabled += other.cabled;
    utilization.add(other.utilization);
    congestion.add(other.congestion);
  }
  [[nodiscard]] Figures figures() const {
    return {.xmit_bytes_per_second = xmit,
            .rcv_bytes_per_second = rcv,
            .cabled = cabled,
            .unmeasured = cabled - utilization.count(),
            .utilization_mean = utilization.mean(),
            .utilization_max = utilization.most(),
            .congestion_mean = congestion.mean(),
            .congestion_max = congestion.most()};
  }
};

}  // namespace

void sum_up(const Fabric& fabric, const std::vector<PortSample>& ports, std::vector<Figures>& nodes,
            FabricFigures& total) {
  Tally all;
  total = {};
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const Node& node = fabric.nodes()[n];
    Tally tally;
    for (std::uint32_t i = node.first_port.raw() + 1; i <= node.first_port.raw() + node.port_count; ++i) {
      if (fabric.ports()[i].link == no_link) continue;
      ++tally.cabled;
      const float xmit = leaving(fabric, ports, PortIndex{i});
      const float rcv = entering(fabric, ports, PortIndex{i});
      if (is_known(xmit)) tally.xmit += xmit;
      if (is_known(rcv)) tally.rcv += rcv;
      tally.utilization.add(ports[i].utilization);
      tally.congestion.add(ports[i].congestion);
    }
    nodes[n] = tally.figures();
    all.add(tally);
    if (node.type != NodeType::ChannelAdapter) continue;
    (node.aggregation ? total.aggregation_out : total.injected) += tally.xmit;
    (node.aggregation ? total.aggregation_in : total.delivered) += tally.rcv;
  }
  total.links = all.figures();
}

}  // namespace heddle::load
