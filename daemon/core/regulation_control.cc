#include "core/regulation_control.h"

#include "core/cabling_watch.h"

namespace heddle::core {

RegulationState RegulatorControl::state() const {
  const regulation::Governor& governor = regulator_.governor();
  const power::EnergyAccount& energy = regulator_.energy();
  RegulationState state;
  state.reference = governor.reference();
  state.mode = governor.mode();
  state.stage = governor.stage();
  state.plane = governor.plane();
  if (state.reference) {
    state.links = governor.links();
    state.unknown_switches = regulator_.unknown_switches().size();
  }
  state.power = energy.power();
  state.saving = energy.saving();
  state.total = energy.total();
  state.parts = energy.parts();
  state.tariff = regulator_.tariff();
  state.transitions = regulator_.transitions();
  state.measured = regulator_.measured();
  state.problems = regulator_.problems();
  return state;
}

std::vector<LinkRef> RegulatorControl::off() const {
  std::vector<LinkRef> links;
  for (const auto& [link, record] : regulator_.governor().memory().off) links.push_back(link);
  return links;
}

std::set<LinkRef> RegulatorControl::off_on_purpose() const {
  return core::off_on_purpose(regulator_.governor().memory());
}

}  // namespace heddle::core
