// What scripts ask of a served fabric (`heddle sim`): any JSON is answered or refused with a sentence, with
// traffic and without, and an answer is JSON that whoever asks can read: it has no infinite number.
//
// The input: a command a line; a number is a time that passes, in seconds.

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cmath>

#include "fabric/generators.h"
#include "fuzz/fuzz_target.h"
#include "sim/bring_up.h"
#include "sim/flow/fabric_view.h"
#include "sim/flow/flow_plane.h"
#include "simserve/commands.h"

namespace {

using namespace heddle;
using fuzz::require;

constexpr std::size_t most_commands = 100;
constexpr Picoseconds longest{300'000'000'000};

/// As `heddle sim serve` has it, with a clock of its own.
class Served {
 public:
  explicit Served(const std::shared_ptr<const Fabric>& described) : fabric_{described} {
    sim::bring_up(fabric_);
    fabric_.set_counter_source(&plane_);
    fabric_.set_change_listener(&plane_);
    plane_.set_schedule(&player_);
  }
  ~Served() {
    fabric_.set_change_listener(nullptr);
    fabric_.set_counter_source(nullptr);
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

  [[nodiscard]] Picoseconds now() const { return now_; }
  void pass(Picoseconds time) {
    now_ += time;
    for (auto next = plane_.next_event(); next && *next <= now_; next = plane_.next_event()) {
      fabric_.advance(std::max(*next, fabric_.now()));
      plane_.advance(*next);
    }
    fabric_.advance(now_);
  }
  Result<boost::json::object> run(const boost::json::object& request) { return commands_.run(request, now_); }
  Result<boost::json::object> run_without_traffic(const boost::json::object& request) {
    return simserve::Commands{fabric_, {}}.run(request, now_);
  }

 private:
  sim::SimulatedFabric fabric_;
  sim::FabricView view_{fabric_};
  sim::FlowPlane plane_{view_};
  sim::ScenarioPlayer player_{fabric_.description()};
  simserve::Commands commands_{fabric_, {&plane_, &player_}};
  Picoseconds now_{0};
};

bool all_finite(const boost::json::value& value) {
  if (value.is_double()) return std::isfinite(value.get_double());
  if (value.is_array()) return std::ranges::all_of(value.get_array(), all_finite);
  if (!value.is_object()) return true;
  return std::ranges::all_of(value.get_object(),
                             [](const auto& member) { return all_finite(member.value()); });
}

void judge(const Result<boost::json::object>& said) {
  if (!said) {
    require(!said.error().message.empty(), "a refusal says why");
    return;
  }
  require(all_finite(*said), "an answer has no infinite number");
  boost::system::error_code wrong;
  (void)boost::json::parse(boost::json::serialize(*said), wrong);
  require(!wrong, "an answer can be read");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto fabric = *assign_lids(**generate("tree:k=2,n=2"));
  Served served{fabric};
  const auto text = fuzz::text(data, size);
  std::size_t commands = 0;
  for (std::size_t from = 0; from < text.size() && commands < most_commands;) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    boost::system::error_code wrong;
    const auto value = boost::json::parse(text.substr(from, end - from), wrong);
    from = end + 1;
    if (wrong) continue;
    if (value.is_number()) {
      const double seconds = std::clamp(value.to_number<double>(), 0.0, 1.0);
      const auto time = std::chrono::duration_cast<Picoseconds>(std::chrono::duration<double>{seconds});
      served.pass(std::min(time, longest - std::min(longest, served.now())));
    }
    if (!value.is_object()) continue;
    ++commands;
    judge(served.run(value.get_object()));
    served.pass(Picoseconds{1'000'000'000});
  }
  const auto alive = [](const Result<boost::json::object>& said) { return said.has_value(); };
  require(alive(served.run({{"command", "status"}})), "the fabric is there after all of it");
  require(alive(served.run({{"command", "traffic"}, {"action", "list"}})), "and so is its traffic");
  require(!alive(served.run_without_traffic({{"command", "traffic"}, {"action", "list"}})),
          "without a data plane there is no traffic");
  return 0;
}
