// Text forms of generators: the canonical form means the same. Small fabrics are made, too.

#include "fabric/generators.h"
#include "fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  const std::string_view text = fuzz::text(data, size);
  const auto spec = parse_generator_spec(text);
  if (!spec) return 0;
  const std::string canonical = to_string(*spec);
  const auto again = parse_generator_spec(canonical);
  fuzz::require(again.has_value(), "the canonical form can be read");
  fuzz::require(to_string(*again) == canonical, "the canonical form is stable");
  const auto fabric = generate(*spec);
  fuzz::require(fabric.has_value() || !fabric.error().message.empty(), "an error says what is wrong");
  return 0;
}
