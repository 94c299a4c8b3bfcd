/// One client of an HttpServer, from its first byte to its last. For the .cc files of the doors: what differs
/// between them is the stream.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/stream_base.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "control/http.h"
#include "control/request_rules.h"
#include "control/response_head.h"
#include "control/shared_body.h"
#include "control/target.h"
#include "control/visitors.h"

namespace heddle::control {

/// Of TCP or of a Unix socket: not two types, since all that reads and writes is compiled for each.
using PlainStream =
    boost::beast::basic_stream<boost::asio::generic::stream_protocol, boost::asio::any_io_executor>;

/// What all connections of one server share. Outlives the server when a handler answers late.
struct Door {
  Handler handler;
  HttpLimits limits;
  DoorRules rules;
  Visitors readers{{limits.connections, limits.per_peer}};
  Visitors changers{{limits.connections, limits.per_peer}};
  std::size_t own_answers = 0;  ///< bytes; see HttpLimits::own_answer_bytes
  bool stopped = false;
};

/// Keeps itself alive while an operation is pending.
template <class Stream>
class Connection : public std::enable_shared_from_this<Connection<Stream>> {
 public:
  Connection(Stream stream, std::shared_ptr<Door> door, Access access, Peer peer)
      : stream_{std::move(stream)},
        door_{std::move(door)},
        access_{access},
        peer_{std::move(peer)},
        buffer_{door_->limits.head_bytes + 1024} {}
  ~Connection() {
    visitors().left(visit_);
    forget_answer();
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void begin() {
    // Another one is closed here, never this one.
    visit_ = visitors().enter(peer_, [weak = this->weak_from_this()] {
      if (const auto self = weak.lock()) self->close();
    });
    if constexpr (in_tls) {
      lowest().expires_after(door_->limits.head_time);
      stream_.async_handshake(boost::asio::ssl::stream_base::server,
                              [self = this->shared_from_this()](Error wrong) {
                                if (wrong || self->door_->stopped) return self->close();
                                self->read_head();
                              });
    } else {
      read_head();
    }
  }

 private:
  using Error = boost::system::error_code;
  static constexpr bool in_tls = requires(Stream & stream) { stream.native_handle(); };
  using Buffers = std::array<boost::asio::const_buffer, 3>;

  [[nodiscard]] Visitors& visitors() { return access_ >= Access::Change ? door_->changers : door_->readers; }
  [[nodiscard]] auto& lowest() { return boost::beast::get_lowest_layer(stream_); }

  /// The rest of the time until the next request is nobody's fault; from its first byte on the client owes us
  /// a head.
  void await_request() {
    if (buffer_.size() > 0) return read_head();
    lowest().expires_after(door_->limits.idle_time);
    stream_.async_read_some(buffer_.prepare(512),
                            [self = this->shared_from_this()](Error wrong, std::size_t got) {
                              if (wrong || self->door_->stopped) return self->close();
                              self->buffer_.commit(got);
                              self->read_head();
                            });
  }

  void read_head() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(door_->limits.head_bytes));
    parser_->body_limit(door_->limits.body_bytes);
    lowest().expires_after(door_->limits.head_time);
    boost::beast::http::async_read_header(
        stream_, buffer_, *parser_,
        [self = this->shared_from_this()](Error wrong, std::size_t) { self->on_head(wrong); });
  }

  void on_head(Error wrong) {
    if (unreadable(wrong)) return;
    visitors().moved(visit_, Visitors::Doing::Nothing);
    version_ = parser_->get().version();
    head_only_ = parser_->get().method() == boost::beast::http::verb::head;
    if (auto refused = refusal(parser_->get(), access_, door_->rules)) {
      keep_alive_ = false;
      return finish(*std::move(refused));
    }
    if (parser_->is_done()) return handle();
    lowest().expires_after(door_->limits.progress_time);
    boost::beast::http::async_read(stream_, buffer_, *parser_,
                                   [self = this->shared_from_this()](Error broken, std::size_t) {
                                     if (!self->unreadable(broken)) self->handle();
                                   });
  }

  /// Also answers, where an answer makes sense.
  bool unreadable(Error wrong) {
    namespace http = boost::beast::http;
    if (!wrong && !door_->stopped) return false;
    keep_alive_ = false;
    version_ = 11;
    head_only_ = false;
    const bool large = wrong == http::error::body_limit || wrong == http::error::header_limit ||
                       wrong == http::error::buffer_overflow;
    const bool malformed = wrong.category() == http::make_error_code(http::error::bad_version).category() &&
                           wrong != http::error::end_of_stream && wrong != http::error::partial_message;
    if (!door_->stopped && large) {
      finish(error_response({ErrorCode::Invalid, "the request is too large"}));
    } else if (!door_->stopped && malformed) {
      finish(error_response({ErrorCode::Invalid, "not an HTTP request: " + wrong.message()}));
    } else {
      close();
    }
    return true;
  }

  void handle() {
    auto message = parser_->release();
    keep_alive_ = message.keep_alive();
    auto target = parse_target({message.target().data(), message.target().size()});
    if (!target) return finish(error_response(target.error()));
    const Request request{message.method() == boost::beast::http::verb::post,
                          std::move(target->path),
                          std::move(target->query),
                          std::move(message.body()),
                          access_,
                          std::string{message[boost::beast::http::field::if_none_match]},
                          peer_,
                          takes_gzip(message),
                          takes_open_metrics(message)};
    parser_.reset();
    // The handler may take its time; an answer has its deadlines from its beginning.
    lowest().expires_never();
    visitors().moved(visit_, Visitors::Doing::TakesAnAnswer);
    door_->handler(request, [self = this->shared_from_this()](Response response) mutable {
      if (auto held = std::exchange(self, nullptr)) held->finish(std::move(response));
    });
  }

  void finish(Response response) {
    if (closed_ || door_->stopped) return close();
    response_ = std::move(response);
    // One that somebody else keeps as well costs nothing more.
    const std::size_t own = response_.body && response_.body.use_count() == 1 ? response_.body->size() : 0;
    if (own > slice_bytes && access_ == Access::Read && !head_only_) {
      if (door_->own_answers + own > door_->limits.own_answer_bytes) {
        response_ = try_later(std::chrono::seconds{2}, "too many large answers are on their way to others");
      } else {
        door_->own_answers += own;
        own_answer_ = own;
      }
    }
    const BodyKind kind = !response_.pieces             ? BodyKind::Whole
                          : version_ < 11 || head_only_ ? BodyKind::UntilTheEnd
                                                        : BodyKind::Chunked;
    if (kind == BodyKind::UntilTheEnd) keep_alive_ = false;
    head_ = response_head(response_, kind, keep_alive_ ? KeepAlive::Yes : KeepAlive::No);
    sent_ = 0;
    const bool bare = head_only_ || response_.status == 304;
    if (response_.body && !bare) return write_slice(boost::asio::buffer(head_));
    write({boost::asio::buffer(head_)}, [bare](Connection& self) {
      if (bare || (!self.response_.pieces && !self.response_.shared)) return self.written();
      if (self.response_.shared) return self.next_slice();
      self.next_piece();
    });
  }

  /// Of a body that others are being sent as well.
  void next_slice() {
    piece_ = nullptr;
    if (sent_ == response_.shared->slices()) return written();
    piece_ = response_.shared->slice(sent_++);
    if (!piece_) return close();
    write({boost::asio::buffer(*piece_)}, [](Connection& self) { self.next_slice(); });
  }

  /// Of a body that is there as a whole, perhaps behind something else.
  void write_slice(boost::asio::const_buffer before = {}) {
    const std::string_view body = response_.body ? std::string_view{*response_.body} : std::string_view{};
    const std::string_view slice = body.substr(sent_, slice_bytes);
    sent_ += slice.size();
    write({before, boost::asio::buffer(slice.data(), slice.size())}, [](Connection& self) {
      if (!self.response_.body || self.sent_ == self.response_.body->size()) return self.written();
      self.write_slice();
    });
  }

  void next_piece() {
    lowest().expires_never();
    response_.pieces([self = this->shared_from_this()](Piece piece) mutable {
      if (auto held = std::exchange(self, nullptr)) held->write_piece(std::move(piece));
    });
  }

  void write_piece(Piece piece) {
    if (closed_ || door_->stopped) return close();
    piece_ = std::move(piece);
    const bool last = !piece_ || piece_->empty();
    const bool chunked = version_ >= 11;
    const auto then = [last](Connection& self) {
      if (last) return self.written();
      self.next_piece();
    };
    if (!chunked) {
      if (last) return written();
      return write({boost::asio::buffer(*piece_)}, then);
    }
    if (last) return write({boost::asio::buffer("0\r\n\r\n", 5)}, then);
    head_ = fmt::format("{:x}\r\n", piece_->size());
    write({boost::asio::buffer(head_), boost::asio::buffer(*piece_), boost::asio::buffer("\r\n", 2)}, then);
  }

  /// Of one type, whatever follows: each type would be compiled for each stream.
  using Then = std::function<void(Connection&)>;
  void write(Buffers buffers, Then then) {
    lowest().expires_after(door_->limits.progress_time);
    boost::asio::async_write(
        stream_, buffers,
        [self = this->shared_from_this(), then = std::move(then)](Error wrong, std::size_t) {
          if (wrong || self->closed_ || self->door_->stopped) return self->close();
          self->visitors().moved(self->visit_, Visitors::Doing::TakesAnAnswer);
          then(*self);
        });
  }

  void written() {
    if (!keep_alive_) return say_goodbye();
    forget_answer();
    visitors().moved(visit_, Visitors::Doing::Nothing);
    await_request();
  }

  /// In TLS the client is told that this was the end, and no cut.
  void say_goodbye() {
    if constexpr (in_tls) {
      forget_answer();
      lowest().expires_after(door_->limits.head_time);
      stream_.async_shutdown([self = this->shared_from_this()](Error) { self->close(); });
    } else {
      close();
    }
  }

  void forget_answer() {
    door_->own_answers -= std::exchange(own_answer_, 0);
    response_ = {};
    piece_ = nullptr;
  }

  void close() {
    if (std::exchange(closed_, true)) return;
    Error ignored;
    lowest().socket().shutdown(boost::asio::socket_base::shutdown_both, ignored);
    lowest().close();
    visitors().left(visit_);
  }

  Stream stream_;
  std::shared_ptr<Door> door_;
  Access access_;
  Peer peer_;
  boost::beast::flat_buffer buffer_;
  Visitors::Id visit_ = 0;
  bool closed_ = false;

  // The request under way.
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  unsigned version_ = 11;
  bool head_only_ = false;
  bool keep_alive_ = false;

  // The answer under way.
  Response response_;
  std::string head_;            ///< of the answer, or of a chunk
  std::size_t sent_ = 0;        ///< bytes of a body of its own, slices of a shared one
  std::size_t own_answer_ = 0;  ///< counted in Door::own_answers
  Piece piece_;
};

}  // namespace heddle::control
