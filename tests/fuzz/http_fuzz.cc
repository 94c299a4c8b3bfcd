// A request's head as it comes through a door, its target, and the file of tokens: whatever is taken is one
// request, whoever has no token is refused, and a target that was read is written and read as the same again.

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/sha.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <cctype>

#include "control/request_rules.h"
#include "control/target.h"
#include "control/tokens.h"
#include "fuzz/fuzz_target.h"

namespace {

using namespace heddle;
using namespace heddle::control;
namespace http = boost::beast::http;

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += std::isalnum(byte) != 0 || c == '/' ? std::string{c} : fmt::format("%{:02X}", byte);
  }
  return out;
}

void read_target(std::string_view text) {
  const auto target = parse_target(text);
  if (!target) return;
  fuzz::require(target->path.starts_with('/'), "a path begins with a slash");
  std::string written = percent_encoded(target->path) + '?';
  for (const auto& [name, value] : target->query)
    written += percent_encoded(name) + '=' + percent_encoded(value) + '&';
  const auto again = parse_target(written);
  fuzz::require(again && again->path == target->path && again->query == target->query,
                "a target is written as read");
}

/// Of a file that is in memory, and that others may read or may not.
void load_tokens(std::string_view text, const Result<Tokens>& parsed) {
  static const int file = memfd_create("tokens", MFD_CLOEXEC);
  static const std::string path = fmt::format("/proc/self/fd/{}", file);
  const bool open_to_others = text.size() % 8 == 0;
  fuzz::require(ftruncate(file, 0) == 0 &&
                    pwrite(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) &&
                    fchmod(file, open_to_others ? 0644 : 0640) == 0,
                "memory is a file");
  const auto loaded = Tokens::load(path);
  if (open_to_others) {
    fuzz::require(!loaded && loaded.error().code == ErrorCode::Refused, "what others may read is no secret");
  } else {
    fuzz::require(loaded.has_value() == parsed.has_value(), "a file is read as its text");
  }
}

void read_tokens(std::string_view text) {
  const auto tokens = Tokens::parse(text, "input");
  if (tokens) {
    for (const char* nobody : {"Bearer ", "", "Basic abc"})
      fuzz::require(!tokens->name_of(nobody), "nobody has the empty token");
  } else {
    fuzz::require(tokens.error().message.find("input") != std::string::npos, "an error names its file");
  }
  load_tokens(text, tokens);
}

/// Who has this token, and nobody else.
std::shared_ptr<const Tokens> tokens_with(std::string_view token) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
  std::string line = "me ";
  for (const unsigned char byte : digest) line += fmt::format("{:02x}", byte);
  return std::make_shared<const Tokens>(Tokens::parse(line, "made").value());
}

std::string_view value_of(const RequestHead& head, http::field name) {
  const auto value = head[name];
  return {value.data(), value.size()};
}

/// Letters of names and of codings may be of either case (RFC 9110, 5.6.6, 8.3.1 and 8.4.1).
RequestHead in_capitals(RequestHead head, http::field name) {
  std::string value{value_of(head, name)};
  for (char& c : value) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  head.set(name, value);
  return head;
}

void prefer(const RequestHead& head) {
  if (head.count(http::field::accept) == 1) {
    fuzz::require(takes_open_metrics(head) == takes_open_metrics(in_capitals(head, http::field::accept)),
                  "the case of letters in Accept does not matter");
  }
  if (head.count(http::field::accept_encoding) == 1) {
    fuzz::require(takes_gzip(head) == takes_gzip(in_capitals(head, http::field::accept_encoding)),
                  "the case of letters in Accept-Encoding does not matter");
  }
}

void come_in(const RequestHead& head) {
  const std::string_view authorization = value_of(head, http::field::authorization);
  DoorRules closed;
  auto guard = std::make_shared<TcpGuard>();
  guard->set({tokens_with("secret"), nullptr});
  closed.guard = guard;
  closed.hosts = std::make_shared<HostNames>(std::vector<std::string>{"heddle.example"});
  for (const auto access : {Access::Read, Access::Change, Access::Root}) {
    const auto open = refusal(head, access, {});
    fuzz::require(!open || open->status >= 400, "a refusal is an error");
    if (!open) {
      fuzz::require(head.count(http::field::transfer_encoding) + head.count(http::field::content_length) <= 1,
                    "a body ends in one place");
      fuzz::require(head.version() < 11 || head.count(http::field::host) == 1, "a request is for one host");
      fuzz::require(access != Access::Read || head.method() != http::verb::post,
                    "who may read changes nothing");
    }
    const auto guarded = refusal(head, access, closed);
    fuzz::require(!open || guarded, "what is refused at every door is refused at this one");
    fuzz::require(guarded || value_of(head, http::field::origin).empty() ||
                      closed.hosts->has_origin(value_of(head, http::field::origin)),
                  "no other page asks here");
    fuzz::require(guarded || guard->secrets().tokens->name_of(authorization), "nobody asks without a token");
  }
}

/// Whoever says his token is known by his name.
void say_token(std::string_view text) {
  if (text.empty()) return;
  const auto tokens = tokens_with(text);
  fuzz::require(tokens->name_of("Bearer " + std::string{text}) == "me", "a token is known");
  fuzz::require(!tokens->name_of("Bearer " + std::string{text} + "x"), "another one is not");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::text(data, size);
  read_target(text.substr(0, text.find(' ')));
  read_tokens(text);
  say_token(text);
  http::request_parser<http::empty_body> parser;
  parser.header_limit(16 * 1024);
  boost::system::error_code wrong;
  parser.put(boost::asio::buffer(data, size), wrong);
  if (!parser.is_header_done()) return 0;
  const RequestHead& head = parser.get().base();
  read_target({parser.get().target().data(), parser.get().target().size()});
  come_in(head);
  prefer(head);
  return 0;
}
