/// Answers the command line as heddled would, from recorded text: a thread on a Unix socket of its own. What
/// it was asked can be read when it has ended.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace heddle::cli {

class FakeDaemon {
 public:
  struct Answer {
    std::string body;
    int status = 200;
  };
  struct Asked {
    std::string verb;
    std::string target;
    std::string body;
  };

  /// By path without its query. What is not there is answered with 404.
  explicit FakeDaemon(std::map<std::string, Answer> answers) : answers_{std::move(answers)} {
    path_ = ::testing::TempDir() + "heddle-cli-" + std::to_string(getpid()) + ".sock";
    unlink(path_.c_str());
    listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path_.c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener_, 8), 0);
    thread_ = std::thread([this] { serve(); });
  }
  ~FakeDaemon() {
    if (thread_.joinable()) end();
    unlink(path_.c_str());
  }
  FakeDaemon(const FakeDaemon&) = delete;
  FakeDaemon& operator=(const FakeDaemon&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Nothing listens any more.
  const std::vector<Asked>& end() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
    return asked_;
  }

 private:
  void serve() {
    for (int client = accept(listener_, nullptr, nullptr); client >= 0;
         client = accept(listener_, nullptr, nullptr)) {
      answer(client);
      close(client);
    }
  }
  void answer(int client) {
    std::string request;
    char bytes[4096];
    std::size_t length = 0;
    for (std::size_t head = std::string::npos;
         head == std::string::npos || request.size() < head + 4 + length;) {
      const ssize_t got = read(client, bytes, sizeof bytes);
      if (got <= 0) return;
      request.append(bytes, static_cast<std::size_t>(got));
      head = request.find("\r\n\r\n");
      const auto field = request.find("Content-Length: ");
      if (field != std::string::npos && field < head) length = std::stoul(request.substr(field + 16));
    }
    Asked asked;
    asked.verb = request.substr(0, request.find(' '));
    const std::size_t from = asked.verb.size() + 1;
    asked.target = request.substr(from, request.find(' ', from) - from);
    asked.body = request.substr(request.find("\r\n\r\n") + 4);
    const auto found = answers_.find(asked.target.substr(0, asked.target.find('?')));
    const Answer reply =
        found == answers_.end() ? Answer{R"({"error":"there is no such path"})", 404} : found->second;
    asked_.push_back(std::move(asked));
    const std::string text = "HTTP/1.1 " + std::to_string(reply.status) +
                             " X\r\nContent-Length: " + std::to_string(reply.body.size()) +
                             "\r\nConnection: close\r\n\r\n" + reply.body;
    for (std::size_t sent = 0; sent < text.size();) {
      const ssize_t written = write(client, text.data() + sent, text.size() - sent);
      if (written <= 0) return;
      sent += static_cast<std::size_t>(written);
    }
  }

  std::map<std::string, Answer> answers_;
  std::string path_;
  int listener_ = -1;
  std::thread thread_;
  std::vector<Asked> asked_;
};

}  // namespace heddle::cli
