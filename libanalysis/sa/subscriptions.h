/// Who wants to hear of which notices (IBA 13.4.8.3, InformInfo). Bounded for each port. One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "mad/attributes.h"
#include "sa/wire.h"

namespace heddle::sa {

struct Subscriber {
  mad::Address at;  ///< as a request came: answers and reports go there
  friend bool operator==(const Subscriber& a, const Subscriber& b) {
    return a.at.slid == b.at.slid && a.at.sqp == b.at.sqp;
  }
};

class Subscriptions {
 public:
  explicit Subscriptions(std::size_t per_port) : per_port_{per_port} {}

  /// A status: no_resources beyond the bound, request_invalid for what was never asked for. The same twice
  /// counts once.
  std::uint16_t set(const Subscriber& who, const InformInfo& info);
  /// Each who wants this notice, once.
  [[nodiscard]] std::vector<Subscriber> of(const mad::Notice& notice) const;
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  /// It does not answer any more.
  void forget(const Subscriber& who);

 private:
  struct Entry {
    Subscriber who;
    InformInfo info;
  };
  std::size_t per_port_;
  std::vector<Entry> entries_;
};

}  // namespace heddle::sa
