#include "vlarb/store.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <fstream>
#include <iterator>

#include "files/durable_file.h"

namespace heddle::vlarb {
namespace {

namespace json = boost::json;

tl::unexpected<Error> io(const Error& error) {
  return fail(ErrorCode::Io, error.message + " (state.directory in the configuration says where it lies)");
}

Result<Assignment> read_one(const json::value& value, const std::string& name) {
  const auto* object = value.if_object();
  const auto text = [object](std::string_view key) -> const json::string* {
    const auto* member = object == nullptr ? nullptr : object->if_contains(key);
    return member == nullptr ? nullptr : member->if_string();
  };
  const auto* plan_name = text("name");
  const auto* ports = text("ports");
  const auto* plan = object == nullptr ? nullptr : object->if_contains("plan");
  if (plan_name == nullptr || ports == nullptr || plan == nullptr)
    return fail(ErrorCode::Invalid, fmt::format("{}: an assignment lacks name, ports or plan", name));
  auto filter = PortFilter::parse(*ports);
  if (!filter) return fail(name, filter.error());
  auto programming = qos::parse_plan(json::serialize(*plan), name);
  if (!programming) return fail(programming.error());
  return Assignment{std::string{*plan_name}, *std::move(filter), *std::move(programming)};
}

}  // namespace

std::string to_text(const std::vector<Assignment>& assignments) {
  json::array list;
  for (const Assignment& each : assignments) {
    list.push_back(json::object{{"name", each.name},
                                {"ports", each.ports.text()},
                                {"plan", json::parse(qos::plan_text(each.programming))}});
  }
  return json::serialize(json::object{{"assignments", std::move(list)}}) + "\n";
}

Result<std::vector<Assignment>> parse(const std::string& text, const std::string& name) {
  boost::system::error_code error;
  const json::value root = json::parse(text, error);
  const auto* object = error ? nullptr : root.if_object();
  const auto* list = object == nullptr ? nullptr : object->if_contains("assignments");
  if (list == nullptr || !list->is_array())
    return fail(ErrorCode::Invalid, fmt::format("{}: no list 'assignments'", name));
  std::vector<Assignment> out;
  for (const auto& each : list->get_array()) {
    auto one = read_one(each, name);
    if (!one) return fail(one.error());
    out.push_back(*std::move(one));
  }
  return out;
}

Result<void> store(const std::string& path, const std::vector<Assignment>& assignments) {
  const auto scratch = write_beside(path, to_text(assignments));
  if (!scratch) return io(scratch.error());
  if (auto placed = put_in_place(*scratch, path); !placed) return io(placed.error());
  return {};
}

Result<std::vector<Assignment>> load(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file) {
    if (errno == ENOENT) return std::vector<Assignment>{};
    return io(io_error("open", path).value());
  }
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  return parse(text, path);
}

}  // namespace heddle::vlarb
