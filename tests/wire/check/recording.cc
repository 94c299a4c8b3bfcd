#include "check/recording.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <tuple>

namespace wire {
namespace {

constexpr std::size_t head_size = 16;
constexpr std::size_t mad_offset = 32;  ///< in a packet of libumad2sim
constexpr std::size_t status_offset = 16;
constexpr std::size_t data_offset = 64;  ///< in an SMP
constexpr std::size_t route_offset = 128;
constexpr std::size_t most_hops = 63;
constexpr std::uint8_t directed = 0x81;

std::uint16_t u16(const std::uint8_t* at) { return static_cast<std::uint16_t>(at[0] << 8 | at[1]); }
std::uint32_t u32(const std::uint8_t* at) { return std::uint32_t{u16(at)} << 16 | u16(at + 2); }

template <class T>
T native(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// The records of one process. A last one that is cut short is left out: its writer was killed.
void read_file(const std::filesystem::path& path, int process, std::vector<Record>& into) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::set<Time> unsent;
  const std::size_t first = into.size();
  for (std::size_t at = 0; at + head_size <= text.size();) {
    const auto size = native<std::uint16_t>(text.data() + at + 10);
    const auto kind = static_cast<std::uint8_t>(text[at + 8]);
    if (kind < 1 || kind > 5 || size > 288) throw std::runtime_error(path.string() + " is damaged");
    if (at + head_size + size > text.size()) break;
    Record record{native<Time>(text.data() + at), static_cast<Kind>(kind), process, {}};
    record.bytes.assign(text.begin() + static_cast<std::ptrdiff_t>(at + head_size),
                        text.begin() + static_cast<std::ptrdiff_t>(at + head_size + size));
    if (record.kind == Kind::Unsent) unsent.insert(record.time);
    into.push_back(std::move(record));
    at += head_size + size;
  }
  const auto is_void = [&](const Record& each) {
    return each.kind == Kind::Unsent || (each.kind == Kind::Sent && unsent.contains(each.time));
  };
  into.erase(std::remove_if(into.begin() + static_cast<std::ptrdiff_t>(first), into.end(), is_void),
             into.end());
}

}  // namespace

bool is_smp(const Record& record) {
  if (record.kind != Kind::Sent && record.kind != Kind::Received) return false;
  if (record.bytes.size() < mad_offset + data_offset + block_bytes) return false;
  const std::uint8_t mgmt_class = record.bytes[mad_offset + 1];
  return mgmt_class == 0x01 || mgmt_class == directed;
}

Mad parse(const Record& record) {
  const std::uint8_t* const packet = record.bytes.data();
  const std::uint8_t* const mad = packet + mad_offset;
  Mad result;
  // The LID stands in network order in the lower half of an integer in host order.
  std::uint32_t dlid = 0;
  std::memcpy(&dlid, packet, sizeof dlid);
  result.dlid = static_cast<std::uint16_t>((dlid & 0xff) << 8 | (dlid >> 8 & 0xff));
  result.timed_out = u32(packet + status_offset) != 0;
  result.mgmt_class = mad[1];
  result.method = mad[3];
  result.status = u16(mad + 4) & 0x7fff;
  result.tid = u32(mad + 12);
  result.attribute = u16(mad + 16);
  result.modifier = u32(mad + 20);
  std::copy_n(mad + data_offset, block_bytes, result.data.begin());
  if (result.mgmt_class == directed) {
    result.has_lids = u16(mad + 32) != 0xffff || u16(mad + 34) != 0xffff;
    const std::size_t hops = std::min<std::size_t>(mad[7], most_hops);
    result.route.assign(mad + route_offset + 1, mad + route_offset + 1 + hops);
  }
  return result;
}

Recordings read_recordings(const std::string& directory) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    if (entry.path().extension() == ".wire") files.push_back(entry.path());
  if (files.empty()) throw std::runtime_error(directory + " holds no recording (*.wire)");
  std::sort(files.begin(), files.end());
  Recordings result;
  for (const auto& file : files) {
    read_file(file, static_cast<int>(result.processes.size()), result.records);
    result.processes.push_back(file.stem().string());
  }
  std::stable_sort(result.records.begin(), result.records.end(),
                   [](const Record& a, const Record& b) { return a.time < b.time; });
  return result;
}

std::vector<Command> read_commands(const std::string& path) {
  static const std::set<std::string> known{"cut", "mend", "kill", "revive", "lose", "forced", "unforced"};
  std::ifstream in(path);
  if (!in) throw std::runtime_error(path + ": cannot be read");
  std::vector<Command> result;
  std::string line;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    Command command;
    if (!(words >> command.begin >> command.end >> command.what >> command.port) ||
        !known.contains(command.what))
      throw std::runtime_error(path + ": not understood: " + line);
    std::getline(words >> std::ws, command.node);
    result.push_back(command);
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Command& a, const Command& b) { return a.begin < b.begin; });
  return result;
}

}  // namespace wire
