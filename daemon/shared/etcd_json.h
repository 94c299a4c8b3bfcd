/// What goes to etcd's gateway and what it answers, as JSON. Pure; whoever answers may answer anything.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "shared/store.h"

namespace heddle::shared {

[[nodiscard]] boost::json::object body_of(const Transaction& transaction);

/// Errors: Unreachable for what is no answer of etcd, or means that another member may know better; NotFound;
/// Refused with its own word.
[[nodiscard]] Result<boost::json::object> answer_in(unsigned status, const std::string& body);
/// What is missing, or is something else, is nothing.
[[nodiscard]] Committed committed_in(const boost::json::object& answer, const Transaction& transaction);

/// proto3's JSON has 64-bit numbers as texts, and leaves zeroes out.
[[nodiscard]] std::int64_t number_at(const boost::json::object& object, std::string_view key);
/// An empty one where there is none.
[[nodiscard]] const boost::json::object& object_at(const boost::json::object& object, std::string_view key);

}  // namespace heddle::shared
