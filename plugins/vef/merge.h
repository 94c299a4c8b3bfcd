/// At MPI_Finalize: from the logs of all ranks one file.
///
/// Ranks agree on numbers by what each knows of its channels, tell each other which messages somebody waits
/// for, and then send their records as text, one rank after the other, to rank 0, which only writes. No more
/// than a few megabytes of a log are in memory at a time.
#pragma once

#include <string>

#include "recorder.h"

namespace heddle::vef {

/// Called by every rank. Where it failed, one rank gets the reason; all others, and all where it did not, an
/// empty text.
[[nodiscard]] std::string merge(Recorder& recorder);

}  // namespace heddle::vef
