#include "app/state_files.h"

#include <chrono>
#include <filesystem>
#include <system_error>

#include "vlarb/store.h"

namespace heddle::app {
namespace {

std::filesystem::path file_of_journal(const Config& config) {
  return std::filesystem::path(config.state.directory) / "journal.db";
}

}  // namespace

journal::Calendar calendar_of(const transport::Clock& clock) {
  return {std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now()),
          clock.now()};
}

Result<std::unique_ptr<journal::Journal>> open_journal(const Config& config,
                                                       const journal::Calendar& calendar) {
  std::error_code ignored;  // the journal says what is wrong
  std::filesystem::create_directories(config.state.directory, ignored);
  return journal::open_journal(file_of_journal(config), calendar);
}

std::vector<PortRef> ports_left_off(const Config& config, const journal::Calendar& calendar) {
  const auto file = file_of_journal(config);
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return {};
  const auto journal = journal::open_journal(file, calendar);
  std::vector<PortRef> ports;
  if (!journal) return ports;
  for (const auto& [link, off] : (*journal)->memory().off) {
    if (!off.mode.on()) ports.push_back(off.port);
  }
  return ports;
}

core::QosStore qos_store(const Config& config) {
  const std::string path = config.state.directory + "/qos.json";
  return {vlarb::load(path),
          [path](const std::vector<vlarb::Assignment>& all) { return vlarb::store(path, all); }};
}

}  // namespace heddle::app
