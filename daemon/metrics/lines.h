/// Writes lines of the Prometheus text format 0.0.4 at the speed at which memory is copied. For the .cc files
/// of metrics/.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "metrics/labels.h"

namespace heddle::metrics {

inline void append_number(std::string& out, std::uint64_t value) {
  char text[20];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}
inline void append_number(std::string& out, double value) {
  char text[32];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}
/// As short as tells it from its neighbours.
inline void append_number(std::string& out, float value) {
  char text[32];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

/// `name{label="value"`, to be followed by further labels and end_line(); `first` comes before, as it is.
inline void begin_line(std::string& out, std::string_view name, std::string_view first,
                       std::string_view label, std::string_view value) {
  out.append(name).append("{").append(first).append(label).append("=\"").append(value);
  out += '"';
}
/// `name{guid="...",port="..."`, likewise.
inline void begin_port_line(std::string& out, std::string_view name, std::string_view first,
                            std::string_view guid, PortNum port) {
  begin_line(out, name, first, "guid", guid);
  out.append(",port=\"");
  append_number(out, std::uint64_t{port.raw()});
  out += '"';
}
/// `value` must be escaped already.
inline void append_label(std::string& out, std::string_view label, std::string_view value) {
  out += ',';
  out.append(label).append("=\"").append(value);
  out += '"';
}
template <class Number>
void end_line(std::string& out, Number value) {
  out.append("} ");
  append_number(out, value);
  out += '\n';
}

}  // namespace heddle::metrics
