#include "heddle/cabling_source.h"

#include <ostream>
#include <utility>

#include "fabric/source.h"
#include "heddle/client.h"
#include "heddle/fabric_source.h"

namespace heddle::cli {

Result<cabling::CablePlan> obtain_plan(const std::string& source, const Context& context) {
  if (source.empty()) {
    const auto text = Client{context.socket}.get_text("/v1/baseline/plan");
    if (!text) return fail(text.error());
    return cabling::read_plan(*text, "the baseline");
  }
  if (!is_generator_spec(source)) {
    const auto text = read_text_file(source);
    if (!text) return fail(text.error());
    if (cabling::is_cable_list(*text)) return cabling::parse_cable_list(*text, source);
  }
  const auto fabric = read_fabric(source, context);
  if (!fabric) return fail(fabric.error());
  return cabling::plan_of(**fabric, source);
}

Result<std::shared_ptr<const Fabric>> obtain_cables(const std::string& source, const Context& context) {
  if (!source.empty()) return obtain_fabric(source, context);
  const auto text = Client{context.socket}.get_text("/v1/fabric?format=ibnetdiscover&off=included");
  if (!text) return fail(text.error());
  return read_fabric_text(*text, "the running fabric", context);
}

Result<ComparedCables> compare_cables(const std::string& plan, const Fabric& fabric, const Context& context) {
  const auto planned = obtain_plan(plan, context);
  if (!planned) return fail(planned.error());
  for (const std::string& warning : planned->warnings) *context.err << "heddle: warning: " << warning << '\n';
  auto check = cabling::check_cables(*planned, fabric);
  if (!check) return fail(check.error());
  return ComparedCables{*std::move(check), planned->file};
}

}  // namespace heddle::cli
