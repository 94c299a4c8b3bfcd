/// The metrics of ports, switches and sets: their names, their help and how each line is written. Names and
/// labels of infiniband_* are those of the common infiniband_exporter, so that its dashboards and rules work.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "load/sample.h"
#include "metrics/departed.h"
#include "metrics/error_series.h"
#include "metrics/labels.h"
#include "metrics/selection.h"

namespace heddle::metrics {

/// What lines are written from. `labels` is of the sample's fabric.
struct Source {
  std::shared_ptr<const load::Sample> sample;
  std::shared_ptr<const Labels> labels;
  std::shared_ptr<const std::vector<DepartedPort>> departed;
  Selection selection{};
  std::shared_ptr<const ErrorSeries::Shown> errors{};  ///< none: all are shown
  std::string first_label{};  ///< of every line, with a comma after it: fabric="...",
};

struct Family {
  enum class Type : std::uint8_t { Counter, Gauge };
  enum class Of : std::uint8_t {
    Switches,  ///< `write` is called for each switch
    Hosts,     ///< for each node that is none
    Nodes,     ///< for each node
    Fabric,    ///< once, with no_node
  };
  using Write = void (*)(const Family& family, const Source& source, NodeIndex node, std::string& out);

  std::string_view name;
  std::string_view help;
  Type type = Type::Gauge;
  Of of = Of::Fabric;
  Write write = nullptr;
  load::Counter counter{};  ///< for families of one counter
};

/// In the order in which they are exported.
[[nodiscard]] std::span<const Family> families();

/// OpenMetrics calls a counter without its _total, and ends with an EOF.
void append_head(const Family& family, Format format, std::string& out);

}  // namespace heddle::metrics
