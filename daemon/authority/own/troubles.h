/// What could not be done, one sentence a place. Where the same went wrong at many places, as when the port
/// of this host goes away under a large fabric, one sentence for all of them. Pure.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"

namespace heddle::provision {

struct Trouble {
  PortRef where;  ///< the first place, if there are several
  std::string text;
};

class Troubles {
 public:
  /// So many places have a sentence each.
  static constexpr std::size_t most_alike = 3;

  void add(Trouble trouble) { said_.push_back(std::move(trouble)); }
  /// `what` went wrong at a place with this name, for this reason.
  void add(const PortRef& where, std::string name, std::string what, std::string why);
  /// All of them; none is left.
  [[nodiscard]] std::vector<Trouble> take();

 private:
  struct Place {
    PortRef where;
    std::string name;
  };

  std::vector<Trouble> said_;
  std::map<std::pair<std::string, std::string>, std::vector<Place>> alike_;  ///< by what and why
};

}  // namespace heddle::provision
