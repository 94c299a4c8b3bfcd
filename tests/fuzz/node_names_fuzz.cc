// Node name maps: names are fit to print.

#include "base/printable.h"
#include "fabric/node_names.h"
#include "fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  const auto names = NodeNames::parse(fuzz::text(data, size), "input");
  if (!names) return 0;
  for (std::uint64_t guid = 0; guid < 16; ++guid) {
    Node node;
    node.guid = NodeGuid{guid};
    node.description = std::string{fuzz::text(data, size).substr(0, 64)};
    const std::string name = names->of(node);
    fuzz::require(!name.empty() && printable(name) == name, "a name is fit to print");
  }
  return 0;
}
