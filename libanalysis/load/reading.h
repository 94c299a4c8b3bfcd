/// What one answer of a port's PMA said, and when.
#pragma once

#include "base/units.h"
#include "load/counter.h"

namespace heddle::load {

struct Reading {
  Instant at{};
  Width width = Width::Wide;
  CounterMask present = 0;  ///< the other values mean nothing
  CounterValues value{};
};

}  // namespace heddle::load
