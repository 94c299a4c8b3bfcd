// A recording that somebody sent: what is read of it is written as the same again, and what is not whole, or
// cannot be, is refused.
//
// The input: the file; or, behind a first byte of 'o', 'e', 's' or 'r', how a recording began, an event,
// settings that were read again or an operator's order.

#include <sstream>
#include <string>

#include "app/recorded_run.h"
#include "fuzz/fuzz_target.h"
#include "record/recording.h"

namespace {

using namespace heddle;
using namespace heddle::record;

void read_opening(std::string_view bytes) {
  const auto opening = parse_opening(bytes);
  if (!opening) return fuzz::require(!opening.error().message.empty(), "a refusal says why");
  const std::string written = to_bytes(*opening);
  const auto again = parse_opening(written);
  fuzz::require(again && to_bytes(*again) == written, "how it began is written as read");
}

void read_settings(std::string_view bytes) {
  Reader in{bytes};
  const core::Settings settings = get_settings(in);
  if (!in.at_end()) return;
  Writer out;
  put(out, settings);
  fuzz::require(out.bytes() == bytes, "settings are written as read");
}

void read_request(std::string_view bytes) {
  const std::string written = app::to_bytes(app::parse_request(bytes));
  fuzz::require(app::to_bytes(app::parse_request(written)) == written, "an order is written as read");
}

void read_body(const Entry& entry) {
  if (entry.kind == Kind::Reloaded) read_settings(entry.body);
  if (entry.kind == Kind::Asked) read_request(entry.body);
  if (entry.kind != Kind::Arrived) return;
  Reader in{entry.body};
  const Instant at = in.time();
  const mad::Packet packet = get_packet(in);
  if (!in.at_end()) return;
  Writer out;
  put(out.time(at), packet);
  fuzz::require(out.bytes() == entry.body, "a MAD is written as read");
}

void read_entry(std::string_view bytes) {
  const auto entry = parse_entry(bytes);
  if (!entry) return fuzz::require(!entry.error().message.empty(), "a refusal says why");
  fuzz::require(to_string(entry->kind) != "what nobody knows", "a kind is known");
  fuzz::require(to_bytes(*entry) == bytes, "an event is written as read");
  read_body(*entry);
}

void read_file(std::string_view bytes) {
  std::istringstream in{std::string{bytes}};
  Blocks blocks{in};
  if (!blocks.begins()) return;
  std::string written{magic};
  for (auto block = blocks.next(); block; block = blocks.next()) {
    written += frame(block->first, block->second);
    if (block->first == Block::Opening) read_opening(block->second);
    if (block->first == Block::Entry) read_entry(block->second);
  }
  fuzz::require(bytes.starts_with(written), "blocks are written as read");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto text = fuzz::text(data, size);
  switch (text.front()) {
    case 'o':
      read_opening(text.substr(1));
      break;
    case 'e':
      read_entry(text.substr(1));
      break;
    case 's':
      read_settings(text.substr(1));
      break;
    case 'r':
      read_request(text.substr(1));
      break;
    default:
      read_file(text);
  }
  return 0;
}
