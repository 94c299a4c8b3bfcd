#include "control/http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <filesystem>
#include <future>
#include <thread>

#include "control/request_rules.h"
#include "control/target.h"
#include "support/scratch.h"

namespace heddle::control {
namespace {

namespace asio = boost::asio;
using testing::HasSubstr;

Handler echo() {
  return [](const Request& request, const Respond& respond) {
    respond(text_response("text/plain", request.path + (request.post ? " post " + request.body : "")));
  };
}

/// Sends bytes, half-closes, and returns all that comes back, while the server's loop runs.
template <class Protocol>
std::string exchange(asio::io_context& io, const typename Protocol::endpoint& endpoint,
                     const std::string& bytes) {
  std::string answer;
  std::thread client{[&] {
    asio::io_context own;
    typename Protocol::socket socket{own};
    socket.connect(endpoint);
    boost::system::error_code wrong;
    asio::write(socket, asio::buffer(bytes), wrong);
    socket.shutdown(Protocol::socket::shutdown_send, wrong);
    asio::read(socket, asio::dynamic_buffer(answer), wrong);
    io.stop();
  }};
  io.restart();
  io.run();
  client.join();
  return answer;
}

class HttpTest : public testing::Test {
 protected:
  test::Scratch directory;
  std::string path = directory / "control.sock";
  asio::io_context io;

  std::string ask(const std::string& bytes) {
    return exchange<asio::local::stream_protocol>(io, asio::local::stream_protocol::endpoint{path}, bytes);
  }
};

TEST_F(HttpTest, AnswersOnAUnixSocketThatOnlyItsGroupCanOpen) {
  const auto server = serve_unix(io, {path, "", false}, echo());
  ASSERT_TRUE(server) << server.error().message;
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0660U);
  EXPECT_THAT(ask("GET /a%20b?x=1 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"),
              AllOf(HasSubstr("200 OK"), HasSubstr("\r\n\r\n/a b")));
  EXPECT_THAT(ask("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"),
              HasSubstr("/p post hi"));
}

TEST_F(HttpTest, ABodyInPiecesComesWhole) {
  const auto server = serve_unix(io, {path, "", false}, [this](const Request&, const Respond& respond) {
    auto left = std::make_shared<int>(3);
    respond({200, "text/plain", nullptr, [this, left](NextPiece next) {
               const std::string piece = *left > 0 ? "piece " + std::to_string((*left)--) + ";" : "";
               asio::post(
                   io, [next = std::move(next), piece] { next(std::make_shared<const std::string>(piece)); });
             }});
  });
  ASSERT_TRUE(server);
  EXPECT_THAT(ask("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"),
              AllOf(HasSubstr("Transfer-Encoding: chunked"), HasSubstr("piece 3;"), HasSubstr("piece 1;"),
                    testing::EndsWith("\r\n0\r\n\r\n")));
}

TEST_F(HttpTest, RemovesItsSocketAndTakesOverAStaleOne) {
  {
    const auto server = serve_unix(io, {path, "", false}, echo());
    ASSERT_TRUE(server);
    const auto second = serve_unix(io, {path, "", false}, echo());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::Conflict);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  {
    asio::local::stream_protocol::acceptor stale{io, asio::local::stream_protocol::endpoint{path}};
    stale.close();
  }
  ASSERT_TRUE(std::filesystem::exists(path));
  EXPECT_TRUE(serve_unix(io, {path, "", false}, echo()));
}

TEST_F(HttpTest, RefusesToReplaceAFile) {
  std::filesystem::create_directories(path);
  EXPECT_FALSE(serve_unix(io, {path, "", false}, echo()));
}

TEST_F(HttpTest, RubbishAndLargeRequestsAreRefused) {
  const auto server = serve_unix(io, {path, "", false}, echo(), {.connections = 4, .body_bytes = 100});
  ASSERT_TRUE(server);
  EXPECT_THAT(ask("\x01\x02 rubbish\r\n\r\n"), HasSubstr("400"));
  EXPECT_THAT(ask("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 101\r\n\r\n" + std::string(101, 'x')),
              HasSubstr("too large"));
  EXPECT_THAT(ask("GET /" + std::string(100000, 'x') + " HTTP/1.1\r\n\r\n"), HasSubstr("400"));
  EXPECT_THAT(ask("GET /%zz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"), HasSubstr("400"));
}

TEST_F(HttpTest, TcpClientsMayOnlyRead) {
  const auto server = serve_tcp(io, {"127.0.0.1:0"}, echo());
  ASSERT_TRUE(server) << server.error().message;
  const asio::ip::tcp::endpoint endpoint{asio::ip::make_address("127.0.0.1"), (*server)->port()};
  const auto tcp = [&](const std::string& bytes) { return exchange<asio::ip::tcp>(io, endpoint, bytes); };
  EXPECT_THAT(tcp("GET /metrics HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"), HasSubstr("/metrics"));
  EXPECT_THAT(tcp("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
              AllOf(HasSubstr("403"), HasSubstr("read only")));
  EXPECT_FALSE(serve_tcp(io, {"localhost"}, echo()));
  EXPECT_FALSE(serve_tcp(io, {"127.0.0.1:99999"}, echo()));
}

TEST_F(HttpTest, NothingOfARequestIsKeptBeyondItsBounds) {
  const auto server = serve_unix(io, {path, "", false}, echo(), {.body_bytes = 100});
  ASSERT_TRUE(server);
  const std::string chunked = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string filler(1U << 20U, 'x');
  // A chunk's extension, and fields behind the last chunk: neither is a body, and neither may be without end.
  EXPECT_THAT(ask(chunked + "1;" + filler), HasSubstr("too large"));
  EXPECT_THAT(ask(chunked + "0\r\nfield: " + filler), HasSubstr("too large"));
  EXPECT_THAT(ask(chunked + "2\r\nhi\r\n0\r\n\r\n"), HasSubstr("/ post hi"));
}

TEST_F(HttpTest, WhatTwoReadersCouldReadDifferentlyIsRefused) {
  const auto server = serve_unix(io, {path, "", false}, echo());
  ASSERT_TRUE(server);
  const auto status = [&](const std::string& request) { return ask(request).substr(0, 12); };
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
            "HTTP/1.1 400");
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n"
                   "0\r\n\r\n"),
            "HTTP/1.1 400");
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: h\r\nHost: i\r\n\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(status("GET / HTTP/1.1\r\n\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: h\r\nOrigin: http://h\r\nOrigin: http://i\r\n\r\n"),
            "HTTP/1.1 400");
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: h\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n"),
            "HTTP/1.1 400");
  EXPECT_EQ(status("GET / HTTP/1.0\r\n\r\n"), "HTTP/1.1 200");
}

/// What was asked stood in it as it came: no JSON where that was no UTF-8.
TEST(ErrorResponse, HasNothingThatNobodySees) {
  const auto response = error_response({ErrorCode::NotFound, "there is nothing at /\xff\u200b\x1b[2J"});
  EXPECT_EQ(*response.body, "{\"error\":\"there is nothing at /???[2J\"}\n");
}

TEST_F(HttpTest, KnowsMethodsFromOthers) {
  const auto server = serve_unix(io, {path, "", false}, echo());
  ASSERT_TRUE(server);
  EXPECT_THAT(ask("DELETE / HTTP/1.1\r\nHost: h\r\n\r\n"),
              AllOf(HasSubstr("405 Method Not Allowed"), HasSubstr("Allow: GET, HEAD, POST")));
  EXPECT_THAT(ask("BREW / HTTP/1.1\r\nHost: h\r\n\r\n"), HasSubstr("501 Not Implemented"));
  EXPECT_THAT(ask("HEAD /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"),
              AllOf(HasSubstr("200 OK"), HasSubstr("Content-Length: 2\r\n"), testing::EndsWith("\r\n\r\n")));
}

TEST_F(HttpTest, WhoMayOnlyReadSendsNoBody) {
  const auto server = serve_tcp(io, {"127.0.0.1:0"}, echo());
  ASSERT_TRUE(server);
  const asio::ip::tcp::endpoint endpoint{asio::ip::make_address("127.0.0.1"), (*server)->port()};
  const auto answer = exchange<asio::ip::tcp>(
      io, endpoint, "GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_THAT(answer, AllOf(HasSubstr("400"), HasSubstr("sends no body")));
}

TEST_F(HttpTest, OverTcpOnlyKnownNamesAreAnswered) {
  const auto names = std::make_shared<const HostNames>(std::vector<std::string>{"fabric.example.org"});
  const auto server = serve_tcp(io, {"127.0.0.1:0", names}, echo());
  ASSERT_TRUE(server);
  const asio::ip::tcp::endpoint endpoint{asio::ip::make_address("127.0.0.1"), (*server)->port()};
  const auto with = [&](const std::string& headers) {
    return exchange<asio::ip::tcp>(io, endpoint,
                                   "GET / HTTP/1.1\r\nConnection: close\r\n" + headers + "\r\n");
  };
  EXPECT_THAT(with("Host: Fabric.Example.ORG:9683\r\n"), HasSubstr("200 OK"));
  EXPECT_THAT(with("Host: evil.example.com\r\n"), AllOf(HasSubstr("403"), HasSubstr("control.hosts")));
  EXPECT_THAT(with("Host: localhost\r\nOrigin: http://evil.example.com\r\n"), HasSubstr("403"));
  EXPECT_THAT(with("Host: localhost\r\nOrigin: http://localhost:9683\r\n"), HasSubstr("200 OK"));
}

/// Connects and sends, and leaves the connection open.
template <class Protocol>
typename Protocol::socket open_client(asio::io_context& io, const typename Protocol::endpoint& endpoint,
                                      const std::string& bytes = "") {
  typename Protocol::socket socket{io};
  socket.connect(endpoint);
  if (!bytes.empty()) asio::write(socket, asio::buffer(bytes));
  return socket;
}

TEST_F(HttpTest, IdleClientsShutNobodyOut) {
  const auto server = serve_tcp(io, {"127.0.0.1:0"}, echo(), {.connections = 4, .per_peer = 4});
  ASSERT_TRUE(server);
  const asio::ip::tcp::endpoint endpoint{asio::ip::make_address("127.0.0.1"), (*server)->port()};
  std::vector<asio::ip::tcp::socket> idle;
  for (int i = 0; i < 10; ++i) idle.push_back(open_client<asio::ip::tcp>(io, endpoint));
  io.poll();
  EXPECT_THAT(
      exchange<asio::ip::tcp>(io, endpoint, "GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"),
      HasSubstr("200 OK"));
}

TEST_F(HttpTest, AHeadThatIsTooSlowIsCutOff) {
  const auto server = serve_tcp(io, {"127.0.0.1:0"}, echo(), {.head_time = std::chrono::milliseconds{1}});
  ASSERT_TRUE(server);
  const asio::ip::tcp::endpoint endpoint{asio::ip::make_address("127.0.0.1"), (*server)->port()};
  auto slow = open_client<asio::ip::tcp>(io, endpoint, "GET / HT");
  boost::system::error_code end;
  char byte = 0;
  slow.async_read_some(asio::buffer(&byte, 1), [&](boost::system::error_code wrong, std::size_t) {
    end = wrong;
    io.stop();
  });
  io.run();
  EXPECT_EQ(end, asio::error::eof);
}

// Without file descriptors a connection stays in the queue of the kernel, which says so again and again.
// The sanitizer opens a pipe to see whether memory can be read, and takes having no descriptor for an invalid
// object.
#ifndef HEDDLE_ADDRESS_SANITIZER
TEST_F(HttpTest, WithoutFileDescriptorsItPausesAndGoesOn) {
  const auto server =
      serve_unix(io, {path, "", false}, echo(), {.accept_pause = std::chrono::milliseconds{1}});
  ASSERT_TRUE(server);
  auto client = open_client<asio::local::stream_protocol>(io, asio::local::stream_protocol::endpoint{path},
                                                          "GET /x HTTP/1.0\r\n\r\n");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  // Endless when it asks for the next one at once.
  std::size_t handlers = 0;
  while (io.poll_one() > 0 && handlers < 1000) ++handlers;
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_LT(handlers, 1000U);
  std::string answer;
  asio::async_read(client, asio::dynamic_buffer(answer),
                   [&](boost::system::error_code, std::size_t) { io.stop(); });
  io.restart();
  io.run();
  EXPECT_THAT(answer, HasSubstr("200 OK"));
}
#endif

TEST_F(HttpTest, AnAnswerAfterTheServerIsGoneHarmsNobody) {
  Respond late;
  auto server = serve_unix(io, {path, "", false}, [&](const Request&, Respond respond) {
    late = std::move(respond);
    io.stop();
  });
  ASSERT_TRUE(server);
  asio::local::stream_protocol::socket client{io};
  client.connect(asio::local::stream_protocol::endpoint{path});
  asio::write(client, asio::buffer(std::string{"GET / HTTP/1.1\r\nHost: h\r\n\r\n"}));
  io.run();
  server->reset();
  ASSERT_TRUE(late);
  late(text_response("text/plain", "too late"));
  late = nullptr;
  io.restart();
  io.poll();
}

TEST(Target, OfANameThatIsAListAllValuesCount) {
  const auto target = parse_target("/metrics?collect[]=a&x=1&collect%5B%5D=b&x=2");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->query.at("collect[]"), "a,b");
  EXPECT_EQ(target->query.at("x"), "2");
}

TEST(Accept, OpenMetricsIsForWhoPrefersIt) {
  const auto takes = [](const char* accept) {
    RequestHead head;
    head.set(boost::beast::http::field::accept, accept);
    return takes_open_metrics(head);
  };
  // Prometheus 2.42, and 2.5 to 2.40.
  EXPECT_TRUE(
      takes("application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
            "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"));
  EXPECT_TRUE(takes("application/openmetrics-text; version=0.0.1,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"));
  EXPECT_TRUE(takes("Application/OpenMetrics-Text"));
  for (const char* accept : {"", "*/*", "text/plain", "text/html,application/xml;q=0.9,*/*;q=0.8",
                             ",;,;q=", "application/openmetrics-text;q=0", "application/openmetrics-text;q=x",
                             "text/plain;version=0.0.4,application/openmetrics-text;q=0.5"}) {
    EXPECT_FALSE(takes(accept)) << accept;
  }
}

TEST(Target, QueryIsDecoded) {
  const auto target = parse_target("/v1/links?filter=a%26b+c&top=5&flag");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/v1/links");
  EXPECT_EQ(target->query.at("filter"), "a&b c");
  EXPECT_EQ(target->query.at("top"), "5");
  EXPECT_EQ(target->query.at("flag"), "");
  EXPECT_FALSE(parse_target("no-slash"));
  EXPECT_FALSE(parse_target("/%00"));
  EXPECT_FALSE(parse_target("/%4"));
}

}  // namespace
}  // namespace heddle::control
