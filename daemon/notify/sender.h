/// Takes one message to one destination. On the thread of its io_context; never blocks it. One message at a
/// time. After the end of the sender nothing is called.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "notice/notice.h"
#include "notify/destination.h"

namespace heddle::notify {

struct Message {
  std::vector<notice::Notice> notices;
  std::vector<notice::OpenProblem> open;  ///< to be told again, where the destination wants that
  std::uint64_t dropped = 0;              ///< that this destination has missed in all
};

struct Sent {
  enum class How : std::uint8_t {
    Delivered,
    Failed,   ///< as yet: it is sent again
    Refused,  ///< for good: the receiver answers, and does not take this
  };
  How how = How::Delivered;
  std::string why;  ///< of a failure, for the operator; nothing in it is the receiver's own text
};

class Sender {
 public:
  using Done = std::function<void(Sent)>;
  virtual ~Sender() = default;
  /// `done` is called once, later, unless the sender ends before.
  virtual void send(const Message& message, Done done) = 0;
};

/// Errors: Invalid or Io for an address, a URL or a file of authorities that cannot be used.
[[nodiscard]] Result<std::unique_ptr<Sender>> web_sender(boost::asio::io_context& io,
                                                         const Destination& destination,
                                                         const notice::Teller& teller);
[[nodiscard]] Result<std::unique_ptr<Sender>> syslog_sender(boost::asio::io_context& io,
                                                            const Destination& destination,
                                                            const notice::Teller& teller);
[[nodiscard]] Result<std::unique_ptr<Sender>> program_sender(boost::asio::io_context& io,
                                                             const Destination& destination,
                                                             const notice::Teller& teller);

}  // namespace heddle::notify
