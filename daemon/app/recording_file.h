/// The file of a recording: its owner's alone, and written by a thread that may wait for the disk. What a
/// killed daemon had not written yet is about a second.
#pragma once

#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace heddle::app {

class RecordingFile {
 public:
  /// Errors: Io; Conflict where there is a file already.
  static Result<std::unique_ptr<RecordingFile>> create(const std::string& path);
  ~RecordingFile();
  RecordingFile(const RecordingFile&) = delete;
  RecordingFile& operator=(const RecordingFile&) = delete;

  /// No bytes: what was taken is written at once. False when the disk takes no more, or not fast enough: what
  /// came before is there, and nothing after it.
  bool take(std::string_view bytes);

 private:
  explicit RecordingFile(int file) : file_{file} {}
  void hand_over();

  int file_;
  std::string batch_;
  std::chrono::steady_clock::time_point handed_over_ = std::chrono::steady_clock::now();
  std::atomic<std::size_t> waiting_ = 0;  ///< bytes
  std::atomic<bool> broken_ = false;
  boost::asio::thread_pool thread_{1};
};

}  // namespace heddle::app
