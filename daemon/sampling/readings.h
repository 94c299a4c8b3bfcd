/// From answers of a PMA to readings.
#pragma once

#include "base/units.h"
#include "load/reading.h"
#include "mad/counters.h"

namespace heddle::sampling {

/// Only the counters in `wanted` are present in the reading.
void read_extended(const mad::PortCountersExtended& answer, load::CounterMask wanted, Instant at,
                   load::Reading& reading);
void read_basic(const mad::PortCounters& answer, load::CounterMask wanted, Instant at,
                load::Reading& reading);

/// A Set of these traffic counters and XmitWait to zero, and of nothing else (IBA 16.1.3.5, CounterSelect).
[[nodiscard]] mad::PortCounters reset_of(PortNum port, load::CounterMask counters);

}  // namespace heddle::sampling
