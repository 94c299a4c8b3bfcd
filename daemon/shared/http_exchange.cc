#include "shared/http_exchange.h"

#include <boost/asio/io_context.hpp>
#include <optional>
#include <utility>

#include "notify/exchange.h"

namespace heddle::shared {
namespace {

/// More than all of a large fabric's journal.
constexpr std::uint64_t most_answer = std::uint64_t{256} << 20U;

}  // namespace

Result<HttpAnswer> post(const notify::WebAddress& address, boost::asio::ssl::context* tls,
                        const std::string& target, const std::string& body,
                        std::chrono::milliseconds timeout) {
  boost::asio::io_context io{1};
  std::optional<Result<notify::WebAnswer>> answer;
  const auto under_way =
      notify::exchange(io, tls, address, timeout, {target, body, {}, most_answer},
                       [&answer](Result<notify::WebAnswer> got) { answer.emplace(std::move(got)); });
  while (!answer && io.run_one() > 0) {
  }
  if (!answer) return fail(ErrorCode::Unreachable, "no answer");
  if (!*answer) return fail(answer->error());
  return HttpAnswer{(*answer)->status, std::move((*answer)->body)};
}

}  // namespace heddle::shared
