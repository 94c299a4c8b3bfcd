#include "app/plugin_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <istream>

namespace heddle::opensm {
namespace {

namespace asio = boost::asio;
using testing::ElementsAre;

constexpr const char* hello = "{\"event\":\"hello\",\"protocol\":1,\"state\":\"master\"}\n";

class Server : public testing::Test {
 protected:
  void SetUp() override {
    path_ = "@heddle-plugin-test-" + std::to_string(::getpid());
    auto server = PluginServer::listen(
        io_, path_,
        {[this](const PluginEvent& event) {
           events_.push_back(event.kind);
           if (!event.state.empty()) states_.push_back(event.state);
           window_ = event.window;
         },
         [this] { ++gone_; }, [this](const Error& error) { troubles_.push_back(error.message); }});
    ASSERT_TRUE(server) << server.error().message;
    server_ = std::move(*server);
  }
  [[nodiscard]] asio::local::stream_protocol::socket connect() {
    asio::local::stream_protocol::socket socket(io_);
    socket.connect(asio::local::stream_protocol::endpoint(std::string(1, '\0') + path_.substr(1)));
    return socket;
  }
  template <class Done>
  void run_until(Done done) {
    for (int i = 0; i < 1000 && !done(); ++i) io_.run_one();
    ASSERT_TRUE(done());
  }

  asio::io_context io_;
  std::string path_;
  std::unique_ptr<PluginServer> server_;
  std::vector<PluginEvent::Kind> events_;
  std::vector<std::string> states_;
  bool window_ = false;
  std::vector<std::string> troubles_;
  int gone_ = 0;
};

TEST_F(Server, TakesLinesInWhateverPiecesTheyCome) {
  auto plugin = connect();
  const std::string text = std::string(hello) + "{\"event\":\"subnet_up\"}\n";
  for (const char c : text) {
    asio::write(plugin, asio::buffer(&c, 1));
    io_.poll();
  }
  run_until([&] { return events_.size() == 2; });
  EXPECT_THAT(events_, ElementsAre(PluginEvent::Kind::Hello, PluginEvent::Kind::SubnetUp));
  EXPECT_TRUE(server_->connected());
}

// See HttpTest.WithoutFileDescriptorsItPausesAndGoesOn.
#ifndef HEDDLE_ADDRESS_SANITIZER
TEST_F(Server, WithoutFileDescriptorsItPausesAndGoesOn) {
  auto plugin = connect();
  asio::write(plugin, asio::buffer(std::string(hello)));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  // Endless when it asks for the next one at once.
  std::size_t handlers = 0;
  while (io_.poll_one() > 0 && handlers < 1000) ++handlers;
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_LT(handlers, 1000U);
  run_until([&] { return server_->connected(); });
}
#endif

TEST_F(Server, TellsThePlugin) {
  auto plugin = connect();
  server_->tell(PluginCommand::NewPlan);  // nobody there yet
  asio::write(plugin, asio::buffer(std::string(hello)));
  run_until([&] { return server_->connected(); });
  server_->tell(PluginCommand::NewPlan);
  server_->tell(PluginCommand::HeavySweep);
  io_.poll();
  asio::streambuf buffer;
  std::istream lines(&buffer);
  std::string line;
  asio::read_until(plugin, buffer, '\n');
  std::getline(lines, line);
  EXPECT_EQ(line, R"({"command":"new_plan"})");
}

TEST_F(Server, NoticesThatAPluginIsGoneAndTakesTheNext) {
  {
    auto plugin = connect();
    asio::write(plugin, asio::buffer(std::string(hello)));
    run_until([&] { return server_->connected(); });
  }
  run_until([&] { return gone_ == 1; });
  EXPECT_FALSE(server_->connected());
  auto next = connect();
  asio::write(next, asio::buffer(std::string(hello)));
  run_until([&] { return server_->connected(); });
}

std::string hello_of(const char* state) {
  return std::string("{\"event\":\"hello\",\"protocol\":1,\"state\":\"") + state + "\"}\n";
}
std::string state_of(const char* state) {
  return std::string("{\"event\":\"sm_state\",\"state\":\"") + state + "\"}\n";
}

/// A standby's plugin threw the master's out, and was thrown out by it, thousands of times a second.
TEST_F(Server, TheOneThatIsTheMasterCounts) {
  auto standby = connect();
  asio::write(standby, asio::buffer(hello_of("standby")));
  run_until([&] { return server_->connected(); });
  EXPECT_EQ(states_.back(), "standby");
  auto master = connect();
  asio::write(master, asio::buffer(hello_of("master")));
  run_until([&] { return states_.back() == "master"; });
  EXPECT_EQ(gone_, 1);
  EXPECT_TRUE(server_->has_others());
  // What the other one says is nobody's affair; it stays connected.
  asio::write(standby, asio::buffer(std::string("{\"event\":\"heavy_sweep_start\"}\n")));
  asio::write(standby, asio::buffer(hello_of("standby")));
  asio::write(master, asio::buffer(std::string("{\"event\":\"subnet_up\"}\n")));
  run_until([&] { return events_.back() == PluginEvent::Kind::SubnetUp; });
  EXPECT_THAT(events_,
              ElementsAre(PluginEvent::Kind::Hello, PluginEvent::Kind::Hello, PluginEvent::Kind::SubnetUp));
  EXPECT_EQ(gone_, 1);

  // Mastership is handed over.
  asio::write(master, asio::buffer(state_of("standby")));
  run_until([&] { return states_.back() == "standby"; });
  EXPECT_EQ(gone_, 1);
  asio::write(standby, asio::buffer(std::string("{\"event\":\"subnet_up\"}\n")));
  run_until([&] { return gone_ == 2; });
  EXPECT_EQ(events_.back(), PluginEvent::Kind::Hello);
  EXPECT_EQ(states_.back(), "master");
  EXPECT_TRUE(window_);
  standby.close();
  run_until([&] { return gone_ == 3; });
  EXPECT_TRUE(server_->connected()) << "the other one is better than none";
}

TEST_F(Server, AnotherMasterDoesNotTakeThePlaceOfOne) {
  auto first = connect();
  asio::write(first, asio::buffer(hello_of("master")));
  run_until([&] { return server_->connected(); });
  auto second = connect();
  asio::write(second, asio::buffer(hello_of("master")));
  run_until([&] { return server_->has_others(); });
  EXPECT_EQ(gone_, 0);
  EXPECT_EQ(events_.size(), 1U);
}

TEST_F(Server, ClosesOnWhatItDoesNotUnderstand) {
  for (const std::string& text :
       {std::string("{\"event\":\"subnet_up\"}\n"), std::string("nonsense\n"), std::string(70'000, 'x')}) {
    auto plugin = connect();
    const auto before = troubles_.size();
    boost::system::error_code ignored;
    asio::write(plugin, asio::buffer(text), ignored);
    run_until([&] { return troubles_.size() == before + 1; });
    EXPECT_FALSE(server_->connected());
  }
  EXPECT_TRUE(events_.empty());
}

}  // namespace
}  // namespace heddle::opensm
