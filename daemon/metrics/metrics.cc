#include "metrics/metrics.h"

#include <prometheus/collectable.h>

#include "base/printable.h"
#include "metrics/daemon_families.h"
#include "metrics/part_text.h"

namespace heddle::metrics {

Metrics::Metrics(Labels::NameOf name_of, MetricsOptions options)
    : options_{std::move(options.selection), printable(options.fabric)},
      first_label_{first_label(options_.fabric)},
      errors_{std::make_unique<ErrorSeries>()},
      name_of_{std::move(name_of)},
      figures_{std::make_shared<DaemonFigures>()} {
  source_.departed = departures_.ports();
}
Metrics::~Metrics() = default;

void Metrics::name_nodes(Labels::NameOf name_of) {
  name_of_ = std::move(name_of);
  renamed_ = true;
}

void Metrics::publish(std::shared_ptr<const load::Sample> sample, const sampling::SamplerStatistics& sampler,
                      const transport::TransactionEngine& engine) {
  // Only this thread writes source_, so reading it needs no lock.
  std::shared_ptr<const Labels> labels = source_.labels;
  if (!labels || &labels->fabric() != sample->fabric.get() || renamed_) {
    renamed_ = false;
    const auto before = std::move(labels);
    labels = std::make_shared<const Labels>(sample->fabric, name_of_);
    if (before) departures_.follow(*before, *labels);
  }
  auto figures = std::make_shared<const DaemonFigures>(DaemonFigures{.sampler = sampler,
                                                                     .transactions = engine.statistics(),
                                                                     .window = engine.window(),
                                                                     .at = std::chrono::system_clock::now()});
  Source source{.sample = std::move(sample), .labels = std::move(labels), .departed = departures_.ports()};
  source.first_label = first_label_;
  const std::lock_guard lock{mutex_};
  std::swap(source_, source);
  std::swap(figures_, figures);
}

void Metrics::add(std::shared_ptr<prometheus::Collectable> part) {
  const std::lock_guard lock{mutex_};
  parts_.push_back(std::move(part));
}

Exposition Metrics::scrape(const Selection& selection) const {
  Source source;
  std::shared_ptr<const DaemonFigures> figures;
  std::vector<std::shared_ptr<prometheus::Collectable>> parts;
  {
    const std::lock_guard lock{mutex_};
    source = source_;
    figures = figures_;
    parts = parts_;
  }
  source.selection = selection;
  if (selection.skip_zero_errors && source.sample) source.errors = errors_->look(*source.sample);
  auto families = daemon_families(*figures, source.sample.get());
  const auto append = [&](std::vector<prometheus::MetricFamily> more) {
    families.insert(families.end(), std::make_move_iterator(more.begin()),
                    std::make_move_iterator(more.end()));
  };
  append(process_families());
  for (const auto& part : parts) append(part->Collect());
  return {part_text(std::move(families), selection, options_.fabric), std::move(source)};
}

}  // namespace heddle::metrics
