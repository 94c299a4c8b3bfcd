#include "merge.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <optional>
#include <system_error>
#include <vector>

#include "numbering.h"
#include "ranks.h"

namespace heddle::vef {
namespace {

using Values = Ranks::Values;

constexpr std::size_t chunk_bytes = std::size_t{1} << 20U;
constexpr std::size_t longest_line = 256;  // but of a communicator
constexpr std::size_t told_in_a_round = 65536;

/// Which of this rank's messages somebody waits for.
class Triggers {
 public:
  Triggers(Recorder& recorder, Ranks& ranks, const Numbering& numbering)
      : recorder_{recorder}, ranks_{ranks}, numbering_{numbering}, story_{numbering.own} {}

  /// In rounds, so that no rank has more than a part of what it tells, and is told, in memory. Whether all
  /// ranks are well.
  [[nodiscard]] bool find() {
    std::vector<Values> to;
    std::vector<Values> from;
    const std::uint64_t own = first_message();
    if (!ranks_.together([&] { waited_for_.resize(sent_by_this()); })) return false;
    do {
      if (!ranks_.together([&] { to = next_round(); })) return false;
      if (!ranks_.exchange(to, from)) return false;
      const auto mark = [&] {
        for (const Values& each : from) {
          for (const std::uint64_t id : each) waited_for_.at(id - own) = true;
        }
      };
      if (!ranks_.together(mark)) return false;
    } while (ranks_.sum(place_ < recorder_.log().size() ? 1 : 0) > 0);
    return true;
  }
  [[nodiscard]] bool is_waited_for(std::uint64_t id) const { return waited_for_.at(id - first_message()); }

 private:
  [[nodiscard]] std::uint64_t first_message() const {
    return numbering_.first_messages[static_cast<std::size_t>(ranks_.rank())];
  }
  [[nodiscard]] std::uint64_t sent_by_this() const {
    const std::size_t next = static_cast<std::size_t>(ranks_.rank()) + 1;
    return (next < ranks_.size() ? numbering_.first_messages[next] : numbering_.messages) - first_message();
  }

  std::vector<Values> next_round() {
    std::vector<Values> to(ranks_.size());
    const std::size_t most = std::max<std::size_t>(256, told_in_a_round / ranks_.size());
    const auto some = recorder_.log().some(place_, most);
    Told told;
    for (const Record& record : some) {
      if (!story_.go_on(record, told) || told.after != After::Reception) continue;
      const auto& firsts = numbering_.first_messages;
      to[static_cast<std::size_t>(std::ranges::upper_bound(firsts, told.on) - firsts.begin()) - 1].push_back(
          told.on);
    }
    place_ += some.size();
    return to;
  }

  Recorder& recorder_;
  Ranks& ranks_;
  const Numbering& numbering_;
  Story story_;
  std::uint64_t place_ = 0;
  std::vector<bool> waited_for_;  ///< one bit for each message that this rank sends
};

/// A text that grows, and goes to rank 0 in chunks; there, into the file.
class Chunks {
 public:
  /// Asks for all the memory that it needs, but for lines of very large communicators.
  Chunks(Ranks& ranks, int file) : ranks_{ranks}, file_{file} {
    text_.reserve(chunk_bytes + longest_line);
    if (ranks.rank() == 0) room_.resize(chunk_bytes);
  }

  void add(std::uint64_t value) {
    const std::size_t size = text_.size();
    text_.resize(size + 20);
    const auto written = std::to_chars(text_.data() + size, text_.data() + text_.size(), value);
    text_.resize(static_cast<std::size_t>(written.ptr - text_.data()));
  }
  void add(const char* words) { text_ += words; }
  template <class... Values>
  void add_line(Values... values) {
    (add(values), ...);
    text_ += '\n';
    if (text_.size() >= chunk_bytes) flush();
  }
  /// Called by every rank: its lines, then those of the next rank. Only rank 0 has a file.
  template <class Tell>
  void in_turn(Tell tell) {
    ranks_.attempt(tell);
    if (!text_.empty()) flush();
    if (ranks_.rank() != 0) {
      send(0, 0);  // an empty one ends the turn
      return;
    }
    for (int source = 1; source < static_cast<int>(ranks_.size()); ++source) take_all(source);
  }

 private:
  void flush() {
    if (ranks_.rank() == 0) {
      ranks_.attempt([&] { write(text_.data(), text_.size()); });
    } else {
      for (std::size_t from = 0; from < text_.size(); from += chunk_bytes) {
        send(from, std::min(chunk_bytes, text_.size() - from));
      }
    }
    text_.clear();
  }
  void send(std::size_t from, std::size_t size) {
    PMPI_Send(text_.data() + from, static_cast<int>(size), MPI_CHAR, 0, 0, ranks_.comm());
  }
  /// All that the rank sends, also when it cannot be written any more: there is room for it in any case.
  void take_all(int source) {
    for (int size = -1; size != 0;) {
      MPI_Status status;
      PMPI_Recv(room_.data(), static_cast<int>(chunk_bytes), MPI_CHAR, source, 0, ranks_.comm(), &status);
      PMPI_Get_count(&status, MPI_CHAR, &size);
      ranks_.attempt([&] { write(room_.data(), static_cast<std::size_t>(size)); });
    }
  }
  void write(const char* data, std::size_t size) {
    const int error = write_at(file_, data, size, written_);
    if (error != 0) throw std::system_error(error, std::generic_category());
    written_ += size;
  }

  Ranks& ranks_;
  int file_;
  std::string text_;
  std::vector<char> room_;  ///< for a chunk of another rank
  std::uint64_t written_ = 0;
};

void tell_communicators(const Recorder& recorder, const Numbering& numbering, Chunks& chunks) {
  for (const auto& each : recorder.communicators()) {
    if (!each->leads || !is_in_file(*each)) continue;
    chunks.add("C");
    chunks.add(numbering.communicators[each->place]);
    for (const int member : each->members) {
      chunks.add(" ");
      chunks.add(static_cast<std::uint64_t>(member));
    }
    chunks.add_line();
  }
}

void tell_step(const Told& told, std::uint64_t rank, const Numbering& numbering, const Channels& sending,
               const Triggers& triggers, Chunks& chunks) {
  const Record& record = *told.record;
  auto dep = static_cast<std::uint64_t>(told.after);
  if (record.what == What::Send) {
    if (triggers.is_waited_for(told.id)) dep += 4;
    chunks.add(told.id);
    chunks.add(" ");
    chunks.add(rank);
    chunks.add(" ");
    chunks.add(std::uint64_t{sending.all()[record.where].peer});
    chunks.add(" ");
    chunks.add(record.amount);
  } else {
    chunks.add("L");
    chunks.add(told.id);
    chunks.add(" ");
    chunks.add(numbering.communicators[record.where]);
    chunks.add(" ");
    chunks.add(name_of(static_cast<Collective>(record.kind)));
    chunks.add(" ");
    chunks.add(std::uint64_t{record.root});
    chunks.add(" ");
    chunks.add(record.amount);
    chunks.add(" ");
    chunks.add(rank);
  }
  chunks.add(" ");
  chunks.add(dep);
  chunks.add(" ");
  chunks.add(told.ticks);
  if (told.after == After::Nothing) {
    chunks.add_line(" -1");
  } else {
    chunks.add_line(" ", told.on);
  }
}

void write(Recorder& recorder, Ranks& ranks, const Numbering& numbering, const Triggers& triggers,
           Chunks& chunks) {
  chunks.in_turn([&] {
    if (ranks.rank() == 0) {
      chunks.add_line("VEF3 ", std::uint64_t{ranks.size()}, " ", numbering.messages, " ",
                      numbering.communicators_in_all, " 0 ", numbering.entered, " 0 1000");
    }
    tell_communicators(recorder, numbering, chunks);
  });
  chunks.in_turn([&] {
    Story story{numbering.own};
    Told told;
    const auto rank = static_cast<std::uint64_t>(ranks.rank());
    recorder.log().each([&](const Record& record) {
      if (story.go_on(record, told)) {
        tell_step(told, rank, numbering, recorder.sending(), triggers, chunks);
      }
    });
  });
}

/// Only rank 0 writes.
bool write_file(Recorder& recorder, Ranks& ranks, const Numbering& numbering, const Triggers& triggers) {
  File file;
  std::optional<Chunks> chunks;
  Output& output = recorder.output();
  if (!ranks.together([&] {
        if (ranks.rank() == 0) file = output.begin();
        chunks.emplace(ranks, file.number());
      })) {
    return false;
  }
  write(recorder, ranks, numbering, triggers, *chunks);
  if (!ranks.together([] {})) return false;
  return ranks.together([&] {
    if (ranks.rank() != 0) return;
    const int error = ::fsync(file.number()) == 0 ? output.end() : errno;
    if (error != 0) throw std::system_error(error, std::generic_category());
  });
}

}  // namespace

std::string merge(Recorder& recorder) {
  Ranks ranks{"writing to " + recorder.output().directory()};
  Numbering numbering;
  if (!number(recorder, ranks, numbering)) return ranks.why();
  Triggers triggers{recorder, ranks, numbering};
  if (!triggers.find()) return ranks.why();
  if (!write_file(recorder, ranks, numbering, triggers)) recorder.output().give_up();
  return ranks.why();
}

}  // namespace heddle::vef
