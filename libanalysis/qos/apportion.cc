#include "qos/apportion.h"

#include <algorithm>
#include <cmath>

namespace heddle::qos {
namespace {

constexpr int most_splits_tried = 4000;

/// The least error of a split within so many entries. For an error, each part has a range, and what a
/// range may grow by an entry falls from entry to entry: taking the largest growth first shows what sum can
/// be had.
class Divider {
 public:
  Divider(const std::vector<double>& shares, double scale, std::uint32_t entry_packets)
      : shares_{shares}, scale_{scale}, entry_packets_{entry_packets} {
    parts_.resize(shares.size());
  }

  std::optional<Apportionment> best(std::uint32_t total, std::uint32_t entries, double most) {
    if (!divide(total, entries, most)) return std::nullopt;
    double bad = 0;
    double good = error();
    for (int i = 0; i < halvings && good - bad > precision; ++i) {
      const double middle = (bad + good) / 2;
      if (divide(total, entries, middle)) {
        good = std::min(middle, error());
      } else {
        bad = middle;
      }
    }
    (void)divide(total, entries, good);
    return Apportionment{{parts_.begin(), parts_.end()}, error()};
  }

 private:
  static constexpr int halvings = 50;
  static constexpr double precision = 1e-14;

  /// Fills parts_ if each can be within `most`.
  bool divide(std::uint64_t total, std::uint32_t entries, double most) {
    std::uint64_t sum = 0;
    std::uint64_t used = 0;
    highest_.resize(shares_.size());
    for (std::size_t i = 0; i < shares_.size(); ++i) {
      const double from = std::max(1.0, std::ceil((shares_[i] - most) / scale_ - slack));
      const double to = std::floor((shares_[i] + most) / scale_ + slack);
      if (to < from || from > static_cast<double>(total)) return false;
      parts_[i] = static_cast<std::uint32_t>(from);
      highest_[i] = static_cast<std::uint32_t>(std::min(to, static_cast<double>(total)));
      sum += parts_[i];
      used += entries_of(parts_[i]);
    }
    if (used > entries || sum > total) return false;
    for (std::size_t i = 0; i < shares_.size(); ++i) {  // to the end of the last entry: for nothing
      sum += grow(i, std::min(highest_[i], entries_of(parts_[i]) * entry_packets_), total - sum);
    }
    for (; sum < total && used < entries; ++used) {
      std::size_t best = 0;
      for (std::size_t i = 1; i < shares_.size(); ++i) {
        if (room(i) > room(best)) best = i;
      }
      if (room(best) == 0) return false;
      sum += grow(best, parts_[best] + room(best), total - sum);
    }
    return sum == total;
  }

  [[nodiscard]] std::uint32_t entries_of(std::uint32_t part) const {
    return (part + entry_packets_ - 1) / entry_packets_;
  }
  /// What one more entry adds.
  [[nodiscard]] std::uint32_t room(std::size_t i) const {
    return std::min(entry_packets_, highest_[i] - parts_[i]);
  }
  std::uint64_t grow(std::size_t i, std::uint32_t to, std::uint64_t most) {
    const auto by = static_cast<std::uint32_t>(std::min<std::uint64_t>(to - parts_[i], most));
    parts_[i] += by;
    return by;
  }
  [[nodiscard]] double error() const {
    double largest = 0;
    for (std::size_t i = 0; i < shares_.size(); ++i)
      largest = std::max(largest, std::abs(parts_[i] * scale_ - shares_[i]));
    return largest;
  }

  static constexpr double slack = 1e-9;  ///< packets: of rounding a quotient

  const std::vector<double>& shares_;
  double scale_;
  std::uint32_t entry_packets_;
  std::vector<std::uint32_t> parts_;
  std::vector<std::uint32_t> highest_;
};

/// Depth first over the parts; each within the error that is still of use.
class Splitter {
 public:
  Splitter(const std::vector<double>& shares, double scale, std::uint32_t entry_packets, double most)
      : shares_{shares}, scale_{scale}, entry_packets_{entry_packets}, most_{most} {
    parts_.resize(shares.size());
  }

  std::vector<Apportionment> all(std::uint32_t total, std::uint32_t entries, std::size_t count) {
    wanted_ = count;
    descend(0, total, entries, 0);
    return std::move(found_);
  }

 private:
  void descend(std::size_t i, std::uint32_t total, std::uint32_t entries, double error) {
    const auto rest = static_cast<std::uint32_t>(shares_.size() - i);
    if (++steps_ > most_splits_tried) return;
    if (rest == 0) {
      if (total != 0) return;
      found_.push_back({parts_, error});
      return;
    }
    if (total < rest || entries < rest || total > std::uint64_t{entries} * entry_packets_) return;
    const double from = std::ceil((shares_[i] - most_) / scale_ - 1e-9);
    const double to = std::floor((shares_[i] + most_) / scale_ + 1e-9);
    const auto last =
        static_cast<std::uint32_t>(std::clamp(to, 0.0, static_cast<double>(total - (rest - 1))));
    for (auto part = static_cast<std::uint32_t>(std::max(1.0, from)); part <= last; ++part) {
      const std::uint32_t used = (part + entry_packets_ - 1) / entry_packets_;
      if (used > entries || found_.size() == wanted_) return;
      const double own = std::abs(part * scale_ - shares_[i]);
      if (own > most_) continue;
      parts_[i] = part;
      descend(i + 1, total - part, entries - used, std::max(error, own));
    }
  }

  const std::vector<double>& shares_;
  double scale_;
  std::uint32_t entry_packets_;
  double most_;
  int steps_ = 0;
  std::size_t wanted_ = 0;
  std::vector<std::uint32_t> parts_;
  std::vector<Apportionment> found_;
};

}  // namespace

void apportion(const std::vector<double>& shares, std::uint32_t total, double scale, Apportionment& out) {
  const std::size_t count = shares.size();
  out.parts.resize(count);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    out.parts[i] = static_cast<std::uint32_t>(std::clamp(shares[i] / scale, 1.0, static_cast<double>(total)));
    sum += out.parts[i];
  }
  // The step that leaves the smallest error, again and again: optimal for a largest of convex errors.
  while (sum < total) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < count; ++i) {
      if ((out.parts[i] + 1) * scale - shares[i] < (out.parts[best] + 1) * scale - shares[best]) best = i;
    }
    ++out.parts[best];
    ++sum;
  }
  while (sum > total) {
    std::size_t best = count;
    for (std::size_t i = 0; i < count; ++i) {
      if (out.parts[i] == 1) continue;
      if (best == count ||
          shares[i] - (out.parts[i] - 1) * scale < shares[best] - (out.parts[best] - 1) * scale)
        best = i;
    }
    --out.parts[best];
    --sum;
  }
  out.error = 0;
  for (std::size_t i = 0; i < count; ++i)
    out.error = std::max(out.error, std::abs(out.parts[i] * scale - shares[i]));
}

std::uint32_t entries_for(const std::vector<std::uint32_t>& parts, std::uint32_t entry_packets) {
  std::uint32_t entries = 0;
  for (const auto part : parts) entries += (part + entry_packets - 1) / entry_packets;
  return entries;
}

std::optional<Apportionment> apportion_within(const std::vector<double>& shares, std::uint32_t total,
                                              double scale, std::uint32_t entries,
                                              std::uint32_t entry_packets, double most) {
  return Divider{shares, scale, entry_packets}.best(total, entries, std::min(most, 1.0));
}

std::vector<Apportionment> all_apportionments(const std::vector<double>& shares, std::uint32_t total,
                                              double scale, std::uint32_t entries,
                                              std::uint32_t entry_packets, double most, std::size_t count) {
  return Splitter{shares, scale, entry_packets, std::min(most, 1.0)}.all(total, entries, count);
}

}  // namespace heddle::qos
