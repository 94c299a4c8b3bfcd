#include "app/recorded_run.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

#include "app/authorities.h"
#include "app/core_options.h"
#include "control/api.h"
#include "record/replay.h"
#include "version/version.h"
#include "vlarb/store.h"

namespace heddle::app {
namespace {

constexpr const char* recording_name = "the recording's configuration";

Result<std::string> text_of(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  if (!in) return fail(ErrorCode::Io, fmt::format("{} cannot be read", path));
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

bool is_secret(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return false;
  line.remove_prefix(begin);
  constexpr std::array keys{std::string_view{"m_key"}, std::string_view{"sm_key"},
                            std::string_view{"fabric.m_key"}, std::string_view{"sm.sm_key"}};
  for (const auto& key : keys) {
    if (line.starts_with(key)) return true;
  }
  return false;
}

/// What the handlers of control/ need of a daemon that is played.
class PlayedDaemon final : public control::Daemon {
 public:
  explicit PlayedDaemon(core::FabricCore& core) : core_{core} {}

  [[nodiscard]] control::DaemonState state() const override {
    control::DaemonState state;
    if (core_.seen()) state.fabric = core_.seen()->fabric;
    state.planes = core_.planes();
    state.sample = core_.sampler().latest();
    state.name = [shown = core_.shown()](const Node& node) { return shown->of(node); };
    state.now = core_.now();
    return state;
  }
  [[nodiscard]] control::Answers& answers() override { return answers_; }
  [[nodiscard]] Result<Scrape> metrics(const std::map<std::string, std::string>& /*query*/,
                                       bool /*open_metrics*/) override {
    return fail(ErrorCode::Unsupported, "nobody scrapes what is played");
  }
  Result<void> look_at_queues(const std::vector<PortIndex>& ports, sampling::QueueProbe::Done done) override {
    return core_.look_at_queues(ports, std::move(done));
  }
  control::QosControl* qos() override { return &core_.qos(); }
  Result<std::string> take_subnet(const std::string& by) override { return core_.take_subnet(by); }
  [[nodiscard]] std::optional<std::vector<Lid>> lids_through(const PortRef& port) const override {
    return core_.authority().lids_through(port);
  }
  [[nodiscard]] core::RegulationControl* regulation() override { return core_.regulation_control(); }

 private:
  core::FabricCore& core_;
  control::Answers answers_{[](control::Lane /*lane*/, const std::function<void()>& /*job*/) {},
                            [](const std::function<void()>& then) { then(); }};
};

/// All that a recording is played with; nothing of it is a file or a socket.
class Player {
 public:
  Player(const record::Opening& opening, Config config, NodeNames names, std::ostream& out)
      : config_{std::move(config)},
        replay_{opening,
                [&out](Instant at, core::Severity severity, const std::string& text) {
                  constexpr std::array words{"debug", "info", "warning", "error"};
                  if (severity == core::Severity::Debug) return;
                  out << fmt::format("{:.6f} {}: {}\n", seconds(at.time_since_epoch()),
                                     words.at(static_cast<std::size_t>(severity)), text);
                }},
        plans_{config_.state.directory + "/plan.json", replay_.desk(), plan_file(opening)},
        opening_{opening},
        options_{core_options(config_, std::move(names), opening.calendar)} {}

  /// Makes the core as it was made.
  Result<void> make(const record::Entry& made) {
    replay_.prepare(made);
    auto kept = opening_.qos.empty() ? Result<std::vector<vlarb::Assignment>>{}
                                     : vlarb::parse(opening_.qos, recording_name);
    core_ = std::make_unique<core::FabricCore>(
        core::Around{.transport = replay_,
                     .plans = plans_,
                     .desk = replay_.desk(),
                     .qos = {std::move(kept), [](const auto&) { return Result<void>{}; }},
                     .outside = replay_},
        options_);
    const auto entering = [](core::Source) {
      return Enter{[](const std::function<void()>& then) { then(); }};
    };
    auto in_force = open_authority({.io = io_,
                                    .transport = replay_,
                                    .migrator = opening_.hosts ? &replay_ : nullptr,
                                    .core = *core_,
                                    .plans = plans_,
                                    .entering = entering,
                                    .replay = &replay_},
                                   config_);
    if (!in_force) return fail(in_force.error());
    in_force_ = *std::move(in_force);
    core_->use(std::move(in_force_.authority));
    core_->know_left_off(opening_.left_off);
    if (opening_.journal) {
      auto journal = journal::open_image(*opening_.journal, opening_.calendar);
      if (!journal) return fail(journal.error());
      journal_ = replay_.between(*std::move(journal));
      core_->regulate_with(*journal_);
    }
    daemon_ = std::make_unique<PlayedDaemon>(*core_);
    replay_.play(*core_, [handler = control::api_handler(*daemon_)](const std::string& words) {
      handler(parse_request(words), [](const control::Response&) {});
    });
    return {};
  }
  [[nodiscard]] bool is_made() const { return daemon_ != nullptr; }
  [[nodiscard]] record::Replay& replay() { return replay_; }

 private:
  [[nodiscard]] opensm::PlanStore::File plan_file(const record::Opening& opening) {
    return {[this, &opening](const std::string& path) -> Result<plan::Plan> {
              const auto& text = path == plans_.path() ? opening.plan : opening.plan_before;
              if (!text) return fail(ErrorCode::NotFound, path + " is not in the recording");
              return plan::parse(*text, path);
            },
            [failing = replay_.failing(record::Answer::What::PlanFailed)](
                const std::string&, const plan::Plan&) { return failing(); }};
  }

  Config config_;
  boost::asio::io_context io_;  ///< nothing runs in it
  record::Replay replay_;
  opensm::PlanStore plans_;
  const record::Opening& opening_;
  core::CoreOptions options_;
  std::unique_ptr<journal::Journal> journal_;
  AuthorityInForce in_force_;
  std::unique_ptr<core::FabricCore> core_;
  std::unique_ptr<PlayedDaemon> daemon_;
};

Result<Config> config_of(const record::Opening& opening) {
  auto config = parse_config(opening.configuration, recording_name);
  if (!config) return config;
  for (const auto& assignment : opening.overrides) {
    if (auto set = override_config(*config, assignment); !set) return fail(set.error());
  }
  if (!can_be_recorded(*config))
    return fail(ErrorCode::Unsupported, "no recording is made of daemons that take turns");
  return config;
}

/// The sentence is what it came to.
Result<std::string> play(record::Blocks& blocks, const ReplayAsked& asked, std::ostream& out) {
  const auto damaged = [&] {
    return fail(ErrorCode::Invalid, asked.file + " is no recording, or a damaged one");
  };
  if (!blocks.begins()) return damaged();
  const auto first = blocks.next();
  if (!first || first->first != record::Block::Opening) return damaged();
  const auto opening = record::parse_opening(first->second);
  if (!opening) return fail(opening.error());
  if (opening->build != version_and_commit() && !asked.another_build) {
    return fail(ErrorCode::Refused,
                fmt::format("this recording is of heddled {}, and this is {}: what differs may be "
                            "the program's doing; --try plays it all the same",
                            opening->build, version_and_commit()));
  }
  auto config = config_of(*opening);
  if (!config) return fail(config.error());
  auto names = NodeNames::parse(opening->node_names, "the recording's node names");
  if (!names) return fail(names.error());
  std::unique_ptr<Player> player =
      std::make_unique<Player>(*opening, *std::move(config), *std::move(names), out);
  std::string end = "it breaks off there, as of a daemon that was killed";
  for (auto block = blocks.next(); block; block = blocks.next()) {
    if (block->first == record::Block::End) {
      end = block->second;
      break;
    }
    if (block->first != record::Block::Entry) return damaged();
    const auto entry = record::parse_entry(block->second);
    if (!entry) return fail(entry.error());
    const bool begins = entry->kind == record::Kind::Made;
    if (begins == player->is_made()) return damaged();
    if (begins) {
      if (auto made = player->make(*entry); !made) return fail(made.error());
    }
    if (const auto differs = player->replay().step(*entry)) return fail(ErrorCode::Conflict, *differs);
  }
  const record::Replay& replay = player->replay();
  return fmt::format("{} events, {} deeds, to {:.3f} s: the same; {}", replay.events(), replay.deeds(),
                     seconds(replay.now().time_since_epoch()), end);
}

/// TOML has more ways to say a thing than without_secrets() knows.
Result<void> expect_no_secrets(const std::string& toml) {
  const auto rest = parse_config(toml, recording_name);
  if (rest && rest->notify_entries.empty() && secrets_of(*rest) == secrets_of(Config{})) return {};
  return fail(
      ErrorCode::Invalid,
      "--record: give m_key, sm_key and [[notify.destination]] lines and sections of their own in the "
      "configuration, so that they can be left out of the recording");
}

}  // namespace

std::string without_secrets(std::string_view toml) {
  std::string kept;
  bool notifies = false;
  while (!toml.empty()) {
    const std::size_t end = std::min(toml.find('\n'), toml.size() - 1) + 1;
    const std::string_view line = toml.substr(0, end);
    toml.remove_prefix(end);
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin != std::string_view::npos && line[begin] == '[') {
      notifies = line.substr(begin).starts_with("[[notify") || line.substr(begin).starts_with("[notify");
    }
    if (!notifies && !is_secret(line)) kept += line;
  }
  return kept;
}

Result<record::Opening> opening_of(const ConfigSource& source, const Config& config,
                                   record::Recorder& recorder) {
  record::Opening opening;
  opening.build = version_and_commit();
  if (!source.file.empty()) {
    const auto text = text_of(source.file);
    if (!text) return fail(text.error());
    opening.configuration = without_secrets(*text);
    if (auto clean = expect_no_secrets(opening.configuration); !clean) return fail(clean.error());
  }
  for (const auto& assignment : source.overrides) {
    if (!is_secret(assignment)) opening.overrides.push_back(assignment);
  }
  for (const auto& [key, secret] : secrets_of(config)) {
    opening.overrides.push_back(fmt::format("{}=0x{:x}", key, recorder.key(secret)));
  }
  if (!config.fabric.node_names.empty()) {
    auto names = text_of(config.fabric.node_names);
    if (!names) return fail(names.error());
    opening.node_names = *std::move(names);
  }
  const std::string qos = config.state.directory + "/qos.json";
  std::error_code ignored;
  if (std::filesystem::exists(qos, ignored)) opening.qos = text_of(qos).value_or("");
  const std::string plan = config.state.directory + "/plan.json";
  if (const auto text = text_of(plan)) opening.plan = *text;
  if (const auto text = text_of(plan + ".previous")) opening.plan_before = *text;
  return opening;
}

std::string to_bytes(const control::Request& request) {
  record::Writer out;
  out.number(static_cast<std::uint8_t>(request.post)).text(request.path);
  out.number(static_cast<std::uint32_t>(request.query.size()));
  for (const auto& [name, value] : request.query) out.text(name).text(value);
  out.text(request.body).number(static_cast<std::uint8_t>(request.access)).text(request.peer);
  return out.bytes();
}

control::Request parse_request(std::string_view bytes) {
  record::Reader in{bytes};
  control::Request request;
  request.post = in.number<std::uint8_t>() != 0;
  request.path = in.text();
  for (auto left = in.number<std::uint32_t>(); left > 0 && in.good(); --left) {
    std::string name = in.text();
    request.query[std::move(name)] = in.text();
  }
  request.body = in.text();
  request.access = in.one_up_to(control::Access::Root);
  request.peer = in.text();
  return request;
}

int replay(const ReplayAsked& asked, std::ostream& out, std::ostream& err) {
  std::ifstream file{asked.file, std::ios::binary};
  const int closed = file ? 0 : errno;
  std::error_code unknown;
  const int error = std::filesystem::is_directory(asked.file, unknown) ? EISDIR : closed;
  if (error != 0) {
    err << fmt::format("heddled: --replay {}: {}\n", asked.file, std::strerror(error));
    return 1;
  }
  record::Blocks blocks{file};
  const auto played = play(blocks, asked, out);
  if (!played) {
    err << "heddled: " << played.error().message << '\n';
    return 1;
  }
  out << *played << '\n';
  return 0;
}

}  // namespace heddle::app
