// How requests end: one, all, any, some of them.

#include <cstddef>
#include <vector>

#include "recorder.h"

namespace heddle::vef {
namespace {

/// The program's requests as they were, because MPI clears those that end; and room for what MPI says of them
/// where the program does not want to know.
class Requests {
 public:
  Requests(int count, const MPI_Request* requests, MPI_Status*& statuses) {
    recorder()->note([&] {
      if (count <= 0) return;
      were().assign(requests, requests + count);
      if (statuses != MPI_STATUSES_IGNORE) return;
      room().resize(static_cast<std::size_t>(count));
      statuses = room().data();
    });
  }
  void ended(int index, const MPI_Status& status) {
    recorder()->ended(were().at(static_cast<std::size_t>(index)), status, too_);
  }

 private:
  // Kept from call to call, so that memory is asked for once.
  static std::vector<MPI_Request>& were() {
    static std::vector<MPI_Request> kept;
    return kept;
  }
  static std::vector<MPI_Status>& room() {
    static std::vector<MPI_Status> kept;
    return kept;
  }

  bool too_ = false;
};

int wait(MPI_Request* request, MPI_Status* status) {
  const MPI_Request was = *request;
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  bool too = false;
  return recorded<Function::Wait>([&] { recorder()->ended(was, *status, too); }, request, status);
}

int test(MPI_Request* request, int* flag, MPI_Status* status) {
  const MPI_Request was = *request;
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const auto write = [&] {
    bool too = false;
    if (*flag != 0) recorder()->ended(was, *status, too);
  };
  return recorded<Function::Test>(write, request, flag, status);
}

int wait_all(int count, MPI_Request* requests, MPI_Status* statuses) {
  Requests were{count, requests, statuses};
  const auto write = [&] {
    for (int i = 0; i < count; ++i) were.ended(i, statuses[i]);
  };
  return recorded<Function::Waitall>(write, count, requests, statuses);
}

int test_all(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  Requests were{count, requests, statuses};
  const auto write = [&] {
    for (int i = 0; *flag != 0 && i < count; ++i) were.ended(i, statuses[i]);
  };
  return recorded<Function::Testall>(write, count, requests, flag, statuses);
}

int wait_any(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  Requests were{count, requests, status};
  const auto write = [&] {
    if (*index != MPI_UNDEFINED) were.ended(*index, *status);
  };
  return recorded<Function::Waitany>(write, count, requests, index, status);
}

int test_any(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  Requests were{count, requests, status};
  const auto write = [&] {
    if (*flag != 0 && *index != MPI_UNDEFINED) were.ended(*index, *status);
  };
  return recorded<Function::Testany>(write, count, requests, index, flag, status);
}

template <Function F>
int some(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  Requests were{count, requests, statuses};
  const auto write = [&] {
    for (int i = 0; *done != MPI_UNDEFINED && i < *done; ++i) were.ended(indices[i], statuses[i]);
  };
  return recorded<F>(write, count, requests, done, indices, statuses);
}

}  // namespace

void enter_completions() {
  enter(Function::Wait, &wait);
  enter(Function::Test, &test);
  enter(Function::Waitall, &wait_all);
  enter(Function::Testall, &test_all);
  enter(Function::Waitany, &wait_any);
  enter(Function::Testany, &test_any);
  enter(Function::Waitsome, &some<Function::Waitsome>);
  enter(Function::Testsome, &some<Function::Testsome>);
}

}  // namespace heddle::vef
