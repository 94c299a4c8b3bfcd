/// What is kept in the state directory, but for plan.json.
#pragma once

#include <memory>
#include <vector>

#include "app/config.h"
#include "core/qos_service.h"
#include "journal/journal.h"
#include "transport/transport.h"

namespace heddle::app {

/// Where the fabric's clock stands at this moment.
[[nodiscard]] journal::Calendar calendar_of(const transport::Clock& clock);

/// Errors: of journal::open_journal.
[[nodiscard]] Result<std::unique_ptr<journal::Journal>> open_journal(const Config& config,
                                                                     const journal::Calendar& calendar);
/// Ports by which an earlier run turned links off, for a daemon that regulates none. A journal that is not
/// there, or that cannot be read, knows of none.
[[nodiscard]] std::vector<PortRef> ports_left_off(const Config& config, const journal::Calendar& calendar);

/// qos.json.
[[nodiscard]] core::QosStore qos_store(const Config& config);

}  // namespace heddle::app
