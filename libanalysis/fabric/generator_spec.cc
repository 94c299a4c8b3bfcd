#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "base/text.h"
#include "fabric/generators.h"

namespace heddle {
namespace {

constexpr std::array<std::string_view, 8> kinds{"xgft", "tree",       "fattree", "torus",
                                                "mesh", "dragonfly+", "random",  "grown"};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<std::vector<unsigned>> numbers(std::string_view text, char separator) {
  std::vector<unsigned> values;
  for (const std::string_view part : split(text, separator)) {
    const auto value = number<unsigned>(part);
    if (!value) return fail(ErrorCode::Invalid, fmt::format("\"{}\" in \"{}\" is not a number", part, text));
    values.push_back(*value);
  }
  return values;
}

/// `key=value` words, each used once, and words without '='. Reports the first thing that is wrong.
class Words {
 public:
  explicit Words(std::string_view text) {
    if (text.empty()) return;
    for (const std::string_view word : split(text, ',')) {
      const std::size_t equals = word.find('=');
      const bool bare = equals == std::string_view::npos;
      words_.emplace_back(word.substr(0, equals), bare ? std::string_view{} : word.substr(equals + 1));
    }
  }

  std::optional<std::string_view> take(std::string_view key) {
    const auto it = std::ranges::find(words_, key, &Word::first);
    if (it == words_.end()) return std::nullopt;
    const std::string_view value = it->second;
    words_.erase(it);
    return value;
  }

  template <class Number>
  void read(std::string_view key, Number& out) {
    const auto text = take(key);
    if (!text) return;
    const auto value = number<Number>(*text);
    if (!value) {
      complain(fmt::format("{}={}: a number of 0 or more is needed", key, *text));
      return;
    }
    out = *value;
  }

  template <class Number>
  void need(std::string_view key, Number& out) {
    if (std::ranges::find(words_, key, &Word::first) == words_.end()) {
      complain(fmt::format("{}=NUMBER is missing", key));
    }
    read(key, out);
  }

  template <class Value, class Parse>
  void read_named(std::string_view key, Value& out, Parse parse, std::string_view example) {
    const auto text = take(key);
    if (!text) return;
    const auto value = parse(*text);
    if (!value || *value == Value::None) {
      complain(fmt::format("{}={}: something like {} is needed", key, *text, example));
      return;
    }
    out = *value;
  }

  [[nodiscard]] Result<void> finish() {
    if (error_.empty() && !words_.empty()) {
      complain(fmt::format("\"{}\" is not known here, or given twice", words_.front().first));
    }
    if (!error_.empty()) return fail(ErrorCode::Invalid, error_);
    return {};
  }

 private:
  using Word = std::pair<std::string_view, std::string_view>;

  void complain(std::string message) {
    if (error_.empty()) error_ = std::move(message);
  }

  std::vector<Word> words_;
  std::string error_;
};

void read_common(Words& words, GeneratorSpec& spec) {
  words.read_named("width", spec.width, link_width, "4x");
  words.read_named("speed", spec.speed, link_speed, "HDR");
  words.read("ports", spec.switch_ports);
}

/// The part before the options, which begin at the first word with '='.
std::pair<std::string_view, std::string_view> positional(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return {text, {}};
  const std::size_t end = text.find_last_of(",;", equals);
  if (end == std::string_view::npos) return {{}, text};
  return {text.substr(0, end), text.substr(end + 1)};
}

Result<GeneratorSpec> parse_xgft(std::string_view text) {
  const auto [lists, options] = positional(text);
  const auto parts = split(lists, ';');
  if (parts.size() != 3) {
    return fail(ErrorCode::Invalid, "expected h;m1,..,mh;w1,..,wh, as in xgft:3;18,18,36;1,18,18");
  }
  const auto height = number<unsigned>(parts[0]);
  auto children = numbers(parts[1], ',');
  if (!children) return fail(children.error());
  auto parents = numbers(parts[2], ',');
  if (!parents) return fail(parents.error());
  if (!height || children->size() != *height || parents->size() != *height) {
    return fail(ErrorCode::Invalid, fmt::format("h is {}, with {} m and {} w: all three must agree", parts[0],
                                                children->size(), parents->size()));
  }
  GeneratorSpec spec;
  spec.shape = XgftSpec{std::move(*children), std::move(*parents)};
  Words words{options};
  read_common(words, spec);
  if (auto ok = words.finish(); !ok) return fail(ok.error());
  return spec;
}

Result<GeneratorSpec> parse_grid(GridForm form, std::string_view text) {
  const std::size_t comma = text.find(',');
  auto size = numbers(text.substr(0, comma), 'x');
  if (!size) return fail(size.error());
  GridSpec shape;
  shape.form = form;
  shape.size = std::move(*size);
  Words words{comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1)};
  words.read("hosts", shape.hosts);
  words.read("links", shape.links);
  GeneratorSpec spec;
  spec.shape = std::move(shape);
  read_common(words, spec);
  if (auto ok = words.finish(); !ok) return fail(ok.error());
  return spec;
}

Result<GeneratorSpec> parse_keys(std::string_view kind, std::string_view text) {
  Words words{text};
  GeneratorSpec spec;
  if (kind == "tree") {
    TreeSpec shape;
    words.need("k", shape.k);
    words.need("n", shape.n);
    if (const auto value = words.take("full")) {
      if (!value->empty()) return fail(ErrorCode::Invalid, "\"full\" takes no value");
      shape.form = TreeForm::Full;
    }
    spec.shape = shape;
  } else if (kind == "fattree") {
    FatTreeSpec shape;
    words.need("hosts", shape.hosts);
    words.read("radix", shape.radix);
    spec.shape = shape;
  } else if (kind == "dragonfly+") {
    DragonflyPlusSpec shape;
    words.need("groups", shape.groups);
    words.need("leaves", shape.leaves);
    words.need("spines", shape.spines);
    words.need("hosts", shape.hosts);
    words.need("global", shape.global);
    words.read("links", shape.links);
    spec.shape = shape;
  } else if (kind == "grown") {
    GrownSpec shape;
    words.read("seed", shape.seed);
    words.read("hosts", shape.hosts);
    spec.shape = shape;
  } else {
    RandomSpec shape;
    words.need("switches", shape.switches);
    words.need("hosts", shape.hosts);
    words.need("links", shape.links);
    words.read("seed", shape.seed);
    spec.shape = shape;
  }
  if (kind != "grown") read_common(words, spec);
  if (auto ok = words.finish(); !ok) return fail(ok.error());
  return spec;
}

struct ShapeText {
  std::string operator()(const XgftSpec& s) const {
    return fmt::format("xgft:{};{};{}", s.children.size(), joined(s.children, ","), joined(s.parents, ","));
  }
  std::string operator()(const TreeSpec& s) const {
    return fmt::format("tree:k={},n={}{}", s.k, s.n, s.form == TreeForm::Full ? ",full" : "");
  }
  std::string operator()(const FatTreeSpec& s) const {
    return fmt::format("fattree:hosts={},radix={}", s.hosts, s.radix);
  }
  std::string operator()(const GridSpec& s) const {
    return fmt::format("{}:{},hosts={},links={}", s.form == GridForm::Torus ? "torus" : "mesh",
                       joined(s.size, "x"), s.hosts, s.links);
  }
  std::string operator()(const DragonflyPlusSpec& s) const {
    return fmt::format("dragonfly+:groups={},leaves={},spines={},hosts={},global={},links={}", s.groups,
                       s.leaves, s.spines, s.hosts, s.global, s.links);
  }
  std::string operator()(const RandomSpec& s) const {
    return fmt::format("random:switches={},hosts={},links={},seed={}", s.switches, s.hosts, s.links, s.seed);
  }
  std::string operator()(const GrownSpec& s) const {
    return fmt::format("grown:seed={}{}", s.seed, s.hosts == 0 ? "" : fmt::format(",hosts={}", s.hosts));
  }
};

}  // namespace

bool is_generator_spec(std::string_view text) {
  const std::size_t colon = text.find(':');
  return colon != std::string_view::npos && std::ranges::find(kinds, text.substr(0, colon)) != kinds.end();
}

Result<GeneratorSpec> parse_generator_spec(std::string_view text) {
  if (!is_generator_spec(text)) {
    return fail(ErrorCode::Invalid,
                fmt::format("fabric \"{}\": expected KIND:NUMBERS, where KIND is one of {}", text,
                            joined(kinds, ", ")));
  }
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string_view rest = text.substr(colon + 1);
  auto spec = [&] {
    if (kind == "xgft") return parse_xgft(rest);
    if (kind == "torus") return parse_grid(GridForm::Torus, rest);
    if (kind == "mesh") return parse_grid(GridForm::Mesh, rest);
    return parse_keys(kind, rest);
  }();
  if (!spec) return fail(fmt::format("fabric \"{}\"", text), spec.error());
  return spec;
}

std::string to_string(const GeneratorSpec& spec) {
  std::string text = std::visit(ShapeText{}, spec.shape);
  if (std::holds_alternative<GrownSpec>(spec.shape)) return text;
  text += fmt::format(",width={},speed={}", to_string(spec.width), to_string(spec.speed));
  if (spec.switch_ports != 0) text += fmt::format(",ports={}", spec.switch_ports);
  return text;
}

}  // namespace heddle
