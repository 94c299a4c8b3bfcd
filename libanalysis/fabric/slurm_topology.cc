#include "fabric/slurm_topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace heddle {
namespace {

constexpr std::uint32_t unreached = std::numeric_limits<std::uint32_t>::max();

bool fits_slurm(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
         c == '.';
}

/// Slurm takes commas, brackets and blanks in names for its own.
std::string slurm_name(const std::string& name) {
  std::string fit = name;
  std::replace_if(
      fit.begin(), fit.end(), [](char c) { return !fits_slurm(c); }, '_');
  return fit;
}

/// "host-007" as prefix "host-", number 7 in three digits.
struct Numbered {
  std::string prefix;
  std::size_t digits = 0;
  std::uint64_t number = 0;
};

Numbered numbered(const std::string& name) {
  constexpr std::size_t most_digits = 18;
  std::size_t first = name.size();
  while (first > 0 && name.size() - first < most_digits && name[first - 1] >= '0' && name[first - 1] <= '9')
    --first;
  Numbered result{name.substr(0, first), name.size() - first, 0};
  std::from_chars(name.data() + first, name.data() + name.size(), result.number);
  return result;
}

std::string ranges(const std::vector<std::uint64_t>& numbers, std::size_t digits) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += text.empty() ? "" : ",";
    text += fmt::format("{:0{}}", numbers[i], digits);
    if (last > i) text += fmt::format("-{:0{}}", numbers[last], digits);
    i = last + 1;
  }
  return text;
}

/// Which of several are together; sets are named by their smallest member.
class Sets {
 public:
  explicit Sets(std::size_t size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), 0U); }
  std::uint32_t of(std::uint32_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    a = of(a);
    b = of(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::uint32_t> parent_;
};

class SlurmWriter {
 public:
  SlurmWriter(const Fabric& fabric, const NodeNames& names) : fabric_{fabric}, names_{names} {}

  Result<SlurmTopology> write(SlurmPlugin plugin) {
    find_hosts();
    if (hosts_of_.empty()) return fail(ErrorCode::Invalid, no_hosts());
    rank_switches();
    for (const auto& [leaf, hosts] : hosts_of_) {
      const std::string name = switch_name(leaf);
      switches_ += fmt::format("SwitchName={} Nodes={}\n", name, slurm_hostlist(hosts));
      groups_.push_back({name, {leaf}});
    }
    for (std::uint32_t rank = 1; groups_.size() > 1 && rank <= highest_; ++rank) join_by(rank);
    if (groups_.size() > 1 && highest_ == 0) join_by(0);
    if (plugin == SlurmPlugin::Block) {
      write_blocks();
      return std::move(result_);
    }
    result_.text =
        "# topology.conf for Slurm's topology/tree, made by heddle fabric export\n" + std::move(switches_);
    if (groups_.size() > 1) {
      result_.warnings.push_back(
          fmt::format("the fabric is in {} pieces; Slurm starts no job on hosts of several", groups_.size()));
    }
    return std::move(result_);
  }

 private:
  /// What is one at the level that was written last.
  struct Group {
    std::string name;
    std::vector<std::uint32_t> leaves;  ///< those that are near to each other beside each other
  };

  /// topology.conf(5), topology/block: blocks that stand beside each other are taken together, two, four or
  /// more of them, and no block may have fewer nodes than the first of BlockSizes.
  void write_blocks() {
    result_.text =
        "# topology.conf for Slurm's topology/block, made by heddle fabric export by Slurm's documentation:\n"
        "# not tried with Slurm itself\n";
    std::size_t least = std::numeric_limits<std::size_t>::max();
    std::size_t most = 0;
    std::size_t number = 0;
    for (const Group& group : groups_) {
      for (const std::uint32_t leaf : group.leaves) {
        const auto& hosts = hosts_of_.at(leaf);
        least = std::min(least, hosts.size());
        most = std::max(most, hosts.size());
        result_.text += fmt::format("BlockName=block{} Nodes={}  # {}\n", ++number, slurm_hostlist(hosts),
                                    slurm_name(names_.of(fabric_.nodes()[leaf])));
      }
    }
    result_.text += fmt::format("BlockSizes={}", least);
    for (const std::size_t blocks : even_) result_.text += fmt::format(",{}", least * blocks);
    result_.text += '\n';
    if (2 * least < most) {
      result_.warnings.push_back(
          fmt::format("blocks have {} to {} hosts, and Slurm plans by the smallest (BlockSizes): leave out "
                      "leaves that hardly have hosts",
                      least, most));
    }
  }

  /// A level makes larger blocks if its groups are of the same number of leaves, and that is a power of two.
  void note_level() {
    const std::size_t leaves = groups_.front().leaves.size();
    const bool is_even =
        std::ranges::all_of(groups_, [&](const Group& group) { return group.leaves.size() == leaves; });
    if (is_even && std::has_single_bit(leaves) && leaves > (even_.empty() ? 1 : even_.back()))
      even_.push_back(leaves);
  }

  [[nodiscard]] std::string no_hosts() const {
    const std::string why = result_.warnings.empty() ? std::string{} : ": " + result_.warnings.front();
    return "the fabric has no hosts for Slurm to place jobs on" + why;
  }

  void find_hosts() {
    // A name that several adapters have is that of their chip, and tells of no host.
    std::map<std::string, std::size_t> called;
    for (const Node& node : fabric_.nodes()) ++called[names_.of(node)];
    std::size_t nameless = 0;
    /// By host: its first adapter, and the switch of that.
    std::map<std::string, std::pair<std::string, std::uint32_t>> first;
    std::size_t unfit = 0;
    for (std::uint32_t i = 0; i < fabric_.nodes().size(); ++i) {
      const Node& node = fabric_.nodes()[i];
      if (node.type != NodeType::ChannelAdapter || node.aggregation) continue;
      const auto leaf = switch_at(NodeIndex{i});
      if (leaf == unreached) continue;
      const std::string adapter = names_.of(node);
      if (called[adapter] > 1) {
        ++nameless;
        continue;
      }
      const std::string host = adapter.substr(0, adapter.find(' '));
      if (slurm_name(host) != host) ++unfit;
      const auto [at, is_new] = first.try_emplace(slurm_name(host), adapter, leaf);
      if (!is_new && adapter < at->second.first) at->second = {adapter, leaf};
    }
    for (const auto& [host, place] : first) hosts_of_[place.second].push_back(host);
    if (nameless > 0) {
      result_.warnings.push_back(fmt::format(
          "{} adapters share their names with others, as of one chip: their hosts are not known, and "
          "left out; --node-name-map gives them names",
          nameless));
    }
    if (unfit > 0) {
      result_.warnings.push_back(fmt::format(
          "{} adapters are called by names that Slurm cannot have; \"_\" stands for what it cannot", unfit));
    }
  }

  [[nodiscard]] std::uint32_t switch_at(NodeIndex adapter) const {
    for (unsigned port = 1; port <= fabric_.node(adapter).port_count; ++port) {
      const auto peer = fabric_.peer({adapter, PortNum{static_cast<std::uint8_t>(port)}});
      if (peer && fabric_.node(peer->node).type == NodeType::Switch) return peer->node.raw();
    }
    return unreached;
  }

  /// Hops from the nearest switch that has hosts.
  void rank_switches() {
    rank_.assign(fabric_.nodes().size(), unreached);
    std::vector<std::uint32_t> queue;
    for (const auto& [leaf, hosts] : hosts_of_) {
      rank_[leaf] = 0;
      queue.push_back(leaf);
    }
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const NodeIndex from{queue[i]};
      for (unsigned port = 1; port <= fabric_.node(from).port_count; ++port) {
        const auto peer = fabric_.peer({from, PortNum{static_cast<std::uint8_t>(port)}});
        if (!peer || fabric_.node(peer->node).type != NodeType::Switch) continue;
        if (rank_[peer->node.raw()] != unreached) continue;
        rank_[peer->node.raw()] = rank_[queue[i]] + 1;
        highest_ = std::max(highest_, rank_[peer->node.raw()]);
        queue.push_back(peer->node.raw());
      }
    }
  }

  /// Groups that meet through switches of this rank or below become one, with a line of its own.
  void join_by(std::uint32_t rank) {
    Sets sets{fabric_.nodes().size()};
    for (const Link& link : fabric_.links()) {
      if (rank_[link.a.node.raw()] <= rank && rank_[link.b.node.raw()] <= rank) {
        sets.join(link.a.node.raw(), link.b.node.raw());
      }
    }
    std::map<std::uint32_t, std::vector<Group>> joined;
    for (Group& group : groups_) joined[sets.of(group.leaves.front())].push_back(std::move(group));
    groups_.clear();
    std::size_t number = 0;
    for (auto& [set, members] : joined) {
      if (members.size() == 1) {
        groups_.push_back(std::move(members.front()));
        continue;
      }
      std::vector<std::string> children;
      Group whole{new_name(fmt::format("group{}-{}", std::max(rank, 1U), number++)), {}};
      for (const Group& member : members) {
        children.push_back(member.name);
        whole.leaves.insert(whole.leaves.end(), member.leaves.begin(), member.leaves.end());
      }
      switches_ +=
          fmt::format("SwitchName={} Switches={}\n", whole.name, slurm_hostlist(std::move(children)));
      groups_.push_back(std::move(whole));
    }
    note_level();
  }

  std::string switch_name(std::uint32_t node) {
    const Node& leaf = fabric_.nodes()[node];
    const std::string name = slurm_name(names_.of(leaf));
    return new_name(taken_.count(name) == 0 ? name
                                            : slurm_name(fmt::format("{}_{}", name, to_string(leaf.guid))));
  }

  std::string new_name(std::string name) {
    while (!taken_.insert(name).second) name += "_";
    return name;
  }

  const Fabric& fabric_;
  const NodeNames& names_;
  SlurmTopology result_;
  std::map<std::uint32_t, std::vector<std::string>> hosts_of_;  ///< by switch
  std::vector<std::uint32_t> rank_;                             ///< by node; unreached for all but switches
  std::uint32_t highest_ = 0;
  std::vector<Group> groups_;
  std::string switches_;           ///< lines of topology/tree
  std::vector<std::size_t> even_;  ///< leaves of each group, of levels that make larger blocks
  std::set<std::string> taken_;
};

}  // namespace

std::string slurm_hostlist(std::vector<std::string> hosts) {
  std::map<std::pair<std::string, std::size_t>, std::vector<std::uint64_t>> by_prefix;
  std::vector<std::string> words;
  for (const std::string& host : hosts) {
    const Numbered name = numbered(host);
    // Digits matter only where there are leading zeros: host-9 and host-10 are one series.
    const bool padded = name.digits > 1 && host[name.prefix.size()] == '0';
    if (name.digits == 0) {
      words.push_back(host);
    } else {
      by_prefix[{name.prefix, padded ? name.digits : 0}].push_back(name.number);
    }
  }
  std::string text;
  const auto append = [&text](const std::string& part) { text += (text.empty() ? "" : ",") + part; };
  for (auto& [prefix, numbers] : by_prefix) {
    std::sort(numbers.begin(), numbers.end());
    const std::string inside = ranges(numbers, std::max<std::size_t>(prefix.second, 1));
    append(numbers.size() == 1 ? prefix.first + inside : fmt::format("{}[{}]", prefix.first, inside));
  }
  std::sort(words.begin(), words.end());
  for (const std::string& word : words) append(word);
  return text;
}

Result<SlurmTopology> slurm_topology(const Fabric& fabric, SlurmPlugin plugin, const NodeNames& names) {
  return SlurmWriter{fabric, names}.write(plugin);
}

}  // namespace heddle
