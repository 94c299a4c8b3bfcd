#include "heddle/qos_options.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

#include "fabric/link_rate.h"

namespace heddle::cli {
namespace {

constexpr std::streamsize most_bytes = 1 << 20;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::optional<std::uint32_t> whole(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> real(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::optional<unsigned> data_vl(std::string_view text) {
  const auto vl = whole(text);
  return vl && *vl < qos::max_data_vls ? std::optional<unsigned>{*vl} : std::nullopt;
}

}  // namespace

Result<std::string> read_text(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file) return fail(ErrorCode::Io, fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  std::string text(static_cast<std::size_t>(most_bytes) + 1, '\0');
  file.read(text.data(), most_bytes + 1);
  if (file.bad()) return fail(ErrorCode::Io, fmt::format("cannot read {}", path));
  if (file.gcount() > most_bytes)
    return fail(ErrorCode::Invalid, fmt::format("{} is larger than a megabyte", path));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

Result<std::array<qos::PacketMix, qos::max_data_vls>> packet_bytes(const std::string& text) {
  const auto refuse = [&](std::string_view part, std::string_view reason) {
    return fail(ErrorCode::Invalid, fmt::format("--packet-bytes {}: '{}' {}", text, part, reason));
  };
  qos::PacketMix common{qos::weight_unit_bytes};
  std::array<qos::PacketMix, qos::max_data_vls> own;
  for (const auto part : split(text, ',')) {
    const auto equals = part.find('=');
    qos::PacketMix mix;
    for (const auto size : split(equals == std::string_view::npos ? part : part.substr(equals + 1), '+')) {
      const auto bytes = whole(size);
      if (!bytes || *bytes == 0 || *bytes > qos::max_packet_bytes) {
        return refuse(part,
                      fmt::format("is not a size of 1 to {} bytes, nor VL=size", qos::max_packet_bytes));
      }
      mix.push_back(*bytes);
    }
    if (equals == std::string_view::npos) {
      common = mix;
      continue;
    }
    const auto vl = data_vl(part.substr(0, equals));
    if (!vl) return refuse(part, "names no VL from 0 to 14");
    own[*vl] = mix;
  }
  for (auto& mix : own) {
    if (mix.empty()) mix = common;
  }
  return own;
}

Result<qos::OfferedLoads> offered_loads(const std::string& text) {
  qos::OfferedLoads loads;
  for (const auto part : split(text, ',')) {
    const auto equals = part.find('=');
    const auto vl = data_vl(part.substr(0, equals));
    const auto load = equals == std::string_view::npos ? std::nullopt : real(part.substr(equals + 1));
    if (!vl || !load || *load < 0) {
      return fail(ErrorCode::Invalid,
                  fmt::format("--load {}: '{}' is not VL=x with a VL from 0 to 14 and x of the link rate",
                              text, part));
    }
    loads[*vl] = *load;
  }
  return loads;
}

Result<qos::DTableClass> dtable_class(const std::string& text) {
  const auto refuse = [&](const std::string& reason) {
    return fail(ErrorCode::Invalid,
                fmt::format("--sl {}: {}; want NAME:distance=D,mtu=BYTES,share=PHI", text, reason));
  };
  const auto colon = text.find(':');
  if (colon == std::string::npos || colon == 0) return refuse("no name");
  qos::DTableClass out;
  out.name = text.substr(0, colon);
  for (const auto part : split(std::string_view{text}.substr(colon + 1), ',')) {
    const auto equals = std::min(part.find('='), part.size());
    const auto key = part.substr(0, equals);
    const auto value = part.substr(std::min(equals + 1, part.size()));
    if (key == "distance") {
      const auto distance = whole(value);
      if (!distance) return refuse(fmt::format("distance '{}' is no number", value));
      out.distance = *distance;
    } else if (key == "mtu") {
      const auto bytes = whole(value);
      if (!bytes || *bytes == 0 || *bytes > qos::max_packet_bytes)
        return refuse(fmt::format("mtu '{}'", value));
      out.mtu = (*bytes + qos::credit_bytes - 1) / qos::credit_bytes;
    } else if (key == "share") {
      const auto share = real(value);
      if (!share) return refuse(fmt::format("share '{}' is no number", value));
      out.share = *share;
    } else {
      return refuse(fmt::format("'{}' is none of distance, mtu, share", key));
    }
  }
  if (out.distance == 0) return refuse("no distance");
  if (out.mtu == 0) return refuse("no mtu");
  return out;
}

Result<BitRate> link_rate(const std::string& text) {
  const auto x = text.find('x');
  if (x != std::string::npos) {
    const auto width = link_width(text.substr(0, x + 1));
    const auto speed = link_speed(text.substr(x + 1));
    if (width && speed && data_rate(*width, *speed).value() > 0) return data_rate(*width, *speed);
  }
  return fail(ErrorCode::Invalid, fmt::format("'{}' is no link rate: give width and speed, as 4xEDR", text));
}

}  // namespace heddle::cli
