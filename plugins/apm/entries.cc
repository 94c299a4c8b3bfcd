// libheddle-apm.so, which is preloaded into programs, or linked: the functions of libibverbs by which queue
// pairs get ready, go away and tell what happened to them. Nothing that sends or receives comes by here.

#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <new>

#include "agent_link.h"
#include "connections.h"
#include "verbs.h"

namespace heddle::apm {
namespace {

void say(const std::string& line) { std::fprintf(stderr, "heddle-apm: %s\n", line.c_str()); }

std::string socket_path() {
  const char* path = secure_getenv("HEDDLE_APM_SOCKET");
  return path == nullptr ? local::default_socket : path;
}

/// Never destroyed: threads of the program may call until its very end.
Connections& connections() {
  static auto* const all = new Connections{real_verbs(), say};
  return *all;
}

std::mutex link_mutex;
AgentLink* the_link = nullptr;

/// From the first connection on there is a thread; without connections there is none.
void wake_link() {
  const std::lock_guard lock{link_mutex};
  if (the_link == nullptr) the_link = new AgentLink{connections(), socket_path()};
  the_link->wake();
}

void before_fork() {
  link_mutex.lock();
  connections().lock();
}
void in_parent() {
  connections().unlock();
  link_mutex.unlock();
}
/// Queue pairs and thread are the parent's. Connections that the child makes are its own.
void in_child() {
  connections().forget();
  connections().unlock();
  if (the_link != nullptr) {
    the_link->abandon();
    the_link = nullptr;  // what it holds is not touched: its thread is not here
  }
  link_mutex.unlock();
}

void watch_forks() {
  static const int once = pthread_atfork(before_fork, in_parent, in_child);
  (void)once;
}

}  // namespace
}  // namespace heddle::apm

#pragma GCC visibility push(default)
extern "C" {

int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int attr_mask) {
  using namespace heddle::apm;
  const int result = real_verbs().modify_qp(qp, attr, attr_mask);
  if (result != 0 || qp == nullptr || attr == nullptr) return result;
  watch_forks();
  if (connections().on_modified(qp, *attr, attr_mask)) wake_link();
  return result;
}

int ibv_destroy_qp(ibv_qp* qp) {
  using namespace heddle::apm;
  connections().on_destroy(qp);
  return real_verbs().destroy_qp(qp);
}

int ibv_get_async_event(ibv_context* context, ibv_async_event* event) {
  using namespace heddle::apm;
  const int result = real_verbs().get_async_event(context, event);
  if (result != 0) return result;
  connections().on_event(*event);
  if (event->event_type == IBV_EVENT_PATH_MIG || event->event_type == IBV_EVENT_PATH_MIG_ERR) wake_link();
  return result;
}

}  // extern "C"
#pragma GCC visibility pop
