#include <sys/resource.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "metrics/daemon_families.h"
#include "metrics/family_maker.h"

namespace heddle::metrics {
namespace {

// The fields of /proc/self/stat behind the process's name; the first of them is field 3 of proc(5).
struct Stat {
  double user_ticks = 0;
  double system_ticks = 0;
  double threads = 0;
  double start_ticks = 0;
  double virtual_bytes = 0;
  double resident_pages = 0;
};

Stat read_stat() {
  std::ifstream file{"/proc/self/stat"};
  std::string text;
  std::getline(file, text, '\0');
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream fields{text.substr(name_end + 1)};
  Stat stat;
  std::string field;
  for (int i = 3; fields >> field; ++i) {
    const auto number = [&] { return std::strtod(field.c_str(), nullptr); };
    if (i == 14) stat.user_ticks = number();
    if (i == 15) stat.system_ticks = number();
    if (i == 20) stat.threads = number();
    if (i == 22) stat.start_ticks = number();
    if (i == 23) stat.virtual_bytes = number();
    if (i == 24) stat.resident_pages = number();
  }
  return stat;
}

/// Seconds since 1970; by the clocks, since a unit with ProcSubset=pid has no /proc/stat.
double boot_time() {
  const auto now = [](clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  };
  return now(CLOCK_REALTIME) - now(CLOCK_BOOTTIME);
}

double open_files() {
  std::error_code wrong;
  double count = 0;
  for (std::filesystem::directory_iterator i{"/proc/self/fd", wrong}, end; !wrong && i != end;
       i.increment(wrong)) {
    ++count;
  }
  return count;
}

}  // namespace

std::vector<prometheus::MetricFamily> process_families() {
  const Stat stat = read_stat();
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  return {
      counter("process_cpu_seconds_total", "User and system CPU time",
              (stat.user_ticks + stat.system_ticks) / ticks),
      gauge("process_resident_memory_bytes", "Resident memory",
            stat.resident_pages * static_cast<double>(sysconf(_SC_PAGESIZE))),
      gauge("process_virtual_memory_bytes", "Virtual memory", stat.virtual_bytes),
      gauge("process_open_fds", "Open file descriptors", open_files()),
      gauge("process_max_fds", "Most file descriptors that may be open", static_cast<double>(files.rlim_cur)),
      gauge("process_threads", "Threads", stat.threads),
      gauge("process_start_time_seconds", "When the process was started",
            boot_time() + stat.start_ticks / ticks),
  };
}

}  // namespace heddle::metrics
