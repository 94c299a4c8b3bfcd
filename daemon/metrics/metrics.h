/// What /metrics shows: the last complete sweep and the daemon's own figures. A scrape never causes a sweep
/// and never holds one up: publish() only changes pointers, and the text is written from immutable things, on
/// whatever thread the scrape runs.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "load/sample.h"
#include "metrics/departed.h"
#include "metrics/exposition.h"
#include "metrics/labels.h"
#include "sampling/sampler.h"
#include "transport/transactions.h"

namespace prometheus {
class Collectable;
}

namespace heddle::metrics {

struct DaemonFigures;

struct MetricsOptions {
  /// What scrapes get that ask for nothing else; others narrow it.
  Selection selection{};
  /// A label of this value is on every line; none where it is empty.
  std::string fabric{};
};

class Metrics {
 public:
  explicit Metrics(Labels::NameOf name_of = {}, MetricsOptions options = {});
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  /// Other names from the next publish() on. On the thread of publish().
  void name_nodes(Labels::NameOf name_of);
  /// At the end of each sweep; one thread.
  void publish(std::shared_ptr<const load::Sample> sample, const sampling::SamplerStatistics& sampler,
               const transport::TransactionEngine& engine);
  /// Further families, collected at each scrape on its thread: a prometheus::Registry of another part of the
  /// daemon. Any thread.
  void add(std::shared_ptr<prometheus::Collectable> part);

  /// What scrapes get that ask for nothing else.
  [[nodiscard]] const Selection& selection() const { return options_.selection; }

  /// Any thread, at any time.
  [[nodiscard]] Exposition scrape(const Selection& selection) const;
  [[nodiscard]] Exposition scrape() const { return scrape(options_.selection); }
  /// The whole text; large for large fabrics (about 3 KiB a port).
  [[nodiscard]] std::string render() const { return scrape().rest(); }

 private:
  const MetricsOptions options_;  ///< the fabric's name printable
  const std::string first_label_;
  const std::unique_ptr<ErrorSeries> errors_;
  Labels::NameOf name_of_;
  bool renamed_ = false;
  Departures departures_;

  mutable std::mutex mutex_;  ///< guards what follows, which is exchanged as a whole
  Source source_;
  std::shared_ptr<const DaemonFigures> figures_;
  std::vector<std::shared_ptr<prometheus::Collectable>> parts_;
};

}  // namespace heddle::metrics
