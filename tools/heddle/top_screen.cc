#include "heddle/top_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

#include "base/json_access.h"
#include "heddle/table.h"

namespace heddle::cli {
namespace {

using boost::json::value;

constexpr std::size_t head_lines = TopScreen::title_line + 1;
constexpr std::size_t foot_lines = 1;
/// Names as long as without bit errors on a terminal of 80.
constexpr std::size_t columns_for_bits = 89;

struct Order {
  char key;
  const char* sort;
};
constexpr std::array orders{Order{'u', "utilization"}, Order{'c', "congestion"}, Order{'r', "rate"},
                            Order{'e', "errors"},      Order{'b', "ber"},        Order{'n', "name"}};

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }

std::string first_line(const value& status) {
  if (at_path(status, "fabric").is_null()) return "The fabric is being discovered.";
  return fmt::format("{} switches, {} channel adapters, {} links; sweep {}, every {}",
                     count_at(status, "fabric.switches"), count_at(status, "fabric.channel_adapters"),
                     count_at(status, "fabric.links"), count_at(status, "sampling.sweeps"),
                     human_seconds(number_at(status, "sampling.interval_seconds")));
}

std::string second_line(const value& status) {
  std::string line = fmt::format("{} injected; links {} on average, {} at most; wait {} at most",
                                 human(BitRate{number_at(status, "load.injected_bytes_per_second") * 8}),
                                 human(Ratio{number_at(status, "load.utilization_mean")}),
                                 human(Ratio{number_at(status, "load.utilization_max")}),
                                 human(Ratio{number_at(status, "load.congestion_max")}));
  if (const auto failed = count_at(status, "sampling.failed_ports"); failed > 0)
    line += fmt::format("; {} ports silent", failed);
  if (const auto problems = array_at(status, "problems").size(); problems > 0)
    line += fmt::format("; {} problems", problems);
  const auto findings = count_at(status, "health.sure") + count_at(status, "health.likely");
  const auto& drains = array_at(status, "drains");
  const auto unsafe =
      std::ranges::count_if(drains, [](const value& each) { return !truth_at(each, "safe_to_pull"); });
  if (!drains.empty())
    line += fmt::format("; {} drained{}", drains.size(), unsafe > 0 ? ", not safe to pull" : "");
  if (const auto differ = count_at(status, "baseline.differ"); differ > 0)
    line += fmt::format("; {} cables differ", differ);
  if (findings > 0) line += fmt::format("; health: {} found", findings);
  return line;
}

/// Cells of a link: its name, and figures. The last one, of bit errors, gives way to names where both do not
/// fit.
using Cells = std::array<std::string, 8>;
enum class BitErrors : std::uint8_t { Hidden, Shown };

std::string row(std::size_t columns, BitErrors bits, const Cells& cells) {
  constexpr std::array<std::size_t, 7> widths{6, 8, 8, 8, 8, 7, 9};
  constexpr std::size_t least_name = 12;
  const std::size_t shown = widths.size() - (bits == BitErrors::Shown ? 0 : 1);
  const std::size_t figures =
      std::accumulate(widths.begin(), widths.begin() + static_cast<std::ptrdiff_t>(shown), std::size_t{0});
  std::string line = fitted(cells[0], std::max(columns, figures + least_name) - figures - 1) + ' ';
  for (std::size_t c = 0; c < shown; ++c)
    line += c == 0 ? fitted(cells[c + 1], widths[c]) : fitted(cells[c + 1], widths[c], Side::Right);
  return fitted(line, columns);
}

/// Of both directions the higher one; unknown where neither is known.
std::string worse_ber(const value& link) {
  return human_ber(
      std::fmax(number_at(link, "a_to_b.effective_ber"), number_at(link, "b_to_a.effective_ber")));
}

std::string link_line(std::size_t columns, BitErrors bits, const value& link) {
  return row(
      columns, bits,
      {text_at(link, "name"),
       text_at(link, "state") == "Active"
           ? fmt::format("{}{}", text_at(link, "width"), text_at(link, "speed"))
           : text_at(link, "state"),
       human(Ratio{number_at(link, "a_to_b.utilization")}),
       human(Ratio{number_at(link, "b_to_a.utilization")}),
       human(Ratio{number_at(link, "a_to_b.congestion")}), human(Ratio{number_at(link, "b_to_a.congestion")}),
       fmt::format("{}", count_at(link, "a_to_b.errors_total") + count_at(link, "b_to_a.errors_total")),
       worse_ber(link)});
}

std::string job_row(std::size_t columns, const std::array<std::string, 7>& cells) {
  constexpr std::array<std::size_t, 6> widths{12, 9, 6, 13, 9, 6};
  constexpr std::size_t figures = 12 + 9 + 6 + 13 + 9 + 6;
  std::string line;
  for (std::size_t c = 0; c < widths.size(); ++c) {
    line += c < 2 ? fitted(cells[c], widths[c] - 1) + ' ' : fitted(cells[c], widths[c], Side::Right);
  }
  return fitted(line + "  " + fitted(cells[6], std::max<std::size_t>(columns, figures + 2) - figures - 2),
                columns);
}

std::string job_line(std::size_t columns, const value& job) {
  constexpr double bits = 8;
  std::string share = human(Ratio{number_at(job, "leaves_leaf")});
  if (share != "-" && !truth_at(job, "leaves_leaf_exact")) share.insert(0, 1, '~');
  const std::string busiest =
      at_path(job, "worst_link").is_null()
          ? "-"
          : fmt::format("{} {} -> {}", human(Ratio{number_at(job, "worst_link.utilization")}),
                        text_at(job, "worst_link.from"), text_at(job, "worst_link.to"));
  return job_row(columns,
                 {text_at(job, "job"), text_at(job, "user"), fmt::format("{}", count_at(job, "hosts")),
                  human(BitRate{number_at(job, "injected_bytes_per_second") * bits}), share,
                  fmt::format("{}", array_at(job, "neighbours").size()), busiest});
}

}  // namespace

std::string fitted(std::string_view text, std::size_t width, Side side) {
  std::string out;
  std::size_t characters = 0;
  for (const char c : text) {
    if (begins_character(c) && ++characters > width) break;
    out += c;
  }
  if (characters > width) {
    while (!out.empty() && !begins_character(out.back())) out.pop_back();
    if (!out.empty()) out.back() = '~';
    return out;
  }
  const std::string padding(width - characters, ' ');
  return side == Side::Left ? out + padding : padding + out;
}

std::string TopScreen::target(ScreenSize size) {
  page_ = size.rows > head_lines + foot_lines ? size.rows - head_lines - foot_lines : 1;
  if (shows_ == Shows::Jobs) return fmt::format("/v1/jobs?top={}", first_ + page_);
  std::string text = fmt::format("/v1/links?sort={}&top={}", sort_, first_ + page_);
  if (!kind_.empty()) text += "&kind=" + kind_;
  return text;
}

void TopScreen::rows(value answer) {
  const bool is_jobs = answer.is_object() && answer.get_object().contains("jobs");
  if (is_jobs == (shows_ == Shows::Jobs)) rows_ = std::move(answer);
}

std::size_t TopScreen::matched() const {
  const long long left_out = count_at(rows_, "left_out");
  const auto number = shows_ == Shows::Jobs
                          ? static_cast<long long>(array_at(rows_, "jobs").size()) + left_out
                          : count_at(rows_, "matched");
  return static_cast<std::size_t>(std::max(0LL, number));
}

TopScreen::Wish TopScreen::type(std::string_view input) {
  constexpr std::array<std::pair<std::string_view, TopKey>, 10> sequences{{{"\033[A", TopKey::Up},
                                                                           {"\033[B", TopKey::Down},
                                                                           {"\033OA", TopKey::Up},
                                                                           {"\033OB", TopKey::Down},
                                                                           {"\033[5~", TopKey::PageUp},
                                                                           {"\033[6~", TopKey::PageDown},
                                                                           {"\033[H", TopKey::Home},
                                                                           {"\033[1~", TopKey::Home},
                                                                           {"\033[F", TopKey::End},
                                                                           {"\033[4~", TopKey::End}}};
  while (!input.empty()) {
    const auto* known = std::find_if(sequences.begin(), sequences.end(),
                                     [&](const auto& sequence) { return input.starts_with(sequence.first); });
    if (known != sequences.end()) {
      press(known->second);
      input.remove_prefix(known->first.size());
      continue;
    }
    const char key = input.front();
    // An escape sequence that means nothing here: its letters are no keys.
    if (key == '\033') return Wish::Stay;
    if (key == 'q' || key == 'Q' || key == '\x03') return Wish::Leave;
    press(key);
    input.remove_prefix(1);
  }
  return Wish::Stay;
}

void TopScreen::press(TopKey key) {
  const std::size_t last = matched() > page_ ? matched() - page_ : 0;
  const auto back = [&](std::size_t by) { first_ -= std::min(first_, by); };
  switch (key) {
    case TopKey::Up:
      return back(1);
    case TopKey::Down:
      first_ = std::min(first_ + 1, last);
      return;
    case TopKey::PageUp:
      return back(page_);
    case TopKey::PageDown:
      first_ = std::min(first_ + page_, last);
      return;
    case TopKey::Home:
      first_ = 0;
      return;
    case TopKey::End:
      first_ = last;
      return;
    case TopKey::None:
    case TopKey::Quit:
      return;
  }
}

void TopScreen::press(char key) {
  for (const Order& order : orders) {
    if (order.key != key || shows_ == Shows::Jobs) continue;
    sort_ = order.sort;
    first_ = 0;
  }
  if (key == 't') {
    shows_ = shows_ == Shows::Links ? Shows::Jobs : Shows::Links;
    rows_ = nullptr;
    first_ = 0;
  }
  if (key == 'k' && shows_ == Shows::Links) {
    kind_ = kind_.empty() ? "switch" : kind_ == "switch" ? "host" : "";
    first_ = 0;
  }
  if (key == 'j') press(TopKey::Down);
}

std::string TopScreen::what() const {
  if (shows_ == Shows::Links) return fmt::format("{} links by {}", kind_.empty() ? "all" : kind_, sort_);
  const std::string trouble = text_at(rows_, "trouble");
  return trouble.empty() ? "jobs by what they send" : "jobs, an old list: " + trouble;
}

std::vector<std::string> TopScreen::lines(ScreenSize size) const {
  std::vector<std::string> lines;
  const auto add = [&](const std::string& text) { lines.push_back(fitted(text, size.columns)); };
  add(fmt::format("heddle top - {}", problem_.empty() ? first_line(status_) : problem_));
  add(problem_.empty() ? second_line(status_) : "");
  const bool is_links = shows_ == Shows::Links;
  const auto& rows = array_at(rows_, is_links ? "links" : "jobs");
  add(fmt::format("{}, from {} of {}", what(), matched() == 0 ? 0 : first_ + 1, matched()));
  const BitErrors bits =
      size.columns >= columns_for_bits || sort_ == "ber" ? BitErrors::Shown : BitErrors::Hidden;
  lines.push_back(
      is_links ? row(size.columns, bits,
                     {"LINK", "RATE", "UTIL ->", "UTIL <-", "WAIT ->", "WAIT <-", "ERRORS", "BER"})
               : job_row(size.columns, {"JOB", "USER", "HOSTS", "SENDS", "LEAVES", "WITH", "BUSIEST LINK"}));
  for (std::size_t i = first_; i < rows.size() && lines.size() + foot_lines < size.rows; ++i)
    lines.push_back(is_links ? link_line(size.columns, bits, rows[i]) : job_line(size.columns, rows[i]));
  while (lines.size() + foot_lines < size.rows) add("");
  lines.resize(size.rows > foot_lines ? size.rows - foot_lines : 0);
  add(is_links ? "q quit  t jobs  u util  c wait  r rate  e errors  b ber  n name  k kind  arrows"
               : "q quit  t links  WITH: jobs that share the busiest link  arrows, page: scroll");
  return lines;
}

}  // namespace heddle::cli
