/// Where a program enters: MPI_X and PMPI_X of every function in functions.h.
///
/// PMPI_X too, because the Fortran bindings of Open MPI call it, those of MPICH MPI_X: whichever comes first
/// records, and what it calls in turn goes through. So each message is recorded once, whatever language it
/// was sent from. An entry knows no type of MPI: all arguments are words. So a program of another MPI, for
/// which handles have another size, goes on unhurt when this library is preloaded by mistake.
#pragma once

#include <utility>

#include "functions.h"

namespace heddle::vef {

/// What PMPI_X is without this library.
[[nodiscard]] void* next_of(Function function);

template <Function F, class... Arguments>
int next(Arguments... arguments) {
  return reinterpret_cast<int (*)(Arguments...)>(next_of(F))(arguments...);
}

/// From here on `wrapper` is called in place of `function`.
void enter(Function function, void* wrapper);
/// From here on nothing but these is recorded: calls go where they went without this library.
void leave(Function function);

/// Inside of MPI: what it calls goes through. One thread at a time.
[[nodiscard]] bool is_inside();
void set_inside(bool inside);

/// By functions.cc: a call of something that cannot be recorded.
void note_unknown(const char* name);

}  // namespace heddle::vef
