// How communicators are made, and end. Every member must take part in naming a communicator, also when it has
// stopped recording.

#include "recorder.h"

namespace heddle::vef {
namespace {

/// Every function that makes a communicator takes the place for it last.
template <Function F, class... Arguments>
struct Making {
  static int make(Arguments... arguments, MPI_Comm* made) {
    const Call call;
    const int result = next<F>(arguments..., made);
    if (result == MPI_SUCCESS) recorder()->made(*made);
    return result;
  }
};

template <Function F>
int end(MPI_Comm* comm) {
  const MPI_Comm was = *comm;
  return recorded<F>([&] { recorder()->forget(was); }, comm);
}

template <Function F, class... Arguments>
void enter_making() {
  enter(F, &Making<F, Arguments...>::make);
}

}  // namespace

void enter_communicators() {
  enter_making<Function::Comm_dup, MPI_Comm>();
  enter_making<Function::Comm_dup_with_info, MPI_Comm, MPI_Info>();
  enter_making<Function::Comm_split, MPI_Comm, int, int>();
  enter_making<Function::Comm_split_type, MPI_Comm, int, int, MPI_Info>();
  enter_making<Function::Comm_create, MPI_Comm, MPI_Group>();
  enter_making<Function::Comm_create_group, MPI_Comm, MPI_Group, int>();
  enter_making<Function::Cart_create, MPI_Comm, int, const int*, const int*, int>();
  enter_making<Function::Cart_sub, MPI_Comm, const int*>();
  enter_making<Function::Graph_create, MPI_Comm, int, const int*, const int*, int>();
  enter_making<Function::Dist_graph_create, MPI_Comm, int, const int*, const int*, const int*, const int*,
               MPI_Info, int>();
  enter_making<Function::Dist_graph_create_adjacent, MPI_Comm, int, const int*, const int*, int, const int*,
               const int*, MPI_Info, int>();
  enter_making<Function::Intercomm_merge, MPI_Comm, int>();
  enter(Function::Comm_free, &end<Function::Comm_free>);
  enter(Function::Comm_disconnect, &end<Function::Comm_disconnect>);
}

}  // namespace heddle::vef
