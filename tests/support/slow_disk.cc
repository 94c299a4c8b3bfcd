/// Preloaded, it makes a disk slow: fsync and fdatasync take as many seconds as the file SLOW_DISK says,
/// while there is one.

#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

namespace {

void wait() {
  const char* name = std::getenv("SLOW_DISK");
  if (name == nullptr) return;
  double seconds = 0;
  if (std::ifstream{name} >> seconds) std::this_thread::sleep_for(std::chrono::duration<double>{seconds});
}

int real(const char* name, int file) { return reinterpret_cast<int (*)(int)>(dlsym(RTLD_NEXT, name))(file); }

}  // namespace

extern "C" {

int fsync(int file) {
  wait();
  return real("fsync", file);
}

int fdatasync(int file) {
  wait();
  return real("fdatasync", file);
}
}
