#include "mad/sm_state.h"

namespace heddle::mad {

std::string_view to_string(SmInfo::State state) {
  switch (state) {
    case SmInfo::State::NotActive:
      return "not active";
    case SmInfo::State::Discovering:
      return "discovering";
    case SmInfo::State::Standby:
      return "standby";
    case SmInfo::State::Master:
      return "master";
  }
  return "unknown";
}

}  // namespace heddle::mad
