/// The file that OpenSM reads its forwarding tables from, where it cannot load the plugin. Waits for the disk
/// and for the command.
#pragma once

#include <boost/asio/io_context.hpp>
#include <stop_token>
#include <string>

#include "app/disk_thread.h"
#include "base/result.h"

namespace heddle::app {

/// Replaces the file at `path`, and runs `reload`, a program and its arguments apart by spaces, if there is
/// one: without a shell, and for 10 s at most, or 1 s from when `ending` says that the daemon ends.
/// Errors: Io for the file; NotFound or Unreachable for a command that is not there, fails or does not end.
[[nodiscard]] Result<void> put_tables(const std::string& path, const std::string& text,
                                      const std::string& reload, const std::stop_token& ending);

/// Where that is done. What was given before the end is done, and no command holds the end up for long.
struct TablesThread {
  explicit TablesThread(boost::asio::io_context& io) : thread{io} {}
  ~TablesThread() { ending.request_stop(); }

  DiskThread thread;
  std::stop_source ending;
};

}  // namespace heddle::app
