/// Nobody here writes the fabric for the time being: a daemon of another host does, or has to make room
/// first.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "authority/authority.h"
#include "authority/fabric_seat.h"

namespace heddle::authority {

class Follower final : public Authority {
 public:
  /// As operators are told: whom it follows.
  Follower(Seat& seat, std::function<std::string()> why_not) : seat_{seat}, why_not_{std::move(why_not)} {}

  [[nodiscard]] std::string why_not() const override { return why_not_(); }
  [[nodiscard]] bool follows() const override { return true; }
  void on_found(std::shared_ptr<const Survey> survey, Instant /*now*/) override {
    seat_.use(std::move(survey));
  }

 private:
  Seat& seat_;
  std::function<std::string()> why_not_;
};

}  // namespace heddle::authority
