/// The cables between switches that a daemon has seen, over its starts: one that is not there is missed,
/// though nobody has seen it since the start, until somebody forgets it. Kept in the journal.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "journal/scribe.h"

namespace heddle::regulate {

/// Switches, and cables between others.
struct Gone {
  std::set<NodeGuid> switches;
  std::set<LinkRef> cables;
};

class KnownCables {
 public:
  using Stored = journal::Scribe::Stored;

  /// Of those that are not there, so many are kept: a node may call itself another one each time, and all
  /// that is behind it as well.
  static constexpr std::size_t most_away = 16'384;

  /// Where the journal could not be read, nothing is known and nothing is kept.
  explicit KnownCables(journal::Scribe& journal) : journal_{journal} {}

  /// All that is known since the start, what is lost and what is off included. Where a port of a cable that
  /// is not among these has another one, somebody has moved it.
  void look(const Fabric& known, Stored stored);
  /// These, and the cables of these switches, until they are seen again.
  void forget(const Gone& gone, Stored stored);
  /// What is there again is forgotten no more; whether there was such. Then look() is to come.
  bool remember_again(const std::set<NodeGuid>& present, const std::function<bool(const LinkRef&)>& is_up);

  [[nodiscard]] const Gone& forgotten() const { return forgotten_; }
  /// By the disk, the last time; the next look() tries again.
  [[nodiscard]] bool refused() const { return refused_; }
  /// Those that nobody has seen since the start, by link.
  [[nodiscard]] const std::vector<journal::Cable>& away() const { return away_; }
  /// Of a switch whose cables are away; empty of another.
  [[nodiscard]] std::string name_of(NodeGuid node) const;

 private:
  [[nodiscard]] bool is_forgotten(const journal::Cable& cable) const;
  void keep(std::vector<journal::Cable> cables, Stored stored);

  journal::Scribe& journal_;
  std::vector<journal::Cable> away_;
  Gone forgotten_;
  bool refused_ = false;
};

}  // namespace heddle::regulate
