#include "verbs.h"

#include <dlfcn.h>

#include <cstdlib>

namespace heddle::apm {
namespace {

constexpr const char* symbol_version = "IBVERBS_1.1";

void* find(const char* name) {
  if (void* found = dlvsym(RTLD_NEXT, name, symbol_version)) return found;
  // Loaded by a plugin for itself: out of sight from here, but there.
  void* library = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);
  void* found = library == nullptr ? nullptr : dlvsym(library, name, symbol_version);
  if (found == nullptr) std::abort();
  return found;
}

template <class Function>
void find(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(find(name));
}

Verbs find_all() {
  Verbs verbs;
  find(verbs.modify_qp, "ibv_modify_qp");
  find(verbs.query_qp, "ibv_query_qp");
  find(verbs.destroy_qp, "ibv_destroy_qp");
  find(verbs.query_device, "ibv_query_device");
  find(verbs.query_port, "ibv_query_port");
  find(verbs.get_async_event, "ibv_get_async_event");
  return verbs;
}

}  // namespace

const Verbs& real_verbs() {
  static const Verbs verbs = find_all();
  return verbs;
}

}  // namespace heddle::apm
