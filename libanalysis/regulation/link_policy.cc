#include "regulation/link_policy.h"

#include "fabric/links.h"

namespace heddle::regulation {
namespace {

Exempt by_nature(const Fabric& fabric, const Link& link, const PolicyOptions& options) {
  const Node& a = fabric.node(link.a.node);
  const Node& b = fabric.node(link.b.node);
  if (a.aggregation || b.aggregation) return Exempt::Aggregation;
  if (a.type != NodeType::Switch || b.type != NodeType::Switch) return Exempt::HostLink;
  if (link.a.node == link.b.node) return Exempt::Loop;
  const bool one_chassis = a.system_image_guid != 0 && a.system_image_guid == b.system_image_guid;
  if (one_chassis && options.chassis == Chassis::Keep) return Exempt::Internal;
  return Exempt::No;
}

Exempt exempt_for(Trouble trouble) {
  switch (trouble) {
    case Trouble::Flapping:
      return Exempt::Flapping;
    case Trouble::Errors:
      return Exempt::Errors;
    case Trouble::SlowWake:
      return Exempt::SlowWake;
  }
  return Exempt::Errors;
}

}  // namespace

std::vector<Exempt> exemptions(const Fabric& fabric, const PolicyOptions& options, const Overrides& overrides,
                               const Troubles& troubles) {
  std::vector<Exempt> result;
  result.reserve(fabric.links().size());
  for (const Link& link : fabric.links()) result.push_back(by_nature(fabric, link, options));
  const auto mark = [&](const LinkRef& ref, Exempt why) {
    const LinkIndex link = find_link(fabric, ref);
    if (link != no_link && result[link.raw()] == Exempt::No) result[link.raw()] = why;
  };
  for (const LinkRef& ref : options.pinned) mark(ref, Exempt::Pinned);
  for (const auto& [ref, override] : overrides) {
    if (override.wish == Wish::On || override.wish == Wish::Pin) mark(ref, Exempt::KeptOn);
  }
  for (const auto& [ref, trouble] : troubles) mark(ref, exempt_for(trouble.trouble));
  return result;
}

}  // namespace heddle::regulation
