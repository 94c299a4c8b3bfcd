#include "record/recording.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace heddle::record {
namespace {

/// A journal's image is the largest.
constexpr std::uint32_t most_in_a_block = 256 * 1024 * 1024;

constexpr std::uint64_t fnv_prime = 0x0000'0100'0000'01b3;

void put(Writer& out, const PortRef& port) { out.number(port.node.raw()).number(port.port.raw()); }

PortRef get_port(Reader& in) {
  const NodeGuid node{in.number<std::uint64_t>()};
  return {node, PortNum{in.number<std::uint8_t>()}};
}

void put(Writer& out, const std::optional<std::string>& text) {
  out.number(static_cast<std::uint8_t>(text.has_value())).text(text.value_or(""));
}

std::optional<std::string> get_if_any(Reader& in) {
  const bool is_there = in.number<std::uint8_t>() != 0;
  std::string text = in.text();
  return is_there ? std::optional{std::move(text)} : std::nullopt;
}

void put(Writer& out, const Answer& answer) {
  out.number(static_cast<std::uint8_t>(answer.what)).number(answer.nth);
  if (answer.what == Answer::What::LocalIs) {
    const transport::LocalPort& port = answer.port;
    out.number(port.node.raw()).number(port.guid.raw()).number(port.port.raw());
    out.number(port.lid.raw()).number(port.sm_lid.raw());
  } else {
    out.number(static_cast<std::uint8_t>(answer.error.code)).text(answer.error.message);
  }
}

Answer get_answer(Reader& in) {
  Answer answer;
  answer.what = in.one_up_to(Answer::What::PluginIs);
  answer.nth = in.number<std::uint64_t>();
  if (answer.what == Answer::What::LocalIs) {
    answer.port.node = NodeGuid{in.number<std::uint64_t>()};
    answer.port.guid = PortGuid{in.number<std::uint64_t>()};
    answer.port.port = PortNum{in.number<std::uint8_t>()};
    answer.port.lid = Lid{in.number<std::uint16_t>()};
    answer.port.sm_lid = Lid{in.number<std::uint16_t>()};
  } else {
    answer.error.code = in.one_up_to(ErrorCode::Unsupported);
    answer.error.message = in.text();
  }
  return answer;
}

/// A list that says it is longer than its bytes ends with them.
template <class Get>
auto get_list(Reader& in, const Get& get) {
  std::vector<decltype(get(in))> all;
  for (auto left = in.number<std::uint32_t>(); left > 0 && in.good(); --left) all.push_back(get(in));
  return all;
}

template <class Item, class Put>
void put_list(Writer& out, const std::vector<Item>& all, const Put& put_one) {
  out.number(static_cast<std::uint32_t>(all.size()));
  for (const Item& one : all) put_one(one);
}

void put_texts(Writer& out, const std::vector<std::string>& texts) {
  put_list(out, texts, [&](const std::string& text) { out.text(text); });
}

std::vector<std::string> get_texts(Reader& in) {
  return get_list(in, [](Reader& from) { return from.text(); });
}

Error damaged(const char* what) {
  return {ErrorCode::Invalid, std::string{"this recording is damaged: "} + what + " is not whole"};
}

}  // namespace

std::string_view to_string(Kind kind) {
  constexpr std::array<std::string_view, 10> names{
      "the start",    "the first sweep", "a MAD",          "what was due", "an event that took long",
      "another port", "an order",        "what came back", "a reload",     "the end"};
  const auto index = static_cast<std::size_t>(kind);
  return index < names.size() ? names[index] : "what nobody knows";
}

void Digest::mix(std::string_view bytes) {
  for (; bytes.size() >= sizeof(std::uint64_t); bytes.remove_prefix(sizeof(std::uint64_t))) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    value_ = (value_ ^ word) * fnv_prime;
    value_ ^= value_ >> 32U;
  }
  for (const char byte : bytes) value_ = (value_ ^ static_cast<std::uint8_t>(byte)) * fnv_prime;
}

void Digest::add(Deed deed, std::string_view bytes) {
  ++deeds_;
  value_ = (value_ ^ static_cast<std::uint8_t>(deed) ^ bytes.size() << 8U) * fnv_prime;
  mix(bytes);
}

void Digest::add(Deed deed, const mad::Packet& packet) {
  Writer out;
  put(out, packet);
  add(deed, out.bytes());
}

void put(Writer& out, const mad::Packet& packet) {
  const mad::Address& address = packet.address;
  out.number(address.dlid.raw()).number(address.slid.raw()).number(address.dqp).number(address.sqp);
  out.number(address.sl.raw()).number(address.pkey_index);
  out.raw({reinterpret_cast<const char*>(packet.mad.data()), packet.mad.size()});
}

mad::Packet get_packet(Reader& in) {
  mad::Packet packet;
  packet.address.dlid = Lid{in.number<std::uint16_t>()};
  packet.address.slid = Lid{in.number<std::uint16_t>()};
  packet.address.dqp = in.number<std::uint32_t>();
  packet.address.sqp = in.number<std::uint32_t>();
  packet.address.sl = Sl{in.number<std::uint8_t>()};
  packet.address.pkey_index = in.number<std::uint16_t>();
  std::ranges::copy(in.raw(packet.mad.size()), packet.mad.begin());
  return packet;
}

void put(Writer& out, const core::Settings& settings) {
  out.span(settings.light_sweep).span(settings.heavy_sweep).span(settings.sampling).span(settings.verify_qos);
  out.number(static_cast<std::uint8_t>(settings.mode));
  put_list(out, settings.sets, [&](const load::NamedSet& set) {
    out.text(set.name);
    put_texts(out, set.patterns);
  });
}

core::Settings get_settings(Reader& in) {
  core::Settings settings;
  settings.light_sweep = in.span();
  settings.heavy_sweep = in.span();
  settings.sampling = in.span();
  settings.verify_qos = in.span();
  settings.mode = in.one_up_to(regulation::Mode::Enforce);
  settings.sets = get_list(in, [](Reader& from) {
    std::string name = from.text();
    return load::NamedSet{std::move(name), get_texts(from)};
  });
  using Span = FabricClock::duration;
  const Span least = std::min({settings.light_sweep, settings.heavy_sweep, settings.verify_qos});
  if (least < Span{0} || settings.sampling <= Span{0}) in.refuse();
  return settings;
}

std::string to_bytes(const Opening& opening) {
  Writer out;
  out.text(opening.build).text(opening.configuration);
  put_texts(out, opening.overrides);
  out.text(opening.node_names);
  out.number(opening.calendar.wall.time_since_epoch().count()).time(opening.calendar.fabric);
  put(out, opening.journal);
  out.text(opening.qos);
  put(out, opening.plan);
  put(out, opening.plan_before);
  put_list(out, opening.left_off, [&](const PortRef& port) { put(out, port); });
  out.number(static_cast<std::uint8_t>(opening.hosts)).number(static_cast<std::uint8_t>(opening.segments));
  return out.bytes();
}

Result<Opening> parse_opening(std::string_view bytes) {
  Reader in{bytes};
  Opening opening;
  opening.build = in.text();
  opening.configuration = in.text();
  opening.overrides = get_texts(in);
  opening.node_names = in.text();
  const std::chrono::milliseconds wall{in.number<std::int64_t>()};
  // As milliseconds: what a stranger wrote may be more than there are nanoseconds for.
  constexpr auto longest = std::chrono::duration_cast<std::chrono::milliseconds>(Reader::longest);
  if (wall < -longest || wall > longest) in.refuse();
  opening.calendar.wall = journal::WallTime{wall};
  opening.calendar.fabric = in.time();
  opening.journal = get_if_any(in);
  opening.qos = in.text();
  opening.plan = get_if_any(in);
  opening.plan_before = get_if_any(in);
  opening.left_off = get_list(in, get_port);
  opening.hosts = in.number<std::uint8_t>() != 0;
  opening.segments = in.number<std::uint8_t>() != 0;
  if (!in.at_end()) return fail(damaged("how it began"));
  return opening;
}

std::string to_bytes(const Entry& entry) {
  Writer out;
  out.number(static_cast<std::uint8_t>(entry.kind)).time(entry.now).text(entry.body);
  put_list(out, entry.answers, [&](const Answer& answer) { put(out, answer); });
  out.number(entry.deeds).number(entry.digest);
  return out.bytes();
}

Result<Entry> parse_entry(std::string_view bytes) {
  Reader in{bytes};
  Entry entry;
  entry.kind = in.one_up_to(Kind::StopAsked);
  entry.now = in.time();
  entry.body = in.text();
  entry.answers = get_list(in, get_answer);
  entry.deeds = in.number<std::uint32_t>();
  entry.digest = in.number<std::uint64_t>();
  if (!in.at_end()) return fail(damaged("an event"));
  return entry;
}

bool Blocks::begins() {
  std::string found(magic.size(), '\0');
  return in_.read(found.data(), static_cast<std::streamsize>(found.size())) && found == magic;
}

std::optional<std::pair<Block, std::string>> Blocks::next() {
  std::array<char, 5> head{};
  if (!in_.read(head.data(), head.size())) return std::nullopt;
  Reader reader{{head.data(), head.size()}};
  const auto block = static_cast<Block>(reader.number<std::uint8_t>());
  const auto size = reader.number<std::uint32_t>();
  if (size > most_in_a_block) return std::nullopt;
  std::string bytes(size, '\0');
  if (!in_.read(bytes.data(), static_cast<std::streamsize>(size))) return std::nullopt;
  return std::pair{block, std::move(bytes)};
}

std::string frame(Block block, std::string_view bytes) {
  Writer out;
  return out.number(static_cast<std::uint8_t>(block)).text(bytes).bytes();
}

}  // namespace heddle::record
