// A request's head as it comes through a door, its target, and the file of tokens: whatever is taken is one
// request, and whoever has no token is refused.

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

#include "control/request_rules.h"
#include "control/target.h"
#include "control/tokens.h"
#include "fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  namespace http = boost::beast::http;
  const auto text = fuzz::text(data, size);
  if (const auto target = control::parse_target(text.substr(0, text.find(' ')))) {
    fuzz::require(target->path.starts_with('/'), "a path begins with a slash");
  }
  if (const auto tokens = control::Tokens::parse(text, "input")) {
    fuzz::require(!tokens->name_of("Bearer "), "nobody has the empty token");
  } else {
    fuzz::require(tokens.error().message.find("input") != std::string::npos, "an error names its file");
  }
  http::request_parser<http::empty_body> parser;
  parser.header_limit(16 * 1024);
  boost::system::error_code wrong;
  parser.put(boost::asio::buffer(data, size), wrong);
  if (!parser.is_header_done()) return 0;
  const control::RequestHead& head = parser.get().base();
  control::DoorRules closed;
  closed.guard = std::make_shared<control::TcpGuard>();
  closed.hosts = std::make_shared<control::HostNames>(std::vector<std::string>{"heddle.example"});
  for (const auto access : {control::Access::Read, control::Access::Change}) {
    (void)control::refusal(head, access, {});
    (void)control::refusal(head, access, closed);
  }
  (void)control::takes_gzip(head);
  return 0;
}
