#include "load/locality.h"

namespace heddle::load {
namespace {

struct Flow {
  double out = 0;
  double in = 0;
};

float locality(double crossing, double all) {
  return all > 0 ? static_cast<float>(1 - crossing / all) : unknown;
}

double or_nothing(float rate) { return is_known(rate) ? rate : 0; }

}  // namespace

void LocalitySets::evaluate(const Fabric& fabric, const std::vector<PortSample>& ports,
                            std::vector<SetLocality>& result) const {
  result.resize(sets_.size());
  std::vector<Flow> traffic(sets_.size());
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    const Set& set = sets_[i];
    Flow& own = traffic[i];
    for (const PortIndex port : set.endpoints) {
      own.out += or_nothing(leaving(fabric, ports, port));
      own.in += or_nothing(entering(fabric, ports, port));
    }
    for (const std::uint32_t inner : set.contained) {
      own.out += traffic[inner].out;
      own.in += traffic[inner].in;
    }
    Flow crossing;
    for (const PortIndex port : set.borders) {
      crossing.out += or_nothing(leaving(fabric, ports, port));
      crossing.in += or_nothing(entering(fabric, ports, port));
    }
    result[i] = {.generated = locality(crossing.out, own.out),
                 .consumed = locality(crossing.in, own.in),
                 .total = locality(crossing.out + crossing.in, own.out + own.in)};
  }
}

}  // namespace heddle::load
