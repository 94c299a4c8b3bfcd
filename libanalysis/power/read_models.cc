#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "power/power_model.h"

namespace heddle::power {
namespace {

/// The first thing that is wrong with a text, with its line.
class Reader {
 public:
  explicit Reader(const std::string& name) : name_{name} {}

  void refuse(const toml::node& node, const std::string& reason) {
    if (!error_) error_ = fmt::format("{}:{}: {}", name_, node.source().begin.line, reason);
  }
  void only(const toml::table& table, std::initializer_list<std::string_view> keys) {
    for (const auto& [key, value] : table) {
      if (std::find(keys.begin(), keys.end(), key.str()) == keys.end())
        refuse(value, fmt::format("unknown key '{}' in a power model", key.str()));
    }
  }
  Watts power(const toml::table& table, std::string_view key, bool required) {
    const toml::node* node = table.get(key);
    if (node == nullptr) {
      if (required) refuse(table, fmt::format("a power model without {}", key));
      return {};
    }
    const auto value = node->value<double>();
    if (value && node->is_number() && std::isfinite(*value) && *value >= 0) return Watts{*value};
    refuse(*node, fmt::format("{} is not a number of watts from 0 on", key));
    return {};
  }
  std::optional<std::string> text(const toml::table& table, std::string_view key) {
    const toml::node* node = table.get(key);
    if (node == nullptr) return std::nullopt;
    auto value = node->value_exact<std::string>();
    if (!value) refuse(*node, fmt::format("{} is not a string", key));
    return value;
  }
  template <class Int>
  std::optional<Int> number(const toml::table& table, std::string_view key) {
    const toml::node* node = table.get(key);
    if (node == nullptr) return std::nullopt;
    const auto value = node->value_exact<std::int64_t>();
    if (value && *value >= 0 && *value <= std::int64_t{std::numeric_limits<Int>::max()})
      return static_cast<Int>(*value);
    refuse(*node, fmt::format("{} is not a whole number from 0 to {}", key, std::numeric_limits<Int>::max()));
    return std::nullopt;
  }

  [[nodiscard]] const std::optional<std::string>& error() const { return error_; }

 private:
  const std::string& name_;
  std::optional<std::string> error_;
};

void read_ports(Reader& reader, const toml::table& table, DeviceModel& model) {
  const toml::array* ports = table["ports"].as_array();
  if (table.get("ports") == nullptr && table.get("modules") != nullptr) return;
  if (ports == nullptr || ports->empty()) {
    reader.refuse(table, "a power model without ports = [ { mode = \"4xHDR\", watts = 3.1 } ]");
    return;
  }
  for (const toml::node& entry : *ports) {
    const toml::table* port = entry.as_table();
    if (port == nullptr) {
      reader.refuse(entry, "a port is { mode = \"4xHDR\", watts = 3.1 }");
      return;
    }
    reader.only(*port, {"mode", "watts"});
    const auto text = reader.text(*port, "mode");
    const auto mode = text ? mode_from(*text) : std::nullopt;
    if (!mode) {
      reader.refuse(entry, "mode is none of 1xSDR, 4xDDR, 4xHDR and so on");
      return;
    }
    const auto listed = [&](const PortPower& other) { return other.mode == *mode; };
    if (std::any_of(model.ports.begin(), model.ports.end(), listed))
      reader.refuse(entry, fmt::format("mode {} is listed twice", *text));
    model.ports.push_back({*mode, reader.power(*port, "watts", true)});
  }
}

Origin read_origin(Reader& reader, const toml::table& table) {
  Origin origin;
  origin.source = reader.text(table, "source").value_or("");
  if (const auto kind = reader.text(table, "kind")) {
    for (const Kind each : {Kind::Measured, Kind::Typical, Kind::Maximum, Kind::Estimated}) {
      if (to_string(each) == *kind) origin.kind = each;
    }
    if (origin.kind == Kind::Unsaid)
      reader.refuse(*table.get("kind"), "kind is measured, typical, maximum or estimated");
  }
  if (const toml::node* node = table.get("range")) {
    const toml::array* range = node->as_array();
    const auto end = [&](std::size_t i) {
      return range != nullptr && range->size() == 2 ? range->get(i)->value<double>() : std::nullopt;
    };
    if (end(0) && end(1) && 0 <= *end(0) && *end(0) <= *end(1) && std::isfinite(*end(1))) {
      origin.range = {Watts{*end(0)}, Watts{*end(1)}};
    } else {
      reader.refuse(*node, "range is [ least, most ], both in watts");
    }
  }
  return origin;
}

void read_modules(Reader& reader, const toml::table& table, DeviceModel& model) {
  const toml::node* node = table.get("modules");
  if (node == nullptr) return;
  const toml::table* modules = node->as_table();
  if (modules == nullptr) return reader.refuse(*node, "modules is a table: modules.optical = { watts = 15 }");
  for (const auto& [key, value] : *modules) {
    const auto cable = cable_from(key.str());
    const toml::table* module = value.as_table();
    if (!cable || module == nullptr) {
      reader.refuse(value, "modules are copper, aoc and optical, each { watts = 4.5 }");
      return;
    }
    reader.only(*module, {"watts", "kind", "source", "range"});
    model.modules[static_cast<std::size_t>(*cable)] = {reader.power(*module, "watts", true),
                                                       read_origin(reader, *module)};
  }
}

DeviceModel read_model(Reader& reader, const toml::table& table) {
  reader.only(table, {"name", "vendor", "device", "pattern", "adapters", "figures", "base", "port_off",
                      "ports", "ports_a_cage", "modules", "kind", "source", "range"});
  DeviceModel model;
  model.name = reader.text(table, "name").value_or("");
  model.vendor_id = reader.number<std::uint32_t>(table, "vendor");
  model.device_id = reader.number<std::uint16_t>(table, "device");
  model.pattern = reader.text(table, "pattern").value_or("");
  if (!model.vendor_id && !model.device_id && model.pattern.empty())
    reader.refuse(table, "a power model without vendor, device and pattern; give at least one");
  if (const toml::node* node = table.get("adapters")) {
    const auto value = node->value_exact<bool>();
    if (!value) reader.refuse(*node, "adapters is neither true nor false");
    model.adapters = value.value_or(false);
  }
  if (const toml::node* node = table.get("figures"); node != nullptr && node->value_exact<bool>() == false) {
    model.figures = false;
    reader.only(table, {"name", "vendor", "device", "pattern", "figures"});
    return model;
  }
  model.base = reader.power(table, "base", true);
  model.origin = read_origin(reader, table);
  if (const auto ports = reader.number<std::uint8_t>(table, "ports_a_cage")) {
    model.ports_a_cage = std::max<unsigned>(*ports, 1);
  }
  read_modules(reader, table, model);
  model.port_off = reader.power(table, "port_off", false);
  read_ports(reader, table, model);
  return model;
}

}  // namespace

std::optional<LinkMode> mode_from(std::string_view text) {
  const std::size_t x = text.find('x');
  if (x == std::string_view::npos) return std::nullopt;
  const auto width = link_width(text.substr(0, x + 1));
  const auto speed = link_speed(text.substr(x + 1));
  if (!width || !speed) return std::nullopt;
  const LinkMode mode{*width, *speed};
  return mode.on() ? std::optional{mode} : std::nullopt;
}

Result<std::vector<DeviceModel>> read_models(std::string_view toml, const std::string& name) {
  Reader reader{name};
  std::vector<DeviceModel> models;
  try {
    const toml::table file = toml::parse(toml, name);
    const toml::node* power = file.get("power");
    if (power == nullptr) return models;
    const toml::table* section = power->as_table();
    if (section == nullptr) {
      reader.refuse(*power, "power is a table: write [[power.model]]");
    } else {
      const toml::node* list = section->get("model");
      const toml::array* tables = list == nullptr ? nullptr : list->as_array();
      if (list != nullptr && tables == nullptr) reader.refuse(*list, "write [[power.model]], one a model");
      if (tables != nullptr) {
        for (const toml::node& node : *tables) {
          const toml::table* table = node.as_table();
          if (table == nullptr) {
            reader.refuse(node, "write [[power.model]], one a model");
            break;
          }
          models.push_back(read_model(reader, *table));
        }
      }
    }
  } catch (const toml::parse_error& error) {
    return fail(ErrorCode::Invalid,
                fmt::format("{}:{}: {}", name, error.source().begin.line, error.description()));
  }
  if (reader.error()) return fail(ErrorCode::Invalid, *reader.error());
  return models;
}

}  // namespace heddle::power
