/// The way to the daemon: a Unix socket, connected and connected again by a thread of its own, so that
/// neither a slow daemon nor none is OpenSM's trouble.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "core/backoff.h"
#include "core/event_queue.h"
#include "core/events.h"

namespace heddle::plugin {

class Channel {
 public:
  struct Callbacks {
    /// The first line of a connection.
    std::function<std::string()> greeting;
    std::function<void(Command)> command;
    /// After each line of the queue, and when as long has passed as it returned.
    std::function<std::chrono::milliseconds()> tick;
  };

  /// `socket`: a path, or "@name" for an abstract one. The thread starts here.
  Channel(std::string socket, EventQueue& queue, Callbacks callbacks);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  /// Waits for the thread, which never takes long.
  ~Channel();

 private:
  void run();
  void work();
  [[nodiscard]] bool connect();
  void disconnect();
  void wait(std::chrono::milliseconds longest);
  void fill();
  void send();
  void receive();

  std::string socket_;
  EventQueue& queue_;
  Callbacks callbacks_;
  int wake_fd_ = -1;
  int fd_ = -1;
  Backoff backoff_;
  Backoff::Clock::time_point retry_at_{};
  std::string outgoing_;
  std::string incoming_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace heddle::plugin
