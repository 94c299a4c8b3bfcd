// Dumps of forwarding tables, as OpenSM writes them: read, put onto a fabric, written and read again.

#include "fabric/generators.h"
#include "fuzz/fuzz_target.h"
#include "routing/lft_dump.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  const auto dump = routing::parse_lft_dump(fuzz::text(data, size), "input");
  if (!dump) {
    fuzz::require(dump.error().message.starts_with("input"), "an error names its file");
    return 0;
  }
  static const auto fabric = *assign_lids(**generate("tree:k=2,n=2"));
  static const auto graph = *routing::SwitchGraph::make(*fabric);
  (void)routing::with_lids_of(*dump, *fabric);
  const auto tables = routing::tables_of(*dump, *fabric, graph);
  if (!tables) return 0;
  const auto again = routing::parse_lft_dump(routing::write_lft_dump(*fabric, graph, *tables), "again");
  fuzz::require(again.has_value(), "what is written can be read");
  return 0;
}
