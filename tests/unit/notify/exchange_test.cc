#include "notify/exchange.h"

#include <gtest/gtest.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <utility>

namespace heddle::notify {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using Tcp = asio::ip::tcp;

/// Takes one request on loopback, writes what it was given, piece by piece, and closes.
class Receiver {
 public:
  Receiver(asio::io_context& io, std::deque<std::string> pieces)
      : acceptor_{io, {asio::ip::address_v4::loopback(), 0}}, socket_{io}, pieces_{std::move(pieces)} {
    acceptor_.async_accept(socket_, [this](boost::system::error_code wrong) {
      if (!wrong) read();
    });
  }
  [[nodiscard]] WebAddress address() const {
    return {false, "127.0.0.1", std::to_string(acceptor_.local_endpoint().port()), "/hook"};
  }
  [[nodiscard]] const std::string& request() const { return request_; }

 private:
  void read() {
    asio::async_read_until(socket_, asio::dynamic_buffer(request_), "{}",
                           [this](boost::system::error_code wrong, std::size_t) {
                             if (!wrong) write();
                           });
  }
  void write() {
    if (pieces_.empty()) return socket_.close();
    asio::async_write(socket_, asio::buffer(pieces_.front()),
                      [this](boost::system::error_code wrong, std::size_t) {
                        pieces_.pop_front();
                        if (!wrong) write();
                      });
  }

  Tcp::acceptor acceptor_;
  Tcp::socket socket_;
  std::deque<std::string> pieces_;
  std::string request_;
};

struct Outcome {
  Result<WebAnswer> answer;
  std::string request;
};

Outcome outcome_of(std::deque<std::string> pieces, std::optional<std::uint64_t> most_body) {
  asio::io_context io{1};
  Receiver receiver{io, std::move(pieces)};
  std::optional<Result<WebAnswer>> answer;
  const auto under_way =
      exchange(io, nullptr, receiver.address(), 60s, {"/hook", "{}", "Bearer x", most_body},
               [&answer](Result<WebAnswer> got) { answer.emplace(std::move(got)); });
  while (!answer) io.run_one();
  return {*std::move(answer), receiver.request()};
}

TEST(Exchange, AsksForAnEndOfTheConnection) {
  const auto [answer, request] = outcome_of({"HTTP/1.1 204 No Content\r\n\r\n"}, std::nullopt);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 204U);
  EXPECT_TRUE(request.starts_with("POST /hook HTTP/1.1\r\nHost: 127.0.0.1:")) << request;
  EXPECT_NE(request.find("\r\nConnection: close\r\n"), std::string::npos) << request;
  EXPECT_NE(request.find("\r\nContent-Length: 2\r\n"), std::string::npos) << request;
  EXPECT_NE(request.find("\r\nAuthorization: Bearer x\r\n"), std::string::npos) << request;
  EXPECT_TRUE(request.ends_with("\r\n\r\n{}")) << request;
}

TEST(Exchange, NeedsNoMoreThanTheHeadWhereNobodyWantsTheBody) {
  const auto [answer, request] =
      outcome_of({"HTTP/1.1 200 OK\r\nContent-Le", "ngth: 1000000000\r\n\r\nonly this"}, std::nullopt);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200U);
}

TEST(Exchange, PutsABodyTogether) {
  const auto chunked = outcome_of(
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nwe", "av\r", "\n2\r\ner\r\n0\r", "\n\r\n"},
      100);
  ASSERT_TRUE(chunked.answer) << chunked.answer.error().message;
  EXPECT_EQ(chunked.answer->body, "weaver");
  const auto sized = outcome_of({"HTTP/1.1 500 No\r\nContent-Length: 6\r\n\r\nwea", "ver"}, 6);
  ASSERT_TRUE(sized.answer) << sized.answer.error().message;
  EXPECT_EQ(sized.answer->status, 500U);
  EXPECT_EQ(sized.answer->body, "weaver");
  const auto to_the_end = outcome_of({"HTTP/1.1 200 OK\r\n\r\nwea", "ver"}, 100);
  ASSERT_TRUE(to_the_end.answer) << to_the_end.answer.error().message;
  EXPECT_EQ(to_the_end.answer->body, "weaver");
}

TEST(Exchange, SaysThatThereIsNoAnswer) {
  const auto failure = [](std::deque<std::string> pieces) {
    const auto outcome = outcome_of(std::move(pieces), 5);
    return outcome.answer ? std::string{"none"} : outcome.answer.error().message;
  };
  EXPECT_EQ(failure({}), "no answer: end of stream");
  EXPECT_EQ(failure({"HTTP/1.1 200"}), "no answer: partial message");
  EXPECT_EQ(failure({"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwea"}), "no answer: partial message");
  EXPECT_EQ(failure({"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nweaver"}),
            "no answer: body limit exceeded");
  EXPECT_EQ(failure({"SSH-2.0-OpenSSH\r\n\r\n"}), "no answer: bad version");
}

TEST(Exchange, IsSilentAfterItsEnd) {
  asio::io_context io{1};
  Receiver receiver{io, {"HTTP/1.1 204 No Content\r\n\r\n"}};
  bool called = false;
  auto under_way = exchange(io, nullptr, receiver.address(), 60s, {"/hook", "{}"},
                            [&called](const Result<WebAnswer>&) { called = true; });
  for (int steps = 0; steps < 3; ++steps) io.poll_one();
  under_way.reset();
  io.poll();
  EXPECT_FALSE(called);
}

}  // namespace
}  // namespace heddle::notify
