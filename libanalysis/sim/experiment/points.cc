#include "sim/experiment/points.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <utility>

#include "base/text.h"

namespace heddle::packet {
namespace {

class PointWriter {
 public:
  void number(std::uint64_t value) { append_to(text_, "{:x} ", value); }
  void real(double value) { number(std::bit_cast<std::uint64_t>(value)); }

  void histogram(const Histogram& of) {
    number(of.count());
    number(of.sum());
    number(static_cast<std::uint64_t>(of.max()));
    number(of.buckets().size());
    for (const std::uint64_t bucket : of.buckets()) number(bucket);
  }
  void flow(const Flow& of) {
    for (const std::uint64_t value : {of.messages, of.packets, of.flits, of.generated_flits}) number(value);
    histogram(of.end_to_end);
    histogram(of.network);
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

class PointReader {
 public:
  explicit PointReader(std::string_view text) : rest_{text} {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    const auto read = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, 16);
    const auto length = static_cast<std::size_t>(read.ptr - rest_.data());
    if (read.ec != std::errc{} || length >= rest_.size() || rest_[length] != ' ') {
      whole_ = false;
      return 0;
    }
    rest_.remove_prefix(length + 1);
    return value;
  }
  double real() { return std::bit_cast<double>(number()); }

  Histogram histogram() {
    const std::uint64_t count = number();
    const std::uint64_t sum = number();
    const auto max = static_cast<Cycle>(number());
    const std::uint64_t size = number();
    std::vector<std::uint64_t> buckets;
    for (std::uint64_t i = 0; i < size && whole_; ++i) buckets.push_back(number());
    return {count, sum, max, std::move(buckets)};
  }
  Flow flow() {
    Flow made;
    for (std::uint64_t* value : {&made.messages, &made.packets, &made.flits, &made.generated_flits})
      *value = number();
    made.end_to_end = histogram();
    made.network = histogram();
    return made;
  }
  [[nodiscard]] bool whole() const { return whole_; }
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
  bool whole_ = true;
};

/// All that Totals has, in the order of a line.
template <class T>
auto fields(T& totals) {
  return std::array{&totals.messages_generated,
                    &totals.messages_delivered,
                    &totals.messages_lost,
                    &totals.injected,
                    &totals.delivered,
                    &totals.broken,
                    &totals.unroutable,
                    &totals.lost,
                    &totals.discarded,
                    &totals.lost_flits,
                    &totals.flit_hops,
                    &totals.packet_hops,
                    &totals.events};
}

}  // namespace

std::uint64_t fingerprint(std::string_view text, std::uint64_t before) {
  for (const char c : text) before = (before ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return before;
}

std::string write_point(const PointResult& result) {
  PointWriter out;
  for (const std::size_t part : {result.point.variant, result.point.load, result.point.seed})
    out.number(part);
  out.number(static_cast<std::uint64_t>(result.cycles));
  out.number(result.hosts);
  for (const std::uint64_t* value : fields(result.totals)) out.number(*value);
  for (const double value : {result.links.mean, result.links.max, result.links.stalled}) out.real(value);
  out.number(result.in_flight);
  out.number(static_cast<std::uint64_t>(result.measurements.since));
  for (const Flow& flow : result.measurements.by_sl) out.flow(flow);
  for (const Flow& flow : result.measurements.by_vl) out.flow(flow);
  const std::string line = out.take() + "|" + result.workload;
  return fmt::format("{:016x} {}\n", fingerprint(line), line);
}

std::optional<PointResult> read_point(std::string_view line) {
  if (line.empty() || line.back() != '\n') return std::nullopt;
  PointReader in{line.substr(0, line.size() - 1)};
  const std::uint64_t said = in.number();
  if (!in.whole() || said != fingerprint(in.rest())) return std::nullopt;
  PointResult result;
  for (std::size_t* part : {&result.point.variant, &result.point.load, &result.point.seed})
    *part = static_cast<std::size_t>(in.number());
  result.cycles = static_cast<Cycle>(in.number());
  result.hosts = static_cast<std::uint32_t>(in.number());
  for (std::uint64_t* value : fields(result.totals)) *value = in.number();
  for (double* value : {&result.links.mean, &result.links.max, &result.links.stalled}) *value = in.real();
  result.in_flight = static_cast<std::size_t>(in.number());
  result.measurements.since = static_cast<Cycle>(in.number());
  for (Flow& flow : result.measurements.by_sl) flow = in.flow();
  for (Flow& flow : result.measurements.by_vl) flow = in.flow();
  if (!in.whole() || in.rest().empty() || in.rest().front() != '|') return std::nullopt;
  result.workload = in.rest().substr(1);
  return result;
}

}  // namespace heddle::packet
