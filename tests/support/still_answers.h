/// Answers that are made at once, on the test's own thread; and the text of an answer, however it comes.
#pragma once

#include <string>

#include "control/answers.h"

namespace heddle::control {

inline Answers::Elsewhere at_once() {
  return [](Lane, const std::function<void()>& job) { job(); };
}
inline Answers::Back back_at_once() {
  return [](const std::function<void()>& then) { then(); };
}

/// Empty for one in pieces without end.
inline std::string body_of(const Response& response) {
  if (response.body) return *response.body;
  std::string text;
  if (!response.shared) return text;
  for (std::size_t i = 0; i < response.shared->slices(); ++i) text += *response.shared->slice(i);
  return text;
}

}  // namespace heddle::control
