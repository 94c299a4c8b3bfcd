/// What of a run is written down besides events (`heddled --record`), and how such a run is played again
/// (`heddled --replay`).
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "app/options.h"
#include "control/http.h"
#include "record/recorder.h"

namespace heddle::app {

/// The configuration file's text without what must not leave the site: keys, and who is notified. Keys are
/// among the overrides again, as stand-ins.
[[nodiscard]] std::string without_secrets(std::string_view toml);

/// Of the configuration alone, with stand-ins for its keys. Errors: Io of the files that it names.
[[nodiscard]] Result<record::Opening> opening_of(const ConfigSource& source, const Config& config,
                                                 record::Recorder& recorder);

/// What an operator asked for.
[[nodiscard]] std::string to_bytes(const control::Request& request);
[[nodiscard]] control::Request parse_request(std::string_view bytes);

/// Plays a recording. 0: the core did the same again; 1: it did not, or the file cannot be played.
int replay(const ReplayAsked& asked, std::ostream& out, std::ostream& err);

}  // namespace heddle::app
