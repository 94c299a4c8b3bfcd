// Topology files: whatever can be read can be written and read again, without warnings that it had not
// before.

#include "fabric/ibnetdiscover.h"
#include "fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  const auto include = [](const std::string&) {
    return Result<std::string>{"Ca 1 \"included\"\n[1] \"sw\"[1]\n"};
  };
  const auto parsed = parse_topology(fuzz::text(data, size), "input", {include, Losses::Keep});
  if (!parsed) {
    fuzz::require(!parsed.error().message.empty(), "an error says what is wrong");
    return 0;
  }
  const std::string written = write_ibnetdiscover(*parsed->fabric);
  const auto again = parse_ibnetdiscover(written, "written");
  fuzz::require(again.has_value(), "what is written can be read, and loses nothing");
  fuzz::require(again->fabric->nodes().size() == parsed->fabric->nodes().size(), "all nodes come back");
  fuzz::require(again->fabric->links().size() == parsed->fabric->links().size(), "all links come back");
  fuzz::require(write_ibnetdiscover(*again->fabric) == written, "what is read is what was written");
  return 0;
}
