// Messages between two ranks, their requests made and started. completions.cc has how requests end.

#include <cstddef>

#include "recorder.h"

namespace heddle::vef {
namespace {

template <Function F, class... Request>
int send(const void* data, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm,
         Request... request) {
  return recorded<F>([&] { recorder()->sent(count, type, target, tag, comm); }, data, count, type, target,
                     tag, comm, request...);
}

int receive(void* data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
            MPI_Status* status) {
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  return recorded<Function::Recv>([&] { recorder()->received(source, tag, comm, *status); }, data, count,
                                  type, source, tag, comm, status);
}

int begin_receive(void* data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  return recorded<Function::Irecv>([&] { recorder()->posted(*request, source, tag, comm); }, data, count,
                                   type, source, tag, comm, request);
}

int send_receive(const void* out, int out_count, MPI_Datatype out_type, int target, int out_tag, void* in,
                 int in_count, MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm,
                 MPI_Status* status) {
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const auto write = [&] {
    recorder()->sent(out_count, out_type, target, out_tag, comm);
    recorder()->received(source, in_tag, comm, *status);
  };
  return recorded<Function::Sendrecv>(write, out, out_count, out_type, target, out_tag, in, in_count, in_type,
                                      source, in_tag, comm, status);
}

int send_receive_replace(void* data, int count, MPI_Datatype type, int target, int out_tag, int source,
                         int in_tag, MPI_Comm comm, MPI_Status* status) {
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const auto write = [&] {
    recorder()->sent(count, type, target, out_tag, comm);
    recorder()->received(source, in_tag, comm, *status);
  };
  return recorded<Function::Sendrecv_replace>(write, data, count, type, target, out_tag, source, in_tag, comm,
                                              status);
}

template <Function F>
int prepare_send(const void* data, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm,
                 MPI_Request* request) {
  const auto write = [&] {
    if (target == MPI_PROC_NULL) return;
    recorder()->prepared(*request, {.communicator = &recorder()->of(comm),
                                    .receives = false,
                                    .persistent = true,
                                    .peer = target,
                                    .tag = tag,
                                    .bytes = bytes_of(count, type)});
  };
  return recorded<F>(write, data, count, type, target, tag, comm, request);
}

int prepare_receive(void* data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                    MPI_Request* request) {
  const auto write = [&] {
    if (source == MPI_PROC_NULL) return;
    recorder()->prepared(
        *request, {.communicator = &recorder()->of(comm), .persistent = true, .peer = source, .tag = tag});
  };
  return recorded<Function::Recv_init>(write, data, count, type, source, tag, comm, request);
}

int start(MPI_Request* request) {
  return recorded<Function::Start>([&] { recorder()->started(*request); }, request);
}

int start_all(int count, MPI_Request* requests) {
  const auto write = [&] {
    for (int i = 0; i < count; ++i) recorder()->started(requests[i]);
  };
  return recorded<Function::Startall>(write, count, requests);
}

int cancel(MPI_Request* request) {
  return recorded<Function::Cancel>([&] { recorder()->cancelled(*request); }, request);
}

int free_request(MPI_Request* request) {
  const MPI_Request was = *request;
  return recorded<Function::Request_free>([&] { recorder()->freed(was); }, request);
}

int probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  return recorded<Function::Probe>([] {}, source, tag, comm, status);
}

int probe_now(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  return recorded<Function::Iprobe>([] {}, source, tag, comm, flag, status);
}

int take_probed(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  return recorded<Function::Mprobe>([&] { recorder()->probed(*message, comm, *status); }, source, tag, comm,
                                    message, status);
}

int take_probed_now(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const auto write = [&] {
    if (*flag != 0) recorder()->probed(*message, comm, *status);
  };
  return recorded<Function::Improbe>(write, source, tag, comm, flag, message, status);
}

int receive_probed(void* data, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  const MPI_Message was = *message;
  return recorded<Function::Mrecv>([&] { recorder()->received_probed(was); }, data, count, type, message,
                                   status);
}

int begin_receive_probed(void* data, int count, MPI_Datatype type, MPI_Message* message,
                         MPI_Request* request) {
  const MPI_Message was = *message;
  return recorded<Function::Imrecv>([&] { recorder()->posted_probed(was, *request); }, data, count, type,
                                    message, request);
}

}  // namespace

void enter_messages() {
  enter(Function::Send, &send<Function::Send>);
  enter(Function::Ssend, &send<Function::Ssend>);
  enter(Function::Rsend, &send<Function::Rsend>);
  enter(Function::Bsend, &send<Function::Bsend>);
  enter(Function::Isend, &send<Function::Isend, MPI_Request*>);
  enter(Function::Issend, &send<Function::Issend, MPI_Request*>);
  enter(Function::Irsend, &send<Function::Irsend, MPI_Request*>);
  enter(Function::Ibsend, &send<Function::Ibsend, MPI_Request*>);
  enter(Function::Recv, &receive);
  enter(Function::Irecv, &begin_receive);
  enter(Function::Sendrecv, &send_receive);
  enter(Function::Sendrecv_replace, &send_receive_replace);
  enter(Function::Send_init, &prepare_send<Function::Send_init>);
  enter(Function::Ssend_init, &prepare_send<Function::Ssend_init>);
  enter(Function::Rsend_init, &prepare_send<Function::Rsend_init>);
  enter(Function::Bsend_init, &prepare_send<Function::Bsend_init>);
  enter(Function::Recv_init, &prepare_receive);
  enter(Function::Start, &start);
  enter(Function::Startall, &start_all);
  enter(Function::Cancel, &cancel);
  enter(Function::Request_free, &free_request);
  enter(Function::Probe, &probe);
  enter(Function::Iprobe, &probe_now);
  enter(Function::Mprobe, &take_probed);
  enter(Function::Improbe, &take_probed_now);
  enter(Function::Mrecv, &receive_probed);
  enter(Function::Imrecv, &begin_receive_probed);
}

}  // namespace heddle::vef
