/// What a report is about: gathered from heddled, which keeps the last minutes, and from Prometheus, which
/// keeps as long as it is told to.
#pragma once

#include <boost/json/value.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/result.h"
#include "heddle/client.h"

namespace heddle::cli {

inline constexpr double unknown_figure = std::numeric_limits<double>::quiet_NaN();

/// One direction of a link over the time of the report; ratios from 0 to 1.
struct DirectionFigures {
  double mean = unknown_figure;
  double most = unknown_figure;
  double wait = unknown_figure;  ///< largest
};

struct ReportLink {
  std::string name;   ///< "leaf-0/1 -- spine-1/2"
  std::string rate;   ///< "4xHDR"
  std::size_t a = 0;  ///< positions in ReportData::nodes
  std::size_t b = 0;
  std::string guid;  ///< of end a
  int port = 0;      ///< of end a
  DirectionFigures out;
  DirectionFigures in;
  long long errors = 0;
  [[nodiscard]] double mean() const { return std::fmax(out.mean, in.mean); }
};

struct ReportNode {
  std::string name;
  std::string guid;
  char type = 'c';  ///< s, c, a or r, as in GET /v1/page/topology
  double x = 0;     ///< where it is drawn, 0..1
  double y = 0;
};

struct Profile {
  std::string name;
  std::vector<double> at;  ///< seconds before the report was made, negative
  std::vector<double> out;
  std::vector<double> in;
};

struct ReportData {
  std::string made;    ///< date and time, UTC
  std::string source;  ///< where the figures over time are from, and of how long
  boost::json::value status;
  std::vector<ReportNode> nodes;
  std::vector<ReportLink> links;
  std::vector<Profile> profiles;  ///< of the busiest links
  boost::json::value locality;
  boost::json::value energy;      ///< null where the daemon does not regulate
  boost::json::value regulation;  ///< likewise
  boost::json::value events;      ///< likewise
};

/// `last` in seconds. `prometheus` is "http://host:port", or empty. Errors: of the client; Invalid for a URL
/// that is none; Unreachable when Prometheus is not there or has nothing of this fabric.
[[nodiscard]] Result<ReportData> gather_report(const Client& client, double last,
                                               const std::string& prometheus);

}  // namespace heddle::cli
