/// Where clients come in: the control socket and the TCP side, on a thread of their own, so that no client
/// takes time from sampling; and the threads that make large answers. Lives on the daemon's thread.
#pragma once

#include <array>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "app/config.h"
#include "control/answers.h"
#include "control/crossing.h"
#include "control/http.h"
#include "control/tcp_guard.h"

namespace heddle::app {

class Doors {
 public:
  explicit Doors(boost::asio::io_context& daemon);
  ~Doors();
  Doors(const Doors&) = delete;
  Doors& operator=(const Doors&) = delete;

  /// Of large answers; on the daemon's thread.
  [[nodiscard]] control::Answers& answers() { return answers_; }

  using Serve = std::function<Result<std::unique_ptr<control::HttpServer>>(boost::asio::io_context& io,
                                                                           control::Handler handler)>;
  /// `handler` runs on the daemon's thread. Once, before serve().
  void handle_with(control::Handler handler);
  Result<void> serve(const Serve& serve);
  /// From here on clients are answered.
  void open();
  /// Closes all connections and waits for the threads.
  void close();

 private:
  boost::asio::io_context& daemon_;
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{io_.get_executor()};
  boost::asio::thread_pool metrics_maker_{1};
  boost::asio::thread_pool view_maker_{1};
  boost::asio::thread_pool what_if_maker_{1};
  std::array<boost::asio::thread_pool*, control::lanes> makers_{&metrics_maker_, &view_maker_,
                                                                &what_if_maker_};
  control::Answers answers_;
  std::unique_ptr<control::Crossing> crossing_;
  std::vector<std::unique_ptr<control::HttpServer>> servers_;
  std::thread thread_;
};

/// Reads what metrics.tokens_file and metrics.tls name. Errors: those of Tokens::load() and load_tls().
[[nodiscard]] Result<control::TcpGuard::Secrets> read_secrets(const Config& config);

/// What an operator should know about how the TCP side is protected; empty: nothing.
[[nodiscard]] std::vector<std::string> exposure(const Config& config);

}  // namespace heddle::app
