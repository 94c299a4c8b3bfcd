/// What the nodes of a hostile fabric answer in place of the truth: four bytes of input each. For fuzz
/// targets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mad/header.h"
#include "mad/packet.h"

namespace heddle::fuzz {

struct Lied {
  mad::MgmtClass mgmt_class;  ///< SubnDirected: also by LID
  std::uint16_t attribute;
};
constexpr Lied sm(mad::SmAttr attribute) {
  return {mad::MgmtClass::SubnDirected, static_cast<std::uint16_t>(attribute)};
}
constexpr Lied pm(mad::PmAttr attribute) {
  return {mad::MgmtClass::Perf, static_cast<std::uint16_t>(attribute)};
}

struct Lie {
  Lied about;
  unsigned period = 1;    ///< every how many answers
  std::size_t place = 0;  ///< which byte of the attribute; from Place on what becomes of the whole
  std::uint8_t says = 0;  ///< what stands there
  unsigned met = 0;
};

/// Beyond what any attribute has.
enum Place : std::uint8_t {
  lost = 0xf0,
  refused = 0xf1,            ///< with what it says as status
  another_attribute = 0xf2,  ///< it answers what nobody asked
  counts = 0xf3,             ///< the byte that it says is another one each time
  twice = 0xf4,              ///< it comes again
};

enum class Fate : std::uint8_t { Arrives, Lost, ArrivesTwice };

/// Of an answer on its way.
inline Fate tell(std::vector<Lie>& lies, mad::Packet& packet) {
  mad::Header header = mad::read_header(packet.mad);
  const bool smp = mad::is_smp(header);
  const std::size_t room = smp ? mad::smp_data_size : mad::gmp_data_size;
  Fate fate = Fate::Arrives;
  for (Lie& lie : lies) {
    const bool about_smp = lie.about.mgmt_class == mad::MgmtClass::SubnDirected;
    if (smp != about_smp || (!smp && header.mgmt_class != lie.about.mgmt_class)) continue;
    if (header.attribute != lie.about.attribute || lie.met++ % lie.period != 0) continue;
    switch (lie.place) {
      case Place::lost:
        return Fate::Lost;
      case Place::twice:
        fate = Fate::ArrivesTwice;
        break;
      case Place::refused:
        header.status = static_cast<std::uint16_t>(lie.says << 2U);
        mad::write_header(header, packet.mad);
        break;
      case Place::another_attribute:
        ++header.attribute;
        mad::write_header(header, packet.mad);
        break;
      case Place::counts:
        packet.mad[mad::smp_data_offset + lie.says % room] = static_cast<std::uint8_t>(lie.met);
        break;
      default:
        packet.mad[mad::smp_data_offset + lie.place % room] = lie.says;
    }
  }
  return fate;
}

struct Step {
  std::uint8_t what = 0;
  std::uint8_t which = 0;
  std::uint8_t how = 0;
  std::uint8_t more = 0;
};

struct Plan {
  std::vector<Lie> lies;
  std::vector<Step> steps;
};

inline constexpr std::uint8_t first_step = 0xd0;
inline constexpr std::uint8_t first_behind_steps = 0xe0;

/// Four bytes each: a step where the first one is from first_step on, below first_behind_steps; else a lie
/// about what `about` makes of it. `longest` of each at most; without any step the first one there is.
template <class About>
Plan plan_of(const std::uint8_t* data, std::size_t size, std::size_t longest, About about) {
  Plan plan;
  for (; size >= 4; data += 4, size -= 4) {
    if (data[0] >= first_step && data[0] < first_behind_steps) {
      const auto what = static_cast<std::uint8_t>(data[0] - first_step);
      if (plan.steps.size() < longest) plan.steps.push_back({what, data[1], data[2], data[3]});
    } else if (plan.lies.size() < longest) {
      plan.lies.push_back(
          {.about = about(data[0]), .period = 1U + data[1] % 16U, .place = data[2], .says = data[3]});
    }
  }
  if (plan.steps.empty()) plan.steps.emplace_back();
  return plan;
}

}  // namespace heddle::fuzz
