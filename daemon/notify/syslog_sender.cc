// Syslog: to the socket of this host, as datagrams, or over TCP.

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/local/datagram_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <utility>
#include <variant>

#include "notice/syslog.h"
#include "notify/resolve.h"
#include "notify/sender.h"

namespace heddle::notify {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using asio::ip::udp;
using asio::local::datagram_protocol;
using boost::system::error_code;

/// One message under way. A datagram for each notice; over TCP all in one connection, which the receiver
/// closes when it has read to its end: then it has them, as far as syslog lets anybody know.
class Passage : public std::enable_shared_from_this<Passage> {
 public:
  Passage(asio::io_context& io, const SyslogAddress& address, std::vector<std::string> lines,
          Sender::Done done)
      : io_{io}, address_{address}, lines_{std::move(lines)}, done_{std::move(done)} {}

  void begin(std::chrono::milliseconds timeout) {
    timer_.expires_after(timeout);
    timer_.async_wait([self = shared_from_this()](error_code wrong) {
      if (!wrong) self->end("not taken within the timeout");
    });
    if (address_.way == SyslogAddress::Way::Local) return open_local();
    auto lookup = look_up(io_, address_.host, [weak = weak_from_this()](Result<Addresses> found) {
      const auto self = weak.lock();
      if (!self || !self->done_) return;
      if (!found) return self->end(found.error().message);
      self->addresses_ = *std::move(found);
      self->open_remote();
    });
    if (done_) lookup_ = std::move(lookup);
  }

  void close() {
    done_ = nullptr;
    timer_.cancel();
    lookup_.reset();
    error_code ignored;
    local_.close(ignored);
    udp_.close(ignored);
    tcp_.close(ignored);
  }

 private:
  template <class Then>
  auto then(const char* step, Then what) {
    return [self = shared_from_this(), step, what](error_code wrong, const auto&...) {
      if (!self->done_) return;
      if (wrong) return self->end(fmt::format("{}: {}", step, wrong.message()));
      what(*self);
    };
  }

  void open_local() {
    error_code wrong;
    local_.open({}, wrong);
    if (!wrong) local_.connect(datagram_protocol::endpoint{address_.host}, wrong);
    if (wrong) return end(fmt::format("cannot connect: {}", wrong.message()));
    next_line(local_);
  }

  void open_remote() {
    const auto port = static_cast<std::uint16_t>(std::stoi(address_.port));
    if (address_.way == SyslogAddress::Way::Tcp) {
      for (const auto& address : addresses_) ends_.emplace_back(address, port);
      asio::async_connect(tcp_, ends_, then("cannot connect", [](Passage& self) { self.write_stream(); }));
      return;
    }
    error_code wrong;
    const udp::endpoint to{addresses_.front(), port};
    udp_.open(to.protocol(), wrong);
    if (!wrong) udp_.connect(to, wrong);
    if (wrong) return end(fmt::format("cannot connect: {}", wrong.message()));
    next_line(udp_);
  }

  template <class Socket>
  void next_line(Socket& socket) {
    if (sent_ == lines_.size()) return end({});
    socket.async_send(asio::buffer(lines_[sent_]), then("cannot send", [&socket](Passage& self) {
                        ++self.sent_;
                        self.next_line(socket);
                      }));
  }

  void write_stream() {
    for (const std::string& line : lines_) stream_ += notice::framed(line);
    asio::async_write(tcp_, asio::buffer(stream_),
                      then("cannot send", [](Passage& self) { self.await_end(); }));
  }

  void await_end() {
    error_code wrong;
    tcp_.shutdown(tcp::socket::shutdown_send, wrong);
    tcp_.async_read_some(asio::buffer(answer_), [self = shared_from_this()](error_code ended, std::size_t) {
      if (!self->done_) return;
      // What a receiver says here has no meaning in syslog.
      if (!ended) return self->await_end();
      if (ended == asio::error::eof) return self->end({});
      self->end(fmt::format("the connection broke: {}", ended.message()));
    });
  }

  void end(const std::string& why) {
    if (!done_) return;
    const Sender::Done done = std::move(done_);
    close();
    done({why.empty() ? Sent::How::Delivered : Sent::How::Failed, why});
  }

  asio::io_context& io_;
  SyslogAddress address_;
  std::vector<std::string> lines_;
  Sender::Done done_;
  asio::steady_timer timer_{io_};
  std::unique_ptr<Lookup> lookup_;
  Addresses addresses_;
  std::vector<tcp::endpoint> ends_;
  datagram_protocol::socket local_{io_};
  udp::socket udp_{io_};
  tcp::socket tcp_{io_};
  std::size_t sent_ = 0;
  std::string stream_;
  std::array<char, 256> answer_{};
};

class SyslogSender final : public Sender {
 public:
  SyslogSender(asio::io_context& io, SyslogAddress address, std::chrono::milliseconds timeout,
               const notice::Teller& teller)
      : io_{io}, address_{std::move(address)}, timeout_{timeout}, source_{teller, getpid()} {}
  ~SyslogSender() override {
    if (under_way_) under_way_->close();
  }
  SyslogSender(const SyslogSender&) = delete;
  SyslogSender& operator=(const SyslogSender&) = delete;

  void send(const Message& message, Done done) override {
    const std::size_t most =
        address_.way == SyslogAddress::Way::Tcp ? notice::most_line : notice::most_datagram;
    std::vector<std::string> lines;
    for (const auto& notice : message.notices) lines.push_back(notice::syslog_message(notice, source_, most));
    under_way_ =
        std::make_shared<Passage>(io_, address_, std::move(lines), [this, done = std::move(done)](Sent sent) {
          under_way_.reset();
          done(std::move(sent));
        });
    asio::post(io_, [passage = under_way_, timeout = timeout_] { passage->begin(timeout); });
  }

 private:
  asio::io_context& io_;
  SyslogAddress address_;
  std::chrono::milliseconds timeout_;
  notice::SyslogSource source_;
  std::shared_ptr<Passage> under_way_;
};

}  // namespace

Result<std::unique_ptr<Sender>> syslog_sender(asio::io_context& io, const Destination& destination,
                                              const notice::Teller& teller) {
  auto address = parse_syslog(destination.address);
  if (!address) return fail("address", address.error());
  return std::make_unique<SyslogSender>(io, *std::move(address), destination.timeout, teller);
}

}  // namespace heddle::notify
