/// All ranks, when they do something together at MPI_Finalize. Where one of them fails, all go on together to
/// say so: none is left waiting for another one.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <exception>
#include <string>
#include <system_error>
#include <vector>

namespace heddle::vef {

/// Whether `mine` is empty in all ranks; if not, only the first one that has a reason keeps it. Called by
/// every rank.
[[nodiscard]] bool all_are_well(std::string& mine);

class Ranks {
 public:
  using Values = std::vector<std::uint64_t>;

  /// Messages of the program that nobody received are not taken for these. `where`: what writing is said to
  /// have failed at.
  explicit Ranks(std::string where);
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks();

  /// Carries out what may throw, and does not communicate. Whether all ranks were able to.
  template <class Do>
  [[nodiscard]] bool together(Do act) {
    attempt(act);
    return all_are_well(why_);
  }
  /// By itself; why() of together() tells.
  template <class Do>
  void attempt(Do act) noexcept {
    if (!why_.empty()) return;
    try {
      act();
    } catch (const std::system_error& error) {
      why_ = where_ + ": " + error.what();
    } catch (const std::exception& error) {
      why_ = error.what();
    } catch (...) {
      why_ = "out of memory";
    }
  }

  /// What all ranks have, one after the other.
  [[nodiscard]] bool gather(const Values& own, Values& all);
  /// `to`, `from`: by rank.
  [[nodiscard]] bool exchange(const std::vector<Values>& to, std::vector<Values>& from);
  [[nodiscard]] std::uint64_t sum(std::uint64_t own) const;

  [[nodiscard]] const std::string& why() const { return why_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(size_); }
  [[nodiscard]] MPI_Comm comm() const { return comm_; }

 private:
  std::string where_;
  std::string why_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 0;
};

}  // namespace heddle::vef
