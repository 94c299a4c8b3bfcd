/// Our lines in OpenSM's log, and its lock. Any thread.
#pragma once

#include <exception>
#include <string>

#include "opensm_headers.h"

namespace heddle::plugin {

class Log {
 public:
  explicit Log(osm_log_t& log) : log_{&log} {}

  void info(const std::string& line) const { osm_log(log_, OSM_LOG_INFO, "heddle: %s\n", line.c_str()); }
  /// Seen whatever the level of the log.
  void notice(const std::string& line) const { osm_log(log_, OSM_LOG_SYS, "heddle: %s\n", line.c_str()); }
  void error(const char* code, const std::string& line) const {
    osm_log(log_, OSM_LOG_ERROR, "heddle: ERR %s: %s\n", code, line.c_str());
  }
  /// Without a string of ours, for when there is no memory.
  void thrown(const char* where, const char* what) const noexcept {
    osm_log(log_, OSM_LOG_ERROR, "heddle: ERR HE01: %s failed: %s\n", where, what);
  }

 private:
  osm_log_t* log_;
};

/// OpenSM's lock, exclusively.
class Lock {
 public:
  explicit Lock(cl_plock_t& lock) : lock_{lock} { cl_plock_excl_acquire(&lock_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() { cl_plock_release(&lock_); }

 private:
  cl_plock_t& lock_;
};

/// Runs `body` with nothing thrown beyond: OpenSM is C. What is thrown is logged, and `otherwise` returned.
template <class T, class Body>
T guarded(const Log& log, const char* what, T otherwise, Body&& body) noexcept {
  try {
    return body();
  } catch (const std::exception& thrown) {
    log.thrown(what, thrown.what());
  } catch (...) {
    log.thrown(what, "unknown exception");
  }
  return otherwise;
}

}  // namespace heddle::plugin
