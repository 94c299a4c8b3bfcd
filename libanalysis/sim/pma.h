/// The performance management agents of all nodes (IBA chapter 16): counters, samples, per-VL and detail
/// attributes. A request is turned into its answer in place.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "mad/counters.h"
#include "mad/header.h"
#include "sim/counters.h"
#include "sim/model.h"
#include "sim/schedule.h"

namespace heddle::sim {

class Pma {
 public:
  Pma(Model& model, Counters& counters, Schedule& schedule)
      : model_{model}, counters_{counters}, schedule_{schedule} {}

  /// `at` is the port of a channel adapter or port 0 of a switch. `qp` is what the request was sent to: an
  /// agent that redirects answers with its ClassPortInfo at QP1. The status to answer with.
  [[nodiscard]] std::uint16_t answer(const mad::Header& request, PortIndex at, std::uint32_t qp,
                                     mad::Bytes& mad, Picoseconds now);

  void sample_started(PortIndex port, std::uint32_t epoch, Picoseconds now);
  void sample_ended(PortIndex port, std::uint32_t epoch, Picoseconds now);

 private:
  struct Sampling {
    mad::PortSamplesControl control;
    mad::PortSamplesResult result;
    PortTotals start;
    std::uint32_t epoch = 0;
  };

  /// The ports that the request means: one, or all of a switch. Empty where there are none such.
  struct Selection {
    PortIndex first = no_port;
    unsigned count = 0;
  };
  [[nodiscard]] Selection select(const NodeState& node, PortIndex at, PortNum wanted) const;

  [[nodiscard]] std::uint16_t class_port_info(const NodeState& node, mad::Bytes& mad) const;
  [[nodiscard]] std::uint16_t port_counters(mad::Method method, const NodeState& node, PortIndex at,
                                            mad::Bytes& mad, Picoseconds now);
  [[nodiscard]] std::uint16_t extended_counters(mad::Method method, const NodeState& node, PortIndex at,
                                                mad::Bytes& mad, Picoseconds now);
  [[nodiscard]] std::uint16_t extended_speeds(mad::Method method, const NodeState& node, PortIndex at,
                                              mad::Bytes& mad, Picoseconds now);
  [[nodiscard]] std::uint16_t per_vl(const mad::Header& request, const NodeState& node, PortIndex at,
                                     mad::Bytes& mad, Picoseconds now);
  [[nodiscard]] std::uint16_t details(const mad::Header& request, const NodeState& node, PortIndex at,
                                      mad::Bytes& mad, Picoseconds now);
  [[nodiscard]] std::uint16_t samples_control(mad::Method method, const NodeState& node, PortIndex at,
                                              mad::Bytes& mad, Picoseconds now);
  [[nodiscard]] std::uint16_t samples_result(const NodeState& node, PortIndex at, mad::Bytes& mad);

  Model& model_;
  Counters& counters_;
  Schedule& schedule_;
  std::unordered_map<PortIndex, Sampling> samples_;
  std::unordered_map<PortIndex, VlTotals> vl_bases_;
  std::unordered_map<PortIndex, PortIndex> last_sampled_;  ///< by the agent's port: what the result is of
};

}  // namespace heddle::sim
