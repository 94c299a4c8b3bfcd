#include "trace/vef.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "trace/fields.h"

namespace heddle::trace {
namespace {

constexpr std::uint64_t most_tasks = 1U << 20U;
constexpr std::uint64_t most_records = 0xfffffffeU;
constexpr std::uint64_t any_id = ~std::uint64_t{0};

constexpr std::array<std::string_view, 8> collective_names{"barrier", "broadcast", "reduce",  "allreduce",
                                                           "gather",  "allgather", "scatter", "alltoall"};

struct Header {
  std::uint64_t messages = 0;
  std::uint64_t communicators = 0;
  std::uint64_t global_collectives = 0;
  std::uint64_t local_collectives = 0;
};

/// A dependency as the file names it, until all IDs are known.
struct Unresolved {
  std::uint32_t task;
  std::uint32_t step;
  std::uint64_t id;
};

/// Who has entered a collective by records of their own.
struct Entered {
  std::size_t line;  ///< of the first of them
  std::unordered_set<std::uint32_t> tasks;
};

class Reader {
 public:
  Reader(std::istream& in, std::string_view name) : in_{in}, name_{name} {}

  Result<Trace> read() {
    if (auto ok = header(); !ok) return fail(ok.error());
    while (next_line()) {
      Fields fields{name_, line_, text_};
      if (fields.at_end()) continue;
      auto ok = record(fields);
      if (!ok) return fail(ok.error());
      if (!fields.at_end()) return fields.wrong("after the last field", "stands something else");
    }
    if (in_.bad()) return fail(ErrorCode::Io, fmt::format("{}: reading failed after line {}", name_, line_));
    if (auto ok = check_counts(); !ok) return fail(ok.error());
    if (auto ok = resolve(); !ok) return fail(ok.error());
    return std::move(trace_);
  }

 private:
  bool next_line() {
    if (!std::getline(in_, text_)) return false;
    ++line_;
    return true;
  }

  Result<void> header() {
    if (!next_line())
      return fail(ErrorCode::Invalid, fmt::format("{}:1: header is missing: the file is empty", name_));
    Fields fields{name_, line_, text_};
    const std::string_view magic = fields.word();
    if (magic != "VEF3" && magic != "VEF2") {
      return fields.wrong("header",
                          fmt::format("begins with \"{}\", not with VEF3 or VEF2", Fields::shown(magic)));
    }
    trace_.version = magic == "VEF3" ? Version::Vef3 : Version::Vef2;
    const auto tasks = fields.number("nNodes", most_tasks);
    if (!tasks) return fail(tasks.error());
    if (*tasks == 0) return fields.wrong("nNodes", "is 0: a trace has at least one task");
    trace_.tasks = static_cast<std::uint32_t>(*tasks);
    trace_.program.resize(trace_.tasks);
    const std::array<std::pair<std::string_view, std::uint64_t*>, 4> counts{
        {{"nMsgs", &header_.messages},
         {"nCOMM", &header_.communicators},
         {"nCollComm", &header_.global_collectives},
         {"nLocalCollComm", &header_.local_collectives}}};
    for (const auto& [field, value] : counts) {
      const auto read = fields.number(field, most_records);
      if (!read) return fail(read.error());
      *value = *read;
    }
    if (const auto kept = fields.number("noRecvDep", any_id); !kept) return fail(kept.error());
    if (trace_.version == Version::Vef3) {
      const auto clock = fields.number("clock", 1'000'000'000'000);
      if (!clock) return fail(clock.error());
      if (*clock == 0) return fields.wrong("clock", "is 0: a tick takes at least 1 ps");
      trace_.clock_ps = static_cast<std::int64_t>(*clock);
    }
    if (!fields.at_end()) return fields.wrong("after the last field", "stands something else");
    return {};
  }

  Result<void> record(Fields& fields) {
    const std::string_view first = fields.word();
    switch (first.front()) {
      case 'C':
        return communicator(fields, first.substr(1));
      case 'G':
      case 'L':
        return collective(fields, first);
      default:
        return message(fields, first);
    }
  }

  Result<std::uint32_t> task(Fields& fields, std::string_view field) const {
    const auto read = fields.number(field, trace_.tasks - 1);
    if (!read) return fail(read.error());
    return static_cast<std::uint32_t>(*read);
  }

  Result<void> communicator(Fields& fields, std::string_view number) {
    const auto id = fields.parse(number, "communicator", most_records);
    if (!id) return fail(id.error());
    if (!communicator_of_.emplace(*id, trace_.communicators.size()).second) {
      return fields.wrong("communicator", fmt::format("{} is there twice", *id));
    }
    std::vector<std::uint32_t> members;
    std::unordered_set<std::uint32_t> seen;
    while (!fields.at_end()) {
      const auto member = task(fields, "member");
      if (!member) return fail(member.error());
      if (!seen.insert(*member).second)
        return fields.wrong("member", fmt::format("{} is there twice", *member));
      members.push_back(*member);
    }
    if (members.empty()) return fields.wrong("member", "is missing: a communicator has at least one");
    trace_.communicators.push_back(std::move(members));
    return {};
  }

  struct Read {
    When when;
    bool trigger = false;
    std::optional<std::uint64_t> on;
  };
  Result<Read> when(Fields& fields) const {
    const auto dep = fields.number("Dep", trace_.version == Version::Vef3 ? 7 : 3);
    if (!dep) return fail(dep.error());
    const auto ticks = fields.number("dTime", most_delta_ticks);
    if (!ticks) return fail(ticks.error());
    Read read;
    read.when.dependency = static_cast<Dependency>(*dep % 4);
    read.when.ticks = *ticks;
    read.trigger = *dep >= 4;
    const std::string_view on = fields.word();
    if (read.when.dependency == Dependency::Independent) {
      if (on != "-1") return fields.wrong("IDdep", "must be -1 in an independent record");
      return read;
    }
    const auto id = fields.parse(on, "IDdep", any_id);
    if (!id) return fail(id.error());
    read.on = *id;
    return read;
  }

  void add_step(std::uint32_t of, Step::Kind kind, std::size_t index, const Read& read) {
    auto& program = trace_.program[of];
    if (read.on) unresolved_.push_back({of, static_cast<std::uint32_t>(program.size()), *read.on});
    program.push_back({kind, static_cast<std::uint32_t>(index), read.when, line_});
  }

  Result<void> message(Fields& fields, std::string_view first) {
    const auto id = fields.parse(first, "ID", any_id);
    if (!id) return fail(id.error());
    const auto source = task(fields, "src");
    if (!source) return fail(source.error());
    const auto target = task(fields, "dst");
    if (!target) return fail(target.error());
    const auto bytes = fields.number("length", most_message_bytes);
    if (!bytes) return fail(bytes.error());
    const auto read = when(fields);
    if (!read) return fail(read.error());
    if (trace_.messages.size() >= header_.messages) {
      return fields.wrong("ID",
                          fmt::format("{}: the header announces only {} messages", *id, header_.messages));
    }
    if (!message_of_.emplace(*id, trace_.messages.size()).second) {
      return fields.wrong("ID", fmt::format("{} is there twice", *id));
    }
    add_step(*source, Step::Kind::Send, trace_.messages.size(), *read);
    trace_.messages.push_back({*id, *source, *target, *bytes, read->when, read->trigger});
    return {};
  }

  /// G<id> communicator kind root length Dep dTime IDdep: all members enter.
  /// L<id> communicator kind root length task Dep dTime IDdep: one member enters.
  Result<void> collective(Fields& fields, std::string_view first) {
    const bool local = first.front() == 'L';
    const auto id = fields.parse(first.substr(1), "ID", any_id);
    if (!id) return fail(id.error());
    Collective made;
    made.id = *id;
    const auto comm = fields.number("communicator", any_id);
    if (!comm) return fail(comm.error());
    const auto known = communicator_of_.find(*comm);
    if (known == communicator_of_.end())
      return fields.wrong("communicator", fmt::format("{} is not declared above", *comm));
    made.communicator = static_cast<std::uint32_t>(known->second);
    const std::string_view kind = fields.word();
    const auto named = std::ranges::find(collective_names, kind);
    if (named == collective_names.end()) {
      return fields.wrong("kind", fmt::format("is \"{}\", which is no collective", Fields::shown(kind)));
    }
    made.kind = static_cast<CollectiveKind>(named - collective_names.begin());
    const auto root = task(fields, "root");
    if (!root) return fail(root.error());
    made.root = *root;
    const auto bytes = fields.number("length", most_message_bytes);
    if (!bytes) return fail(bytes.error());
    made.bytes = *bytes;
    const auto& members = trace_.communicators[made.communicator];
    if (std::ranges::find(members, made.root) == members.end()) {
      return fields.wrong("root", fmt::format("{} is no member of communicator {}", made.root, *comm));
    }
    return local ? enter_one(fields, made) : enter_all(fields, made);
  }

  Result<void> enter_all(Fields& fields, const Collective& made) {
    const auto read = when(fields);
    if (!read) return fail(read.error());
    if (read->trigger || read->when.dependency == Dependency::AfterSend ||
        read->when.dependency == Dependency::AfterReceive) {
      return fields.wrong("Dep", "of a global collective must be 0 or 3");
    }
    if (!collective_of_.emplace(made.id, trace_.collectives.size()).second) {
      return fields.wrong("ID", fmt::format("{} is there twice", made.id));
    }
    ++global_;
    for (const std::uint32_t member : trace_.communicators[made.communicator]) {
      add_step(member, Step::Kind::Enter, trace_.collectives.size(), *read);
    }
    entered_.push_back({line_, {}});
    trace_.collectives.push_back(made);
    trace_.collectives.back().together = true;
    return {};
  }

  Result<void> enter_one(Fields& fields, const Collective& made) {
    const auto member = task(fields, "task");
    if (!member) return fail(member.error());
    const auto read = when(fields);
    if (!read) return fail(read.error());
    if (read->trigger) return fields.wrong("Dep", "of a collective must be 0 to 3");
    const auto [at, fresh] = collective_of_.emplace(made.id, trace_.collectives.size());
    if (fresh) {
      trace_.collectives.push_back(made);
      entered_.push_back({line_, {}});
    }
    const Collective& known = trace_.collectives[at->second];
    if (known.together) return fields.wrong("ID", fmt::format("{} is there twice", made.id));
    if (known.kind != made.kind || known.communicator != made.communicator || known.root != made.root ||
        known.bytes != made.bytes) {
      return fields.wrong("ID", fmt::format("{} is another collective in an earlier record", made.id));
    }
    const auto& members = trace_.communicators[made.communicator];
    if (std::ranges::find(members, *member) == members.end()) {
      return fields.wrong("task", fmt::format("{} is no member of the communicator", *member));
    }
    if (!entered_[at->second].tasks.insert(*member).second) {
      return fields.wrong("task", fmt::format("{} enters collective {} twice", *member, made.id));
    }
    ++local_;
    add_step(*member, Step::Kind::Enter, at->second, *read);
    return {};
  }

  Result<void> check_counts() const {
    const auto differs = [&](std::string_view field, std::uint64_t announced, std::uint64_t found) {
      return fail(ErrorCode::Invalid,
                  fmt::format("{}:1: {} is {}, but the file has {}", name_, field, announced, found));
    };
    if (trace_.messages.size() != header_.messages)
      return differs("nMsgs", header_.messages, trace_.messages.size());
    if (trace_.communicators.size() != header_.communicators) {
      return differs("nCOMM", header_.communicators, trace_.communicators.size());
    }
    if (global_ != header_.global_collectives)
      return differs("nCollComm", header_.global_collectives, global_);
    if (local_ != header_.local_collectives)
      return differs("nLocalCollComm", header_.local_collectives, local_);
    for (std::size_t i = 0; i < entered_.size(); ++i) {
      const std::size_t members = trace_.communicators[trace_.collectives[i].communicator].size();
      const std::size_t entered = entered_[i].tasks.size();
      if (entered != 0 && entered != members) {
        return fail(ErrorCode::Invalid,
                    fmt::format("{}:{}: collective {} is entered by {} of {} members", name_,
                                entered_[i].line, trace_.collectives[i].id, entered, members));
      }
    }
    return {};
  }

  Result<void> resolve() {
    for (const Unresolved& open : unresolved_) {
      Step& step = trace_.program[open.task][open.step];
      When& at = step.when;
      const auto wrong = [&](std::string_view what) {
        return fail(ErrorCode::Invalid, fmt::format("{}:{}: IDdep {} {}", name_, step.line, open.id, what));
      };
      if (at.dependency == Dependency::AfterCollective) {
        const auto found = collective_of_.find(open.id);
        if (found == collective_of_.end()) return wrong("names no collective of this trace");
        const auto& members = trace_.communicators[trace_.collectives[found->second].communicator];
        if (std::ranges::find(members, open.task) == members.end())
          return wrong("is a collective without this task");
        at.after = static_cast<std::uint32_t>(found->second);
        continue;
      }
      const auto found = message_of_.find(open.id);
      if (found == message_of_.end()) return wrong("names no message of this trace");
      const Message& on = trace_.messages[found->second];
      if (at.dependency == Dependency::AfterSend && on.source != open.task)
        return wrong("is not sent by this task");
      if (at.dependency == Dependency::AfterReceive) {
        if (on.target != open.task) return wrong("is not received by this task");
        if (trace_.version == Version::Vef3 && !on.trigger)
          return wrong("is no trigger: its Dep must be 4 to 7");
      }
      at.after = static_cast<std::uint32_t>(found->second);
    }
    for (auto& program : trace_.program) {
      for (const Step& step : program) {
        if (step.kind == Step::Kind::Send) trace_.messages[step.index].when = step.when;
      }
    }
    if (trace_.version == Version::Vef2) {
      for (const auto& program : trace_.program) {
        for (const Step& step : program) {
          if (step.when.dependency == Dependency::AfterReceive)
            trace_.messages[step.when.after].trigger = true;
        }
      }
    }
    return {};
  }

  std::istream& in_;
  std::string_view name_;
  std::string text_;
  std::size_t line_ = 0;
  Header header_;
  Trace trace_;
  std::uint64_t global_ = 0;
  std::uint64_t local_ = 0;
  std::unordered_map<std::uint64_t, std::size_t> message_of_;
  std::unordered_map<std::uint64_t, std::size_t> communicator_of_;
  std::unordered_map<std::uint64_t, std::size_t> collective_of_;
  std::vector<Entered> entered_;  // by collective; nobody of one that all enter together
  std::vector<Unresolved> unresolved_;
};

}  // namespace

std::string_view to_string(CollectiveKind kind) {
  return collective_names.at(static_cast<std::size_t>(kind));
}

Result<Trace> read_vef(std::istream& in, std::string_view name) { return Reader{in, name}.read(); }

Result<Trace> read_vef_file(const std::string& path) {
  std::ifstream in{path};
  if (!in) return fail(ErrorCode::Io, fmt::format("{}: cannot be opened for reading", path));
  return read_vef(in, path);
}

}  // namespace heddle::trace
