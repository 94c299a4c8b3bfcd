#include "entries.h"

#include <dlfcn.h>

#include <array>
#include <atomic>

// No mpi.h here: its declarations have types.

namespace heddle::vef {
namespace {

using Word = long;  // as wide as a register: every argument of MPI is an integer or a pointer

constexpr std::array<const char*, functions> names{
#define HEDDLE_VEF_NAME(name, parameters) "PMPI_" #name,
    HEDDLE_VEF_RECORDED(HEDDLE_VEF_NAME) HEDDLE_VEF_UNKNOWN(HEDDLE_VEF_NAME)
#undef HEDDLE_VEF_NAME
};

// Atomic, because other threads of a program may call MPI while one begins or ends the recording.
std::array<std::atomic<void*>, functions> real{};
std::array<std::atomic<void*>, functions> wrappers{};
std::atomic<bool> inside{false};

template <class... Words>
int call(Function function, Words... words) {
  void* wrapper = wrappers[static_cast<unsigned>(function)].load(std::memory_order_relaxed);
  void* target = wrapper == nullptr || is_inside() ? next_of(function) : wrapper;
  return reinterpret_cast<int (*)(Words...)>(target)(words...);
}

template <class... Words>
int call_unknown(Function function, Words... words) {
  if (!is_inside()) note_unknown(names[static_cast<unsigned>(function)] + 1);
  return reinterpret_cast<int (*)(Words...)>(next_of(function))(words...);
}

}  // namespace

void* next_of(Function function) {
  auto& known = real[static_cast<unsigned>(function)];
  void* found = known.load(std::memory_order_relaxed);
  if (found == nullptr) {
    found = dlsym(RTLD_NEXT, names[static_cast<unsigned>(function)]);
    known.store(found, std::memory_order_relaxed);
  }
  return found;
}

void enter(Function function, void* wrapper) {
  wrappers[static_cast<unsigned>(function)].store(wrapper, std::memory_order_relaxed);
}

void leave(Function function) { enter(function, nullptr); }

bool is_inside() { return inside.load(std::memory_order_relaxed); }
void set_inside(bool value) { inside.store(value, std::memory_order_relaxed); }

}  // namespace heddle::vef

// NOLINTBEGIN(bugprone-macro-parentheses)
#define PARAMETERS_0
#define PARAMETERS_1 Word a
#define PARAMETERS_2 PARAMETERS_1, Word b
#define PARAMETERS_3 PARAMETERS_2, Word c
#define PARAMETERS_4 PARAMETERS_3, Word d
#define PARAMETERS_5 PARAMETERS_4, Word e
#define PARAMETERS_6 PARAMETERS_5, Word f
#define PARAMETERS_7 PARAMETERS_6, Word g
#define PARAMETERS_8 PARAMETERS_7, Word h
#define PARAMETERS_9 PARAMETERS_8, Word i
#define PARAMETERS_10 PARAMETERS_9, Word j
#define PARAMETERS_11 PARAMETERS_10, Word k
#define PARAMETERS_12 PARAMETERS_11, Word l
#define ARGUMENTS_0
#define ARGUMENTS_1 , a
#define ARGUMENTS_2 ARGUMENTS_1, b
#define ARGUMENTS_3 ARGUMENTS_2, c
#define ARGUMENTS_4 ARGUMENTS_3, d
#define ARGUMENTS_5 ARGUMENTS_4, e
#define ARGUMENTS_6 ARGUMENTS_5, f
#define ARGUMENTS_7 ARGUMENTS_6, g
#define ARGUMENTS_8 ARGUMENTS_7, h
#define ARGUMENTS_9 ARGUMENTS_8, i
#define ARGUMENTS_10 ARGUMENTS_9, j
#define ARGUMENTS_11 ARGUMENTS_10, k
#define ARGUMENTS_12 ARGUMENTS_11, l
#define RECORDED(name, parameters)                                                \
  int MPI_##name(PARAMETERS_##parameters) {                                       \
    return heddle::vef::call(heddle::vef::Function::name ARGUMENTS_##parameters); \
  }                                                                               \
  int PMPI_##name(PARAMETERS_##parameters) {                                      \
    return heddle::vef::call(heddle::vef::Function::name ARGUMENTS_##parameters); \
  }
#define UNKNOWN(name, parameters)                                                         \
  int MPI_##name(PARAMETERS_##parameters) {                                               \
    return heddle::vef::call_unknown(heddle::vef::Function::name ARGUMENTS_##parameters); \
  }                                                                                       \
  int PMPI_##name(PARAMETERS_##parameters) {                                              \
    return heddle::vef::call_unknown(heddle::vef::Function::name ARGUMENTS_##parameters); \
  }

using heddle::vef::Word;

#pragma GCC visibility push(default)
extern "C" {
HEDDLE_VEF_RECORDED(RECORDED)
HEDDLE_VEF_UNKNOWN(UNKNOWN)
}
#pragma GCC visibility pop
// NOLINTEND(bugprone-macro-parentheses)
