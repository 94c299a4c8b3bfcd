#include "discovery/survey.h"

#include <fmt/format.h>

#include "base/printable.h"

namespace heddle::discovery {

std::string name_of(const SurveyNode& node) {
  return fmt::format("{} ({})", quoted(node.description), to_string(node.guid()));
}

std::string name_of(const SurveyNode& node, PortNum port) {
  return fmt::format("port {} of {}", port.raw(), name_of(node));
}

}  // namespace heddle::discovery
