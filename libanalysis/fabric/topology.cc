#include "fabric/topology.h"

#include <fmt/format.h>

#include <utility>

#include "fabric/ibnetdiscover.h"

namespace heddle {
namespace {

Result<ParsedFabric> assembled(Result<topology::Records> records, const std::string& file, Losses losses) {
  if (!records) return fail(records.error());
  if (records->nodes.empty()) {
    const auto said = records->findings.all();
    return fail(ErrorCode::Invalid,
                fmt::format("{}: no node is described; expected the output of ibnetdiscover{}{}", file,
                            said.empty() ? "" : ". The first line: ", said.empty() ? "" : said.front()));
  }
  return topology::assemble(std::move(*records), losses);
}

}  // namespace

Result<ParsedFabric> parse_ibnetdiscover(std::string_view text, const std::string& file,
                                         const ReadOptions& options) {
  return assembled(topology::read_records(text, file, options.include), file, options.losses);
}

Result<ParsedFabric> parse_topology(std::string_view text, const std::string& file,
                                    const ReadOptions& options) {
  if (topology::is_link_list(text)) {
    return assembled(topology::read_link_list(text, file), file, options.losses);
  }
  if (topology::is_link_info(text)) {
    return assembled(topology::read_link_info(text, file), file, options.losses);
  }
  return parse_ibnetdiscover(text, file, options);
}

}  // namespace heddle
