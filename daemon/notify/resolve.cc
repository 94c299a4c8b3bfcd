#include "notify/resolve.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstring>
#include <thread>
#include <utility>

namespace heddle::notify {
namespace {

namespace asio = boost::asio;

/// Threads that wait for a resolver. With more, it is not asked at all.
constexpr int most_threads = 8;
std::atomic<int> threads_waiting{0};

/// Shared with the thread, which may end long after everybody else.
struct Answer {
  std::string host;
  int to = -1;  ///< closed when the rest is there
  std::atomic<bool> there = false;
  Addresses found;
  std::string error;
};

void ask_the_resolver(const std::shared_ptr<Answer>& answer) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* list = nullptr;
  const int wrong = getaddrinfo(answer->host.c_str(), nullptr, &hints, &list);
  if (wrong != 0) answer->error = gai_strerror(wrong);
  for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
    if (each->ai_family == AF_INET) {
      sockaddr_in v4{};
      std::memcpy(&v4, each->ai_addr, sizeof v4);
      answer->found.emplace_back(asio::ip::address_v4{ntohl(v4.sin_addr.s_addr)});
    } else if (each->ai_family == AF_INET6) {
      sockaddr_in6 v6{};
      std::memcpy(&v6, each->ai_addr, sizeof v6);
      asio::ip::address_v6::bytes_type bytes{};
      std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
      answer->found.emplace_back(asio::ip::address_v6{bytes, v6.sin6_scope_id});
    }
  }
  if (list != nullptr) freeaddrinfo(list);
  --threads_waiting;
  answer->there.store(true, std::memory_order_release);
  close(answer->to);
}

class ThreadedLookup final : public Lookup {
 public:
  using Done = std::function<void(Result<Addresses>)>;

  ThreadedLookup(asio::io_context& io, int from, std::shared_ptr<Answer> answer, Done done)
      : from_{io, from}, answer_{std::move(answer)}, done_{std::move(done)} {
    from_.async_wait(asio::posix::stream_descriptor::wait_read,
                     [this, alive = std::weak_ptr(alive_)](const boost::system::error_code& wrong) {
                       if (wrong || alive.expired()) return;
                       told();
                     });
  }

 private:
  void told() {
    const Done done = std::move(done_);
    if (!answer_->there.load(std::memory_order_acquire) || answer_->found.empty()) {
      return done(fail(ErrorCode::NotFound, fmt::format("its name is not known: {}", answer_->error)));
    }
    done(answer_->found);
  }

  asio::posix::stream_descriptor from_;
  std::shared_ptr<Answer> answer_;
  Done done_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace

std::unique_ptr<Lookup> look_up(asio::io_context& io, const std::string& host,
                                std::function<void(Result<Addresses>)> done) {
  boost::system::error_code no_address;
  const auto literal = asio::ip::make_address(host, no_address);
  if (!no_address) {
    done(Addresses{literal});
    return nullptr;
  }
  std::array<int, 2> ends{};
  if (++threads_waiting > most_threads || pipe2(ends.data(), O_CLOEXEC) != 0) {
    --threads_waiting;
    done(fail(ErrorCode::Unreachable, "the resolver of this host does not answer"));
    return nullptr;
  }
  auto answer = std::make_shared<Answer>();
  answer->host = host;
  answer->to = ends[1];
  auto lookup = std::make_unique<ThreadedLookup>(io, ends[0], answer, std::move(done));
  std::thread{[answer] { ask_the_resolver(answer); }}.detach();
  return lookup;
}

}  // namespace heddle::notify
