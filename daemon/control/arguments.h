/// What a command's body says: a JSON object, each of whose members must be known and of its type.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace heddle::control {

/// Errors of all: Invalid, with the member.
class Arguments {
 public:
  static Result<Arguments> read(const std::string& body);
  Result<std::string> text(std::string_view key, std::string otherwise = {});
  /// A list of strings; empty where it is not given.
  Result<std::vector<std::string>> texts(std::string_view key);
  Result<bool> flag(std::string_view key);
  /// 0 where it is not given.
  Result<double> positive(std::string_view key);
  /// Errors: a member that nobody asked for.
  [[nodiscard]] Result<void> end() const;

 private:
  explicit Arguments(boost::json::object members) : members_{std::move(members)} {}
  const boost::json::value* take(std::string_view key);

  boost::json::object members_;
  std::vector<std::string> taken_;
};

}  // namespace heddle::control
