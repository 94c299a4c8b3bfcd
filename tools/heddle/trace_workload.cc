#include "heddle/trace_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "trace/replay.h"

namespace heddle::cli {
namespace {

using packet::Cycle;
using packet::PacketSim;

constexpr std::uint64_t most_flits = 1U << 30U;

Result<std::vector<std::uint32_t>> map_tasks(const packet::ExperimentTrace& of, std::uint32_t tasks,
                                             std::uint32_t ports) {
  if (of.mapping == "round-robin") return trace::round_robin(tasks, ports);
  if (of.mapping == "block") return trace::in_blocks(tasks, ports);
  std::ifstream in{of.mapping};
  if (!in) {
    return fail(ErrorCode::Io,
                fmt::format("trace {}: mapping \"{}\" is neither \"round-robin\" nor \"block\" nor a "
                            "file that can be read",
                            of.file, of.mapping));
  }
  return trace::read_mapping(in, of.mapping, tasks, ports);
}

class TraceWorkload : public packet::Workload, public packet::DeliveryListener {
 public:
  explicit TraceWorkload(PacketSim& sim) : sim_{sim} { sim_.listen(this); }

  Result<void> add(const packet::ExperimentTrace& what) {
    auto read = trace::read_vef_file(what.file);
    if (!read) return fail(read.error());
    auto mapping = map_tasks(what, read->tasks, sim_.host_count());
    if (!mapping) return fail(mapping.error());
    const auto flit_bytes = static_cast<std::uint64_t>(sim_.network().plane.flit_bytes);
    for (const trace::Message& message : read->messages) {
      if (message.bytes / flit_bytes > most_flits) {
        return fail(ErrorCode::Unsupported, fmt::format("{}: message {} has {} bytes, more than {} flits",
                                                        what.file, message.id, message.bytes, most_flits));
      }
    }
    trace::ReplayOptions options;
    options.port_of_task = *mapping;
    options.start = what.start;
    options.local_ticks = what.local_ticks;
    const std::int64_t clock = read->clock_ps;
    running_.push_back(
        {trace::Replay{std::move(*read), std::move(options)}, *mapping, clock, what.sl, what.file});
    return {};
  }

  void feed(Cycle until) override {
    until_ = until;
    for (std::uint32_t i = 0; i < running_.size(); ++i) feed_one(i);
  }

  void delivered(const packet::Delivery& delivery) override {
    if (delivery.tag == 0) return;  // background
    const InNetwork message = in_network_[delivery.tag - 1];
    free_.push_back(delivery.tag - 1);
    Running& of = running_[message.trace];
    of.replay.received(message.handle, ticks(of, delivery.at));
    feed_one(message.trace);
  }

  [[nodiscard]] std::string report() const override {
    std::string text = "[";
    for (const Running& of : running_) {
      const trace::ReplaySummary& s = of.replay.summary();
      text += fmt::format(
          R"({}{{"trace":{},"finished":{},"stuck":{},"finish_ns":{:.3f},"messages":{},"local":{},"bytes":{},)"
          R"("latency_ns":{:.3f},"latency_max_ns":{:.3f}}})",
          text.size() > 1 ? "," : "", &of - running_.data(), of.replay.finished(), of.replay.stuck(),
          ns(of, s.finish), s.messages, s.local_messages, s.bytes,
          s.mean_latency() * static_cast<double>(of.clock_ps) / 1000, ns(of, s.latency_max));
    }
    return text + "]";
  }

 private:
  struct Running {
    trace::Replay replay;
    std::vector<std::uint32_t> port_of_task;
    std::int64_t clock_ps;
    std::uint8_t sl;
    std::string file;
  };
  struct InNetwork {
    std::uint32_t trace = 0;
    std::uint64_t handle = 0;
  };
  __extension__ using Wide = __int128;

  static double ns(const Running& of, trace::Tick ticks) {
    return static_cast<double>(ticks) * static_cast<double>(of.clock_ps) / 1000;
  }
  [[nodiscard]] std::int64_t cycle_ps() const { return sim_.network().plane.cycle.count(); }
  // What happens between two ticks or cycles counts as the later one.
  [[nodiscard]] trace::Tick ticks(const Running& of, Cycle cycle) const {
    return static_cast<trace::Tick>((Wide{cycle} * cycle_ps() + of.clock_ps - 1) / of.clock_ps);
  }
  [[nodiscard]] Cycle cycles(const Running& of, trace::Tick tick) const {
    return static_cast<Cycle>((static_cast<Wide>(tick) * of.clock_ps + cycle_ps() - 1) / cycle_ps());
  }

  void feed_one(std::uint32_t number) {
    Running& of = running_[number];
    out_.clear();
    of.replay.take(static_cast<trace::Tick>(Wide{until_} * cycle_ps() / of.clock_ps), out_);
    for (const trace::Outgoing& message : out_) {
      std::uint64_t slot = in_network_.size();
      if (free_.empty()) {
        in_network_.emplace_back();
      } else {
        slot = free_.back();
        free_.pop_back();
      }
      in_network_[slot] = {number, message.handle};
      const auto flit_bytes = static_cast<std::uint64_t>(sim_.network().plane.flit_bytes);
      packet::Send send;
      send.source = of.port_of_task[message.source];
      send.target = of.port_of_task[message.target];
      send.flits = static_cast<std::int32_t>(
          std::max<std::uint64_t>(1, (message.bytes + flit_bytes - 1) / flit_bytes));
      send.sl = of.sl;
      send.salt = static_cast<std::uint32_t>(message.handle * 0x9e3779b97f4a7c15ULL >> 32U);
      send.tag = slot + 1;
      sim_.send(send, std::max(sim_.now(), cycles(of, message.at)));
    }
  }

  PacketSim& sim_;
  std::vector<Running> running_;
  std::vector<InNetwork> in_network_;
  std::vector<std::uint64_t> free_;
  std::vector<trace::Outgoing> out_;
  Cycle until_ = 0;
};

}  // namespace

packet::MakeWorkload trace_workloads() {
  return
      [](const packet::Experiment& experiment, PacketSim& sim) -> Result<std::unique_ptr<packet::Workload>> {
        auto made = std::make_unique<TraceWorkload>(sim);
        for (const packet::ExperimentTrace& what : experiment.traces) {
          if (auto ok = made->add(what); !ok) return fail(ok.error());
        }
        return std::unique_ptr<packet::Workload>{std::move(made)};
      };
}

}  // namespace heddle::cli
