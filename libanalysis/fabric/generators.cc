#include "fabric/generators.h"

#include <fmt/format.h>

#include "fabric/sketch.h"

namespace heddle {

Result<std::shared_ptr<const Fabric>> generate(const GeneratorSpec& spec) {
  if (spec.switch_ports > sketch::max_switch_ports) {
    return fail(ErrorCode::Invalid,
                fmt::format("ports={}: {} is the most", spec.switch_ports, sketch::max_switch_ports));
  }
  return std::visit([&](const auto& shape) { return sketch::draw(spec, shape); }, spec.shape);
}

Result<std::shared_ptr<const Fabric>> generate(std::string_view text) {
  const auto spec = parse_generator_spec(text);
  if (!spec) return fail(spec.error());
  auto fabric = generate(*spec);
  if (!fabric) return fail(fmt::format("fabric \"{}\"", text), fabric.error());
  return fabric;
}

}  // namespace heddle
