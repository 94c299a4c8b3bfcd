/// Sums, means and peaks of one sweep, per node and over the fabric.
#pragma once

#include <vector>

#include "fabric/fabric.h"
#include "load/sample.h"

namespace heddle::load {

/// `nodes` has one entry per node of the fabric.
void sum_up(const Fabric& fabric, const std::vector<PortSample>& ports, std::vector<Figures>& nodes,
            FabricFigures& total);

}  // namespace heddle::load
