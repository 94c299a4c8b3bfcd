#include <fmt/format.h>

#include <toml++/toml.h>
#include <cmath>
#include <initializer_list>

#include "fabric/link_rate.h"
#include "qos/designer.h"

namespace heddle::qos {
namespace {

/// Reads one table's keys; the first thing that is wrong is kept, with its line.
class Reader {
 public:
  Reader(const toml::table& table, const std::string& name, std::string where)
      : table_{table}, name_{name}, where_{std::move(where)} {}

  void only(std::initializer_list<std::string_view> keys) {
    for (const auto& [key, value] : table_) {
      if (std::find(keys.begin(), keys.end(), key.str()) == keys.end()) {
        refuse(value, fmt::format("unknown key '{}'", key.str()));
      }
    }
  }

  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view key, std::int64_t least,
                                                    std::int64_t most) {
    const auto* node = table_.get(key);
    if (node == nullptr) return std::nullopt;
    const auto value = node->value_exact<std::int64_t>();
    if (value && *value >= least && *value <= most) return value;
    refuse(*node, fmt::format("{} is not a whole number from {} to {}", key, least, most));
    return std::nullopt;
  }

  [[nodiscard]] std::optional<double> real(std::string_view key) {
    const auto* node = table_.get(key);
    if (node == nullptr) return std::nullopt;
    const auto value = node->value<double>();
    if (value && node->is_number() && std::isfinite(*value)) return value;
    refuse(*node, fmt::format("{} is not a number", key));
    return std::nullopt;
  }

  [[nodiscard]] std::optional<std::string> word(std::string_view key,
                                                std::initializer_list<std::string_view> words) {
    const auto* node = table_.get(key);
    if (node == nullptr) return std::nullopt;
    const auto value = node->value_exact<std::string>();
    if (value && (words.size() == 0 || std::find(words.begin(), words.end(), *value) != words.end()))
      return value;
    std::string wanted;
    for (const auto each : words) wanted += fmt::format("{}\"{}\"", wanted.empty() ? "" : ", ", each);
    refuse(*node, words.size() == 0 ? fmt::format("{} is not a string", key)
                                    : fmt::format("{} is none of {}", key, wanted));
    return std::nullopt;
  }

  void missing(std::string_view key) {
    if (!error_) error_ = fmt::format("{}:{}: {}: no {}", name_, table_.source().begin.line, where_, key);
  }
  void refuse(const toml::node& node, const std::string& reason) {
    if (!error_) error_ = fmt::format("{}:{}: {}: {}", name_, node.source().begin.line, where_, reason);
  }

  [[nodiscard]] Result<void> done() const {
    if (error_) return fail(ErrorCode::Invalid, *error_);
    return {};
  }

  [[nodiscard]] const toml::table& table() const { return table_; }

 private:
  const toml::table& table_;
  const std::string& name_;
  std::string where_;
  std::optional<std::string> error_;
};

Result<void> read_port(const toml::table& table, const std::string& name, DesignPort& port) {
  Reader reader{table, name, "[port]"};
  reader.only({"high_entries", "low_entries", "mtu", "rate", "vls"});
  port.high_entries =
      static_cast<std::uint32_t>(reader.integer("high_entries", 1, 64).value_or(port.high_entries));
  port.low_entries =
      static_cast<std::uint32_t>(reader.integer("low_entries", 0, 64).value_or(port.low_entries));
  port.mtu = static_cast<std::uint32_t>(reader.integer("mtu", 64, 16384).value_or(port.mtu));
  port.data_vls = static_cast<unsigned>(reader.integer("vls", 1, 15).value_or(port.data_vls));
  if (const auto rate = reader.word("rate", {})) {
    const auto x = std::min(rate->find('x'), rate->size() - (rate->empty() ? 0 : 1));
    const auto width = link_width(std::string_view{*rate}.substr(0, std::min(x + 1, rate->size())));
    const auto speed = link_speed(std::string_view{*rate}.substr(std::min(x + 1, rate->size())));
    if (width && speed && data_rate(*width, *speed).value() > 0) {
      port.rate = data_rate(*width, *speed);
    } else {
      reader.refuse(*table.get("rate"), fmt::format("rate '{}' is no width and speed, as 4xEDR", *rate));
    }
  }
  return reader.done();
}

Result<void> read_design(const toml::table& table, const std::string& name, DesignRequest& request) {
  Reader reader{table, name, "[design]"};
  reader.only({"error", "low_grant", "rounding", "largest_limit"});
  request.error = reader.real("error").value_or(request.error);
  request.largest_limit = static_cast<std::uint8_t>(reader.integer("largest_limit", 0, 254).value_or(254));
  if (reader.word("low_grant", {"entry", "packet"}).value_or("entry") == "packet")
    request.grant = LowGrant::Packet;
  const auto rounding = reader.word("rounding", {"up", "deficit", "units"}).value_or("up");
  if (rounding == "deficit") request.rounding = Rounding::Deficit;
  if (rounding == "units") request.rounding = Rounding::Units;
  return reader.done();
}

Result<SlRequest> read_sl(const toml::table& table, const std::string& name) {
  Reader reader{table, name, "[[sl]]"};
  reader.only({"sl", "share", "priority", "distance", "latency_ns"});
  SlRequest out;
  const auto sl = reader.integer("sl", 0, 15);
  if (!sl) reader.missing("sl");
  out.sl = Sl{static_cast<std::uint8_t>(sl.value_or(0))};
  const auto share = reader.real("share");
  if (!share) reader.missing("share");
  out.share = share.value_or(0);
  if (reader.word("priority", {"high", "low"}).value_or("high") == "low") out.priority = Priority::Low;
  if (const auto distance = reader.integer("distance", 1, 1'000'000)) {
    out.distance = static_cast<std::uint32_t>(*distance);
  }
  out.latency_ns = reader.real("latency_ns");
  if (auto good = reader.done(); !good) return fail(good.error());
  return out;
}

Result<DesignRequest> read_request(const toml::table& root, const std::string& name) {
  Reader reader{root, name, "top"};
  reader.only({"port", "design", "sl"});
  if (auto good = reader.done(); !good) return fail(good.error());
  DesignRequest request;
  if (const auto* port = root.get("port")) {
    if (!port->is_table()) reader.refuse(*port, "port is not a table");
    if (port->is_table()) {
      if (auto good = read_port(*port->as_table(), name, request.port); !good) return fail(good.error());
    }
  }
  if (const auto* design = root.get("design")) {
    if (!design->is_table()) reader.refuse(*design, "design is not a table");
    if (design->is_table()) {
      if (auto good = read_design(*design->as_table(), name, request); !good) return fail(good.error());
    }
  }
  const auto* sls = root.get("sl");
  if (sls == nullptr || !sls->is_array()) {
    reader.missing("[[sl]]");
    return fail(reader.done().error());
  }
  for (const auto& each : *sls->as_array()) {
    if (!each.is_table()) {
      reader.refuse(each, "sl is not a table: write [[sl]]");
      continue;
    }
    auto sl = read_sl(*each.as_table(), name);
    if (!sl) return fail(sl.error());
    request.sls.push_back(*sl);
  }
  if (auto good = reader.done(); !good) return fail(good.error());
  return request;
}

}  // namespace

Result<DesignRequest> parse_design_request(std::string_view toml, const std::string& name) {
  try {
    return read_request(toml::parse(toml), name);
  } catch (const toml::parse_error& error) {
    return fail(ErrorCode::Invalid,
                fmt::format("{}:{}: {}", name, error.source().begin.line, std::string{error.description()}));
  }
}

}  // namespace heddle::qos
