/// What authorities, and those who act for them, need of the daemon around them. The io_context thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/units.h"
#include "mad/survey.h"

namespace heddle::regulate {

/// What an actuator needs.
class FabricSeat {
 public:
  /// The fabric as it was configured last; null before that.
  [[nodiscard]] virtual std::shared_ptr<const Survey> survey() const = 0;
  /// From here on everybody works with this one, which is survey() with other directed routes; discovery
  /// takes the routes, and keeps what it has found since.
  virtual void take_routes(std::shared_ptr<const Survey> survey) = 0;
  /// Something has changed at these nodes.
  virtual void look_at(const std::vector<NodeGuid>& nodes, Instant now) = 0;

 protected:
  ~FabricSeat() = default;
};

}  // namespace heddle::regulate

namespace heddle::authority {

/// Whether light sweeps clear the change bits of ports that they have seen: only the fabric's one subnet
/// manager may.
enum class ChangeBits : std::uint8_t { Leave, Clear };

/// What the authority itself needs.
class Seat : public regulate::FabricSeat {
 public:
  /// From here on everybody works with this one, discovery included, of the same fabric with other directed
  /// routes or states.
  virtual void adopt(std::shared_ptr<const Survey> survey) = 0;
  /// From here on everybody works with this survey, which a sweep has found; discovery has its own.
  virtual void use(std::shared_ptr<const Survey> survey) = 0;
  /// What a sweep has found could not be configured: for those who look on. survey() stays what it is, since
  /// what was configured before may be there still.
  virtual void show(std::shared_ptr<const Survey> survey) = 0;
  /// No sweep begins before release(): the fabric is being configured.
  virtual void hold() = 0;
  virtual void release(Instant now) = 0;
  /// The whole fabric is swept, and what is found told, as at the start.
  virtual void begin_anew(Instant now) = 0;
  virtual void set_change_bits(ChangeBits bits) = 0;

 protected:
  ~Seat() = default;
};

}  // namespace heddle::authority
