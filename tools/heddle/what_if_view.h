/// What a twin says, in text.
#pragma once

#include <vector>

#include "fabric/link_name.h"
#include "heddle/command.h"
#include "twin/failures.h"

namespace heddle::cli {

void print_twin(const twin::Run& run, Context& context);

void print_states(const twin::State& now, const twin::State& then, const FabricNames& known,
                  Context& context);

/// The worst of all, as they stand in the list.
void print_each(const std::vector<twin::Failed>& all, const twin::State& now, std::size_t top,
                Context& context);

}  // namespace heddle::cli
