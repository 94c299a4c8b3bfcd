#include "heddle/fabric_source.h"

#include <iostream>
#include <iterator>
#include <utility>

#include "fabric/source.h"
#include "heddle/client.h"

namespace heddle::cli {
namespace {

Result<std::shared_ptr<const Fabric>> told(Result<ParsedFabric> parsed, const Context& context) {
  if (!parsed) return fail(parsed.error());
  const bool full = context.detail == Detail::Full;
  for (const std::string& warning : full ? parsed->details : parsed->warnings) {
    *context.err << "heddle: warning: " << warning << '\n';
  }
  if (!full && parsed->details.size() > parsed->warnings.size()) {
    *context.err << "heddle: --verbose lists all " << parsed->details.size() << " of them\n";
  }
  return std::move(parsed->fabric);
}

}  // namespace

Result<std::shared_ptr<const Fabric>> read_fabric(const std::string& source, const Context& context) {
  return told(load_fabric(source, context.losses), context);
}

Result<std::shared_ptr<const Fabric>> read_fabric_text(const std::string& text, const std::string& name,
                                                       const Context& context) {
  return told(parse_topology(text, name, {{}, context.losses}), context);
}

Result<std::shared_ptr<const Fabric>> obtain_fabric(const std::string& source, const Context& context) {
  if (source.empty()) {
    const auto text = Client{context.socket}.get_text("/v1/fabric?format=ibnetdiscover");
    if (!text) return fail(text.error());
    return read_fabric_text(*text, "the running fabric", context);
  }
  if (source == "-") {
    const std::string text{std::istreambuf_iterator<char>{std::cin}, {}};
    return read_fabric_text(text, "standard input", context);
  }
  return read_fabric(source, context);
}

}  // namespace heddle::cli
