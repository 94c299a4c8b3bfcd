// What scripts ask of a served fabric (`heddle sim`): any JSON is answered or refused with a sentence.

#include <boost/json/parse.hpp>

#include "fabric/generators.h"
#include "fuzz/fuzz_target.h"
#include "sim/bring_up.h"
#include "simserve/commands.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  static const auto fabric = *assign_lids(**generate("tree:k=2,n=2"));
  sim::SimulatedFabric simulated{fabric};
  simserve::Commands commands{simulated, {}};
  const auto text = fuzz::text(data, size);
  Picoseconds now{};
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    boost::system::error_code wrong;
    const auto value = boost::json::parse(text.substr(from, end - from), wrong);
    from = end + 1;
    if (wrong || !value.is_object()) continue;
    const auto said = commands.run(value.as_object(), now);
    fuzz::require(said.has_value() || !said.error().message.empty(), "a refusal says why");
    now += Picoseconds{1'000'000'000};
    simulated.advance(now);
  }
  return 0;
}
