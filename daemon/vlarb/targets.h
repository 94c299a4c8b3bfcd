/// What every port of a fabric is to be programmed with, and which ports get less than the plan has. Ports
/// that are alike share one image. Pure: a survey in, values out.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "mad/survey.h"
#include "qos/fit.h"
#include "vlarb/image.h"
#include "vlarb/port_filter.h"

namespace heddle::vlarb {

/// A plan and the ports that it is for.
struct Assignment {
  std::string name;  ///< of the plan, for people
  PortFilter ports;
  qos::Programming programming;
};

struct Target {
  LinkEnd end;
  std::uint32_t image = 0;
  bool maps = true;  ///< has SL2VL to write
};

/// Ports of one kind, or of many rare ones, that get less than their plan has, or nothing.
struct Shortfall {
  qos::PortCapability port;
  std::string plan;
  std::string reason;                   ///< a sentence
  std::vector<qos::FittedLane> losses;  ///< by VL of the plan
  std::vector<PortRef> ports;
};

struct Targets {
  std::vector<Image> images;
  std::vector<qos::Programming> programmings;  ///< that the images were made from
  std::vector<Target> ports;  ///< in an order in which neighbours in the list are not on one node
  std::vector<Shortfall> shortfalls;
};

using NameOf = std::function<std::string(const Node&)>;
/// Whether a port is looked at at all; none: all are.
using Only = std::function<bool(LinkEnd)>;

/// Ports: cabled, up and known; of switches, those but port 0. A port has the tables of the last assignment
/// that names it.
[[nodiscard]] Targets targets_of(const Survey& survey, const std::vector<Assignment>& assignments,
                                 const NameOf& name_of, const Only& only = {});

}  // namespace heddle::vlarb
