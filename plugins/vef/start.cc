// Where a recording begins and ends: MPI_Init and MPI_Finalize.

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "merge.h"
#include "ranks.h"
#include "recorder.h"

namespace heddle::vef {
namespace {

#ifdef OPEN_MPI
constexpr const char* our_mpi = "Open MPI";
#else
constexpr const char* our_mpi = "MPICH";
#endif

/// Of any MPI: its MPI_MAX_LIBRARY_VERSION_STRING is 256 in one and 8192 in another.
constexpr std::size_t longest_version = 65536;

Recorder* the_recorder = nullptr;

void say(const std::string& line) { std::fprintf(stderr, "heddle-vef: %s\n", line.c_str()); }

/// Handles of another MPI have another size: nothing of it may be touched.
bool is_our_mpi() {
  static std::array<char, longest_version> version{};
  int length = 0;
  PMPI_Get_library_version(version.data(), &length);
  return std::strncmp(version.data(), our_mpi, std::strlen(our_mpi)) == 0;
}

/// Before MPI can tell: what its launchers say.
bool is_first_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
    if (const char* rank = std::getenv(name)) return std::strcmp(rank, "0") == 0;
  }
  return true;
}

std::string make_recorder() {
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  if (level == MPI_THREAD_MULTIPLE) {
    return "the program asked for MPI_THREAD_MULTIPLE: what threads send at the same time has no order to "
           "record";
  }
  const char* path = std::getenv("HEDDLE_VEF");
  if (path == nullptr || *path == '\0') return "HEDDLE_VEF names no file for the trace";
  try {
    the_recorder = new Recorder{Output{path}};
    return {};
  } catch (const std::system_error& error) {
    return std::string{path} + ": " + error.what();
  } catch (const std::exception& error) {
    return error.what();
  }
}

void begin() {
  if (the_recorder != nullptr) return;
  if (!is_our_mpi()) {
    if (is_first_rank()) say(std::string{"nothing is recorded: this library is for programs of "} + our_mpi);
    return;
  }
  set_inside(true);
  std::string why = make_recorder();
  if (all_are_well(why)) {
    enter_messages();
    enter_completions();
    enter_collectives();
    enter_communicators();
    the_recorder->resume();
  } else {
    delete std::exchange(the_recorder, nullptr);
    if (!why.empty()) say("nothing is recorded: " + why);
  }
  set_inside(false);
}

void leave_all() {
  for (unsigned i = 0; i < functions; ++i) leave(static_cast<Function>(i));
}

/// Every rank takes part, also one that has stopped: no other one waits for it in vain.
void end() {
  leave_all();
  set_inside(true);
  std::string why = the_recorder->stopped() ? the_recorder->reason() : std::string{};
  if (the_recorder->stopped() && why.empty()) why = "out of memory";
  if (all_are_well(why)) why = merge(*the_recorder);
  if (!why.empty()) say("no trace is written: rank " + std::to_string(the_recorder->rank()) + ": " + why);
  delete std::exchange(the_recorder, nullptr);
  set_inside(false);
}

int initialize(int* count, char*** arguments) {
  const int result = next<Function::Init>(count, arguments);
  if (result == MPI_SUCCESS) begin();
  return result;
}

int initialize_thread(int* count, char*** arguments, int required, int* provided) {
  const int result = next<Function::Init_thread>(count, arguments, required, provided);
  if (result == MPI_SUCCESS) begin();
  return result;
}

int finalize() {
  if (the_recorder != nullptr) end();
  return next<Function::Finalize>();
}

__attribute__((constructor)) void wait_for_the_program() {
  enter(Function::Init, &initialize);
  enter(Function::Init_thread, &initialize_thread);
  enter(Function::Finalize, &finalize);
}

}  // namespace

Recorder* recorder() { return the_recorder; }

void note_unknown(const char* name) {
  if (the_recorder != nullptr)
    the_recorder->stop(std::string{"the program calls "} + name + ", which is not recorded");
}

}  // namespace heddle::vef
