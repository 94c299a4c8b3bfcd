/// Entries that lead over links that are down carry nothing, and turn packets again as soon as such a link is
/// up, with nobody asked: beside what has changed meanwhile they may close a circle of dependencies. So they
/// go before anything else is waited for. So do those of LIDs that nobody has any more: an order that was
/// made without their owners does not know how they turn packets.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "routing/lid_rounds.h"
#include "routing/tables.h"
#include "routing/update_plan.h"

namespace heddle::routing {

/// Takes those away that are not to stay, and that the first of these stages does not replace: it may be that
/// only a later one does, that it waits for packets, or that their LID does not change. `waits`: whether an
/// entry of the first stage, and with it all of its LID, waits for something else.
[[nodiscard]] std::vector<EntryWrite> dead_entries(const UpdateOrder& order, const ForwardingTables& before,
                                                   const ForwardingTables& after,
                                                   std::span<const BlockRef> differing,
                                                   std::span<const std::vector<EntryWrite>> stages,
                                                   const std::function<bool(const EntryWrite&)>& waits);

}  // namespace heddle::routing
