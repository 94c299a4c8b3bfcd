/// From counters of 64 bits to the fields of the attributes, with their widths and their saturation
/// (IBA 16.1.3.5, 16.1.4.11), and back from a Set.
#pragma once

#include "mad/counters.h"
#include "sim/counters.h"

namespace heddle::sim {

void add_saturating(PortTotals& sum, const PortTotals& value);
void add_saturating(Counters::Errors& sum, const Counters::Errors& value);

void show(const PortTotals& value, const Counters::Errors& errors, const NodeTraits& traits,
          mad::PortCounters& out);
/// Adds one port: 64-bit data counters wrap.
void add(const PortTotals& value, const Counters::Errors& errors, const NodeTraits& traits,
         mad::PortCountersExtended& out);

/// A Set gives the selected counters the values that it carries.
void write_selected(const mad::PortCounters& given, PortIndex port, Counters& counters, Picoseconds now);
void write_selected(const mad::PortCountersExtended& given, PortIndex port, Counters& counters,
                    Picoseconds now);

}  // namespace heddle::sim
