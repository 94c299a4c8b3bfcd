/// What the views of links and nodes are put together from. For the .cc files of control/.
#pragma once

#include <boost/json/object.hpp>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "control/state.h"
#include "control/views.h"

namespace heddle::control {

/// A figure, or null for one that nobody knows.
[[nodiscard]] boost::json::value number(double figure);
[[nodiscard]] inline boost::json::value number(std::optional<double> figure) {
  return figure ? boost::json::value(*figure) : boost::json::value(nullptr);
}
[[nodiscard]] inline double gbits(BitRate rate) { return rate.value() / 1e9; }
[[nodiscard]] Error no_fabric();

/// Null where the query has it not.
[[nodiscard]] const std::string* find(const Query& query, const std::string& key);
[[nodiscard]] Result<std::size_t> count_of(const Query& query, const std::string& key, std::size_t otherwise);
[[nodiscard]] Result<double> real_of(const Query& query, const std::string& key, double otherwise);

/// The sample's figures of a port, if the sample is of this snapshot or knows the port from another one.
[[nodiscard]] const load::PortSample* sample_of(const DaemonState& state, LinkEnd end);
[[nodiscard]] std::uint64_t errors_of(const load::PortSample& sample);

[[nodiscard]] std::string_view type_name(const Node& node);
/// "leaf-1/17".
[[nodiscard]] std::string end_name(const DaemonState& state, LinkEnd end);
[[nodiscard]] std::string link_name(const DaemonState& state, const Link& link);
[[nodiscard]] boost::json::object end_view(const DaemonState& state, LinkEnd end);
[[nodiscard]] boost::json::object direction_view(const load::PortSample* sample);

/// "plane" and "planes", for a link that is one of several in a cable.
void add_plane(const DaemonState& state, LinkIndex link, boost::json::object& view);

/// Bit error rates of the state's ports, by PortIndex of its fabric. As long as the state.
class BitErrorsByPort {
 public:
  explicit BitErrorsByPort(const DaemonState& state);
  /// Null where nothing is known.
  [[nodiscard]] const health::PortBitErrors* of(PortIndex port) const { return of_[port.raw()]; }

 private:
  std::vector<const health::PortBitErrors*> of_;
};
/// Of one port: quicker than to make BitErrorsByPort for it.
[[nodiscard]] const health::PortBitErrors* bit_errors_of(const DaemonState& state, LinkEnd end);

/// A link with what it is sorted by. Null: not known.
struct Row {
  const Link* link;
  std::string name;
  const load::PortSample* a;
  const load::PortSample* b;
  const health::PortBitErrors* bits_a;  ///< of what comes in at a
  const health::PortBitErrors* bits_b;
};
[[nodiscard]] Row row_of(const DaemonState& state, const Link& link, const BitErrorsByPort& bits);
[[nodiscard]] boost::json::object row_view(const DaemonState& state, const Row& row);

[[nodiscard]] boost::json::object node_summary(const DaemonState& state, NodeIndex index);

}  // namespace heddle::control
