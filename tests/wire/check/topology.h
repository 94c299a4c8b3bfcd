/// The cables of a fabric, from a file as ibnetdiscover prints them: all that the checker knows besides MADs.
/// Read by a parser of its own, so that a mistake in Heddle's is not made twice. Cables never move: what is
/// cut, dead or off is told apart later.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace wire {

/// A port of a node; node -1: none.
struct End {
  int node = -1;
  int port = 0;
  friend auto operator<=>(const End&, const End&) = default;
};

struct Cable {
  End a;
  End b;
};

struct Node {
  std::string name;
  std::uint64_t guid = 0;
  int ports = 0;
  int switch_number = -1;   ///< dense, for tables; -1: a channel adapter
  std::vector<End> peers;   ///< by port, from 1
  std::vector<int> cables;  ///< by port, from 1; -1: none
};

class Topology {
 public:
  /// Throws std::runtime_error with file and line where the text is not understood.
  [[nodiscard]] static Topology read(const std::string& path);

  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] const Node& node(int index) const { return nodes_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] const std::vector<Cable>& cables() const { return cables_; }
  [[nodiscard]] const Cable& cable(int index) const { return cables_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] const std::vector<int>& switches() const { return switches_; }  ///< node by switch number
  [[nodiscard]] int switch_count() const { return static_cast<int>(switches_.size()); }

  [[nodiscard]] std::optional<int> by_guid(std::uint64_t guid) const;
  /// Its description, or the GUID as "0x...".
  [[nodiscard]] std::optional<int> by_name(const std::string& name) const;
  [[nodiscard]] End peer(End end) const;
  [[nodiscard]] int cable_at(End end) const;  ///< -1: none
  [[nodiscard]] bool is_switch(int node) const { return this->node(node).switch_number >= 0; }
  /// A SHARP aggregation node: sits in a switch, and is no host.
  [[nodiscard]] bool is_aggregation(int node) const {
    return !is_switch(node) && this->node(node).name.find("Aggregation Node") != std::string::npos;
  }
  [[nodiscard]] std::string show(End end) const;
  [[nodiscard]] std::string show_cable(int cable) const;

 private:
  int node_called(const std::string& quoted, int ports);
  void connect();

  std::vector<Node> nodes_;
  std::vector<Cable> cables_;
  std::vector<int> switches_;
  std::map<std::string, int> by_quoted_;  ///< "S-0002..." as in the file
  std::map<std::uint64_t, int> by_guid_;
  std::map<std::string, int> by_name_;
};

}  // namespace wire
