// Linked into test programs that ThreadSanitizer is not given, or not all of whose tests: in place of the C
// library's function, this one ends a test that begins a thread, unless it has Thread in its name
// (heddle_test, tools/dev/cmake/HeddleModule.cmake).
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

bool may_begin_threads() {
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  if (test == nullptr) return false;
  const std::string name = std::string{test->test_suite_name()} + '.' + test->name();
  return name.find("Thread") != std::string::npos;
}

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*run)(void*),
                              void* with) noexcept {
  if (!may_begin_threads()) {
    std::fputs(
        "A thread begins in a test that ThreadSanitizer is not given: say THREADS or SOME_THREADS of its "
        "program, in "
        "its CMakeLists.txt.\n",
        stderr);
    std::abort();
  }
  static const auto real = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return real(thread, how, run, with);
}
