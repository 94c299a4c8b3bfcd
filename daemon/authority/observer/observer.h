/// Nobody here writes the fabric: the configuration says so.
#pragma once

#include <string>
#include <utility>

#include "authority/authority.h"
#include "authority/fabric_seat.h"

namespace heddle::authority {

class Observer final : public Authority {
 public:
  /// As operators are told: why nothing is written, and why nothing is regulated.
  Observer(Seat& seat, std::string why_not, std::string why_not_regulated)
      : seat_{seat}, why_not_{std::move(why_not)}, why_not_regulated_{std::move(why_not_regulated)} {}

  [[nodiscard]] std::string why_not() const override { return why_not_; }
  [[nodiscard]] std::string why_not_regulated() const override { return why_not_regulated_; }
  void on_found(std::shared_ptr<const Survey> survey, Instant /*now*/) override {
    seat_.use(std::move(survey));
  }

 private:
  Seat& seat_;
  std::string why_not_;
  std::string why_not_regulated_;
};

}  // namespace heddle::authority
