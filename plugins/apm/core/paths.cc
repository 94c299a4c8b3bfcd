#include "core/paths.h"

namespace heddle::apm {

std::optional<unsigned> plane_of(const Path& path) {
  const unsigned there = plane_of(path.dlid);
  if (there != (path.source_bits & 1U)) return std::nullopt;
  return there;
}

Path in_plane(Path path, unsigned plane) {
  path.dlid = static_cast<std::uint16_t>((path.dlid & ~1U) | plane);
  path.source_bits = static_cast<std::uint8_t>((path.source_bits & ~1U) | plane);
  return path;
}

Next next_step(const Seen& seen, std::optional<unsigned> target) {
  const auto here = plane_of(seen.primary);
  // Where the directions are in different planes, both ends must choose the same one for the alternate path.
  const unsigned other = here ? 1 - *here : 1;
  const bool is_there = target ? here == target : here.has_value();
  switch (seen.state) {
    case Migration::Migrated:
      return {Step::Load, in_plane(seen.primary, other)};
    case Migration::Rearm:
      return {is_there ? Step::Rest : Step::Wait, {}};
    case Migration::Armed:
      return {is_there ? Step::Rest : Step::Migrate, {}};
  }
  return {};
}

}  // namespace heddle::apm
