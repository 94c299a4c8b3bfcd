#include "numbering.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <stdexcept>

namespace heddle::vef {
namespace {

using Values = Ranks::Values;

constexpr std::size_t channel_fields = 4;            // communicator, tag, messages, ID of the first
constexpr std::size_t communicator_fields = 3;       // ID, collectives, members
constexpr std::uint64_t most_records = 0xfffffffeU;  // trace/vef.cc

std::uint64_t bits_of(std::int32_t tag) { return static_cast<std::uint32_t>(tag); }

bool count_messages(const Recorder& recorder, Ranks& ranks, Numbering& numbering) {
  Values own(1);
  Values all;
  for (const std::uint64_t sent : recorder.sent_by_channel()) own.front() += sent;
  if (!ranks.gather(own, all)) return false;
  return ranks.together([&] {
    for (const std::uint64_t sent : all) {
      numbering.first_messages.push_back(numbering.messages);
      numbering.messages += sent;
    }
    if (numbering.messages > most_records) throw std::length_error("more messages than a trace can have");
  });
}

struct Known {
  std::uint64_t number = 0;
  std::uint64_t first = 0;  ///< ID of its first collective
  std::uint64_t collectives = 0;
};

/// By ID: numbers follow the IDs, so the world's is 0.
std::map<std::uint64_t, Known> order(const Values& all, Numbering& numbering) {
  std::map<std::uint64_t, Known> known;
  std::map<std::uint64_t, std::uint64_t> members;
  for (std::size_t i = 0; i + communicator_fields <= all.size(); i += communicator_fields) {
    known[all[i]].collectives = all[i + 1];
    members[all[i]] = all[i + 2];
  }
  std::uint64_t first = 0;
  for (auto& [id, each] : known) {
    each.number = numbering.communicators_in_all++;
    each.first = first;
    first += each.collectives;
    numbering.entered += each.collectives * members[id];
  }
  if (numbering.entered > most_records) throw std::length_error("more collectives than a trace can have");
  return known;
}

bool number_communicators(const Recorder& recorder, Ranks& ranks, Numbering& numbering) {
  Values own;
  Values all;
  const bool told = ranks.together([&] {
    for (const auto& each : recorder.communicators()) {
      if (each->leads && is_in_file(*each))
        own.insert(own.end(), {each->id, each->entered, each->members.size()});
    }
  });
  if (!told || !ranks.gather(own, all)) return false;
  return ranks.together([&] {
    const auto known = order(all, numbering);
    for (const auto& each : recorder.communicators()) {
      const auto found = known.find(each->id);
      const Known its = found == known.end() ? Known{} : found->second;
      if (its.collectives != each->entered) {
        throw std::runtime_error("not all members of a communicator entered all of its collectives");
      }
      numbering.communicators.push_back(its.number);
      numbering.own.first_entered.push_back(its.first);
    }
  });
}

/// Messages of a channel have numbers one after the other.
std::vector<Values> number_sent(const Recorder& recorder, const Ranks& ranks, Numbering& numbering) {
  std::vector<Values> to(ranks.size());
  std::uint64_t id = numbering.first_messages[static_cast<std::size_t>(ranks.rank())];
  const auto& channels = recorder.sending().all();
  for (std::size_t i = 0; i < channels.size(); ++i) {
    Values& peer = to.at(channels[i].peer);
    const std::uint64_t sent = recorder.sent_by_channel().at(i);
    peer.insert(peer.end(), {channels[i].communicator, bits_of(channels[i].tag), sent, id});
    numbering.own.first_sent.push_back(id);
    id += sent;
  }
  return to;
}

void number_received(const Recorder& recorder, const std::vector<Values>& from, Numbering& numbering) {
  std::map<std::array<std::uint64_t, 3>, std::array<std::uint64_t, 2>> known;
  for (std::size_t source = 0; source < from.size(); ++source) {
    const Values& of = from[source];
    for (std::size_t i = 0; i + channel_fields <= of.size(); i += channel_fields) {
      known[{of[i], source, of[i + 1]}] = {of[i + 2], of[i + 3]};
    }
  }
  for (const Channel& channel : recorder.receiving().all()) {
    const auto found = known.find({channel.communicator, channel.peer, bits_of(channel.tag)});
    // Nobody sends on it where all of its receptions are cancelled.
    const auto its = found == known.end() ? std::array<std::uint64_t, 2>{} : found->second;
    numbering.own.sent.push_back(its[0]);
    numbering.own.first_received.push_back(its[1]);
  }
}

bool number_channels(const Recorder& recorder, Ranks& ranks, Numbering& numbering) {
  std::vector<Values> to;
  std::vector<Values> from;
  if (!ranks.together([&] { to = number_sent(recorder, ranks, numbering); })) return false;
  if (!ranks.exchange(to, from)) return false;
  return ranks.together([&] { number_received(recorder, from, numbering); });
}

}  // namespace

bool is_in_file(const Communicator& communicator) { return communicator.id == 0 || communicator.entered > 0; }

bool number(const Recorder& recorder, Ranks& ranks, Numbering& numbering) {
  return count_messages(recorder, ranks, numbering) && number_communicators(recorder, ranks, numbering) &&
         number_channels(recorder, ranks, numbering);
}

}  // namespace heddle::vef
