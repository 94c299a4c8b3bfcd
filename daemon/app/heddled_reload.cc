// What a configuration that is read again changes of a daemon that runs, and how the daemon ends.

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "app/config_reload.h"
#include "app/core_options.h"
#include "app/heddled_parts.h"
#include "app/notify_config.h"
#include "base/text.h"

namespace heddle::app {

void Heddled::Parts::reload() {
  if (stop_asked_) return;
  notifier_.reloading();
  auto fresh = source_.load();
  if (!fresh) {
    spdlog::error("reload: {}; the configuration stays as it was", fresh.error().message);
    reload_wrong_ =
        fmt::format("the configuration could not be read again: {}; the one from before is in force",
                    fresh.error().message);
  } else {
    reload_wrong_.reset();
    if (const auto keys = changed(config_, *fresh, Effect::ByStart); !keys.empty()) {
      return start_anew(keys);
    }
    if (const auto waiting = changed(config_, *fresh, Effect::AtStart); !waiting.empty()) {
      reload_wrong_ =
          fmt::format("of the configuration file, what was changed of {} takes effect at the next start",
                      joined(waiting, ", "));
      spdlog::warn("reload: {}", *reload_wrong_);
    }
    // The files may have changed although their names have not.
    config_.metrics.tokens_file = fresh->metrics.tokens_file;
    config_.metrics.tls = fresh->metrics.tls;
    if (auto secrets = read_secrets(config_)) {
      guard_->set(*std::move(secrets));
    } else {
      spdlog::error("reload: {}; what was read before goes on", secrets.error().message);
    }
    reload_destinations(*fresh);
    config_.sweep.light_interval = fresh->sweep.light_interval;
    config_.sweep.heavy_interval = fresh->sweep.heavy_interval;
    config_.sampling.interval = fresh->sampling.interval;
    config_.qos = fresh->qos;
    config_.sets = fresh->sets;
    config_.regulation.governor.mode = fresh->regulation.governor.mode;
    config_.log = fresh->log;
    spdlog::set_level(spdlog::level::from_str(config_.log.level));
    check_at_ = std::min(check_at_.value_or(Instant::max()), clock_.now() + config_.sweep.light_interval);
    on(core::Reloaded{core_settings(config_)});
    spdlog::info("configuration read again");
  }
  notifier_.ready();
}

/// Their files are read again, too.
void Heddled::Parts::reload_destinations(const Config& fresh) {
  const auto destinations = destinations_of(fresh);
  auto used = destinations ? notices_.use(*destinations) : fail(destinations.error());
  if (used) {
    config_.notify_entries = fresh.notify_entries;
  } else {
    spdlog::error("reload: {}; notices go where they went before", used.error().message);
    reload_wrong_ = used.error().message + "; notices go where they went before";
  }
}

/// As whoever ends and is started again, but that nobody may take up what is under way: it is ended first.
void Heddled::Parts::start_anew(const std::vector<std::string>& keys) {
  spdlog::warn("reload: {} changed: this daemon ends in order and starts anew", joined(keys, ", "));
  stop_asked_ = starts_anew_ = true;
  on(core::StopAsked{core::Changes::End});
}

void Heddled::Parts::stop() {
  if (std::exchange(starts_anew_, false)) return notifier_.stopping();  // it is ending
  if (std::exchange(stop_asked_, true)) return finish();
  notifier_.stopping();
  on(core::StopAsked{core::Changes::GoOn});
  if (!stopping_) spdlog::info("bringing links back before ending; a second signal ends at once");
}

void Heddled::Parts::finish() {
  if (std::exchange(stopping_, true)) return;
  spdlog::info("ending");
  doors_.close();
  notices_.stop();
  core_.end();
  alarm_.set(std::nullopt);
  backend_->stop();
  io_.stop();
}

}  // namespace heddle::app
