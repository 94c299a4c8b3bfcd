/// Walks a JSON document of a plan and keeps the first thing that is wrong, with the path of keys to it. For
/// the parser of plans only.
#pragma once

#include <fmt/format.h>

#include <boost/json/value.hpp>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace heddle::plan {

class Reader {
 public:
  explicit Reader(std::string file) : file_{std::move(file)} {}

  [[nodiscard]] bool failed() const { return error_.has_value(); }
  [[nodiscard]] const Error& error() const { return *error_; }

  template <class... Args>
  void refuse(const std::string& path, fmt::format_string<Args...> format, Args&&... args) {
    if (error_) return;
    error_ = Error{ErrorCode::Invalid,
                   fmt::format("{}: {}: {}", file_, path, fmt::format(format, std::forward<Args>(args)...))};
  }

  /// `reason` begins with the name of a member of what is at `path`.
  void refuse_member(const std::string& path, std::string_view reason) {
    if (!error_) error_ = Error{ErrorCode::Invalid, fmt::format("{}: {}.{}", file_, path, reason)};
  }

  /// Null, with the reason kept, where `value` is none.
  const boost::json::object* object(const boost::json::value& value, const std::string& path,
                                    std::initializer_list<std::string_view> keys);
  const boost::json::array* array(const boost::json::value& value, const std::string& path, std::size_t most);
  std::uint64_t number(const boost::json::value& value, const std::string& path, std::uint64_t most);
  std::string_view text(const boost::json::value& value, const std::string& path);

  /// Null, with the reason kept, where the key is missing.
  const boost::json::value* member(const boost::json::object& object, const std::string& path,
                                   std::string_view key);

 private:
  std::string file_;
  std::optional<Error> error_;
};

}  // namespace heddle::plan
