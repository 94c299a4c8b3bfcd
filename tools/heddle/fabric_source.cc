#include "heddle/fabric_source.h"

#include <ostream>
#include <utility>

#include "fabric/source.h"

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

}  // namespace heddle::cli
