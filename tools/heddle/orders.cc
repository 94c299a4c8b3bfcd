#include "heddle/orders.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <ostream>
#include <utility>

#include "base/json_access.h"
#include "base/printable.h"
#include "heddle/accounts.h"
#include "heddle/client.h"

namespace heddle::cli {

Result<double> length_from(const std::string& text) {
  const auto wrong = [&] {
    return fail(ErrorCode::Invalid,
                fmt::format("must be a time such as 90s, 30min, 2h or 1d, not '{}'", printable(text)));
  };
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [unit, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || !(number > 0) || !std::isfinite(number)) return wrong();
  const std::string_view name{unit, static_cast<std::size_t>(end - unit)};
  constexpr std::array<std::pair<std::string_view, double>, 6> units{
      {{"", 1}, {"s", 1}, {"min", 60}, {"m", 60}, {"h", 3600}, {"d", 86400}}};
  for (const auto& [known, factor] : units) {
    if (known == name) return number * factor;
  }
  return wrong();
}

std::string wrong_length(const std::string& text) {
  const auto length = length_from(text);
  return length ? std::string{} : length.error().message;
}

Result<boost::json::value> post_order(const Context& context, const std::string& target,
                                      boost::json::object body) {
  if (const std::string name = asked_by(); !name.empty()) body["by"] = name;
  return Client{context.socket}.post(target, body);
}

Result<void> give_order(Context& context, const std::string& target, boost::json::object body) {
  const auto answer = post_order(context, target, std::move(body));
  if (!answer) return fail(answer.error());
  if (context.format == Format::Json) {
    print_json(*answer, context);
  } else {
    *context.out << text_at(*answer, "text") << '\n';
  }
  return {};
}

}  // namespace heddle::cli
