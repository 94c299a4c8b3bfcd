#include <fmt/format.h>

#include "power/power_model.h"

namespace heddle::power {
namespace {

/// A basic string of TOML. Not "quoted": the standard library has one of that name, which comes in with
/// others' headers.
std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += fmt::format("\\{}", c);
    } else if (code < 0x20 || code == 0x7f) {
      out += fmt::format("\\u{:04x}", code);
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string ports_of(const DeviceModel& model) {
  std::string list;
  for (const PortPower& port : model.ports) {
    list += fmt::format("{}{{ mode = {}, watts = {} }}", list.empty() ? "" : ", ",
                        toml_string(to_string(port.mode)), port.watts.value());
  }
  return list;
}

std::string figures_of(const DeviceModel& model) {
  if (!model.figures) return "figures = false\n";
  std::string text = fmt::format("base = {}\nport_off = {}\nports_a_cage = {}\n", model.base.value(),
                                 model.port_off.value(), model.ports_a_cage);
  if (model.adapters) text += "adapters = true\n";
  if (!model.ports.empty()) text += fmt::format("ports = [ {} ]\n", ports_of(model));
  for (std::size_t i = 0; i < cable_kinds; ++i) {
    if (!model.modules[i]) continue;
    text += fmt::format("modules.{} = {{ watts = {} }}\n", to_string(static_cast<Cable>(i)),
                        model.modules[i]->watts.value());
  }
  return text;
}

}  // namespace

std::string write_models(const std::vector<DeviceModel>& models) {
  std::string text;
  for (const DeviceModel& model : models) {
    if (is_default(model)) continue;
    text += fmt::format("[[power.model]]\nname = {}\n", toml_string(model.name));
    if (model.vendor_id) text += fmt::format("vendor = {}\n", *model.vendor_id);
    if (model.device_id) text += fmt::format("device = {}\n", *model.device_id);
    if (!model.pattern.empty()) text += fmt::format("pattern = {}\n", toml_string(model.pattern));
    text += figures_of(model);
  }
  return text;
}

}  // namespace heddle::power
