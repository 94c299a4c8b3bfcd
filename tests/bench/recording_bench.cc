// What the core costs a sweep of all ports, and what recording it costs, beside the sampler alone
// (sampling_bench): a fat tree of 8,400 hosts, two MADs a port, the simulated fabric in the same process.
//
//   recording_bench [GENERATOR]      all figures are CPU time of one core

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "authority/observer/observer.h"
#include "bench/cpu_seconds.h"
#include "core/fabric_core.h"
#include "fabric/generators.h"
#include "record/recorder.h"
#include "sim/bring_up.h"
#include "support/desks.h"
#include "support/sim_world.h"

namespace heddle {
namespace {

enum class What : std::uint8_t { Sampler, Core, Recorded };

core::CoreOptions options() {
  core::CoreOptions options;
  options.settings.sampling = std::chrono::seconds{1};
  options.settings.light_sweep = options.settings.heavy_sweep = std::chrono::hours{24};
  options.sampler.history = 1;
  return options;
}

/// A port of the fabric, and whoever is behind it.
class Seat final : public transport::Transport, private core::Outside {
 public:
  Seat(const std::shared_ptr<const Fabric>& fabric, What what)
      : sim_{fabric, sim_options()},
        recorder_{what == What::Recorded ? std::make_unique<record::Recorder>(*this, sink(), ~0ULL)
                                         : nullptr} {
    sim::bring_up(sim_.fabric);
    client_ = *sim_.fabric.attach(sim_.port(), [this](const mad::Packet& packet, Picoseconds at) {
      const Instant now = test::SimWorld::instant(at);
      engine_ ? engine_->on_packet(packet, now) : on(core::Arrived{packet, now});
    });
    if (what == What::Sampler) {
      engine_.emplace(*this, transport::EngineOptions{});
      sampling::SamplerOptions alone = options().sampler;
      alone.interval = {};
      sampler_.emplace(*engine_, alone, [this](const auto&) { ++sweeps_; });
      sampler_->use(fabric);
      return;
    }
    transport::Transport& way = recorder_ ? static_cast<transport::Transport&>(*recorder_) : *this;
    core_ = std::make_unique<core::FabricCore>(
        core::Around{.transport = way, .plans = plans_, .desk = test::at_once(), .outside = *this},
        options());
    core_->use(std::make_unique<authority::Observer>(core_->seat(), "a benchmark", "a benchmark"));
    if (recorder_) recorder_->open({});
    if (recorder_) recorder_->made(sim_.now);
    on(core::Began{});
  }

  /// Until this many sweeps have ended.
  void sweep(std::uint64_t number) {
    for (const std::uint64_t end = sweeps_ + number; sweeps_ < end;) {
      std::optional<Instant> next = deadline();
      if (const auto event = sim_.fabric.next_event()) {
        const Instant at = test::SimWorld::instant(*event + Picoseconds{999});
        if (!next || at < *next) next = at;
      }
      sim_.now = std::max(sim_.now, *next);
      sim_.fabric.advance(sim_.ps());
      if (const auto due = deadline(); due && *due <= sim_.now) ring();
    }
  }
  [[nodiscard]] std::uint64_t recorded() const { return bytes_; }

  void receive_with(Receiver /*receiver*/) override {}
  Result<void> send(const mad::Packet& packet) override {
    sim_.fabric.send(sim_.ps(), client_, packet);
    return {};
  }
  [[nodiscard]] transport::LocalPort local() const override { return sim_.local(); }
  Result<void> claim_sm(transport::SmClaim) override { return {}; }

 private:
  static sim::Options sim_options() {
    sim::Options options;
    options.traits.extended_errors = false;
    return options;
  }
  record::Recorder::Sink sink() {
    return [this](std::string_view more) {
      batch_.append(more);
      bytes_ += more.size();
      // As a file's thread takes it away.
      if (batch_.size() > 4'000'000) batch_.clear();
      return true;
    };
  }
  [[nodiscard]] std::optional<Instant> deadline() const {
    if (core_) return core_->next_deadline();
    const auto mine = engine_->next_deadline();
    return mine && *mine < next_sweep_ ? mine : next_sweep_;
  }
  void ring() {
    if (core_) return on(core::TimersDue{});
    if (const auto due = engine_->next_deadline(); due && *due <= sim_.now) engine_->on_timer(sim_.now);
    if (next_sweep_ > sim_.now) return;
    next_sweep_ += std::chrono::seconds{1};
    static_cast<void>(sampler_->begin_sweep(sim_.now));
  }
  void on(const core::Event& event) {
    if (recorder_) recorder_->begin(event, sim_.now);
    core_->on(event, sim_.now);
    if (recorder_) recorder_->finish();
  }
  void say(core::Severity severity, const std::string& text) override {
    if (recorder_) recorder_->said(severity, text);
  }
  void on_sample(const std::shared_ptr<const load::Sample>& /*sample*/) override { ++sweeps_; }

  test::SimWorld sim_;
  sim::ClientId client_{0};
  std::string batch_;
  std::uint64_t bytes_ = 0;
  std::unique_ptr<record::Recorder> recorder_;
  opensm::PlanStore plans_{
      "",
      test::at_once(),
      {[](const std::string&) -> Result<plan::Plan> { return fail(ErrorCode::NotFound, "no plan"); },
       [](const std::string&, const plan::Plan&) { return Result<void>{}; }}};
  std::unique_ptr<core::FabricCore> core_;
  std::optional<transport::TransactionEngine> engine_;
  std::optional<sampling::Sampler> sampler_;
  Instant next_sweep_{};
  std::uint64_t sweeps_ = 0;
};

int run(const std::string& spec) {
  const auto generated = generate(spec);
  if (!generated) {
    fmt::print(stderr, "{}\n", generated.error().message);
    return 2;
  }
  const auto fabric = *assign_lids(**generated);
  const auto ports = static_cast<double>(
      std::ranges::count_if(fabric->ports(), [](const Port& port) { return port.link != no_link; }));
  constexpr int rounds = 7;
  double alone = 0;
  for (const auto& [what, name] :
       {std::pair{What::Sampler, "the sampler alone"}, std::pair{What::Core, "the core"},
        std::pair{What::Recorded, "the core, recorded"}}) {
    Seat seat{fabric, what};
    seat.sweep(2);
    double best = 1e9;
    const std::uint64_t before = seat.recorded();
    for (int round = 0; round < rounds; ++round) {
      const double begin = cpu_seconds();
      seat.sweep(1);
      best = std::min(best, cpu_seconds() - begin);
    }
    if (alone == 0) alone = best;
    const double bytes = static_cast<double>(seat.recorded() - before) / rounds;
    fmt::print(
        "{:<20} {:8.1f} ms a sweep, {:9.0f} ports/s, {:5.2f} of the sampler alone, {:6.1f} MB a sweep\n",
        name, best * 1e3, ports / best, best / alone, bytes / 1e6);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace heddle

int main(int argc, char** argv) { return heddle::run(argc > 1 ? argv[1] : "fattree:hosts=8400,radix=40"); }
