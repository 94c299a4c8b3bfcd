/// What operators ask for of the regulation, and how it stands: values, so that whoever has them may take his
/// time, and no part of the core is handed out.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "regulate/regulator.h"

namespace heddle::core {

/// As long as the fabric is large.
struct RegulationState {
  std::shared_ptr<const Fabric> reference;  ///< null before the first sweep
  regulation::Mode mode{};
  regulation::Stage stage{};
  unsigned plane = 0;
  std::vector<regulation::LinkStatus> links;
  Watts power;
  Watts saving;
  power::EnergyTotals total;
  power::Parts parts;
  power::Tariff tariff;
  regulate::Regulator::Transitions transitions;
  std::size_t unknown_switches = 0;  ///< that no power model knows
  std::vector<power::Compared> measured;
  Problems problems;
};

struct RegulationPlan {
  std::optional<regulation::Plan> plan;
  std::vector<regulation::IdleSwitch> idle;
};

/// On the core's thread, within an event; replies come once, perhaps from within.
class RegulationControl {
 public:
  using Reply = regulate::Regulator::Reply;
  using Adopt = regulate::Regulator::Adopt;

  [[nodiscard]] virtual Instant now() const = 0;
  /// Null before the first sweep.
  [[nodiscard]] virtual std::shared_ptr<const Fabric> reference() const = 0;
  [[nodiscard]] virtual RegulationState state() const = 0;
  [[nodiscard]] virtual RegulationPlan plan() const = 0;
  [[nodiscard]] virtual power::EnergyRecord energy() const = 0;
  [[nodiscard]] virtual std::vector<regulate::DrainShown> drains() const = 0;
  /// Links that are off.
  [[nodiscard]] virtual std::vector<LinkRef> off() const = 0;
  /// Those whose cables lie, though nobody sees them: core/cabling_watch.h.
  [[nodiscard]] virtual std::set<LinkRef> off_on_purpose() const = 0;
  /// Another number: states of links may be others.
  [[nodiscard]] virtual std::uint64_t revision() const = 0;
  /// Of the log of decisions; see journal::Scribe.
  virtual void events(std::uint64_t after, std::size_t most, journal::Scribe::Read read) const = 0;
  [[nodiscard]] virtual std::size_t reads_waiting() const = 0;

  // See regulate::Regulator.
  virtual void set_mode(regulation::Mode mode, const std::string& by, Reply reply) = 0;
  virtual void set_override(const LinkRef& link, const regulation::Override& value, regulation::Force force,
                            Reply reply) = 0;
  virtual void forget_link(const LinkRef& link, const std::string& by, Reply reply) = 0;
  virtual void forget_gone(const std::string& by, Reply reply) = 0;
  virtual void restore(const std::string& by, Adopt adopt, Reply reply) = 0;
  virtual void set_drain(const regulation::Drain& drain, regulation::Force force, Reply reply) = 0;
  virtual void end_drain(const std::string& what, const std::string& by, Reply reply) = 0;
  virtual void keep_baseline(const regulation::Baseline& baseline, Reply reply) = 0;
  virtual void forget_baseline(const std::string& by, Reply reply) = 0;

 protected:
  ~RegulationControl() = default;
};

/// Of a regulator, which must outlive it.
class RegulatorControl final : public RegulationControl {
 public:
  RegulatorControl(regulate::Regulator& regulator, std::function<Instant()> now)
      : regulator_{regulator}, now_{std::move(now)} {}

  [[nodiscard]] Instant now() const override { return now_(); }
  [[nodiscard]] std::shared_ptr<const Fabric> reference() const override {
    return regulator_.governor().reference();
  }
  [[nodiscard]] RegulationState state() const override;
  [[nodiscard]] RegulationPlan plan() const override {
    return {regulator_.governor().plan(), regulator_.governor().idle_switches()};
  }
  [[nodiscard]] power::EnergyRecord energy() const override { return regulator_.energy().record(); }
  [[nodiscard]] std::vector<regulate::DrainShown> drains() const override { return regulator_.drains(); }
  [[nodiscard]] std::vector<LinkRef> off() const override;
  [[nodiscard]] std::set<LinkRef> off_on_purpose() const override;
  [[nodiscard]] std::uint64_t revision() const override { return regulator_.revision(); }
  void events(std::uint64_t after, std::size_t most, journal::Scribe::Read read) const override {
    regulator_.events(after, most, std::move(read));
  }
  [[nodiscard]] std::size_t reads_waiting() const override { return regulator_.reads_waiting(); }
  void set_mode(regulation::Mode mode, const std::string& by, Reply reply) override {
    regulator_.set_mode(mode, by, now(), std::move(reply));
  }
  void set_override(const LinkRef& link, const regulation::Override& value, regulation::Force force,
                    Reply reply) override {
    regulator_.set_override(link, value, force, now(), std::move(reply));
  }
  void forget_link(const LinkRef& link, const std::string& by, Reply reply) override {
    regulator_.forget_link(link, by, now(), std::move(reply));
  }
  void forget_gone(const std::string& by, Reply reply) override {
    regulator_.forget_gone(by, now(), std::move(reply));
  }
  void restore(const std::string& by, Adopt adopt, Reply reply) override {
    regulator_.restore(by, adopt, now(), std::move(reply));
  }
  void set_drain(const regulation::Drain& drain, regulation::Force force, Reply reply) override {
    regulator_.set_drain(drain, force, now(), std::move(reply));
  }
  void end_drain(const std::string& what, const std::string& by, Reply reply) override {
    regulator_.end_drain(what, by, now(), std::move(reply));
  }
  void keep_baseline(const regulation::Baseline& baseline, Reply reply) override {
    regulator_.keep_baseline(baseline, now(), std::move(reply));
  }
  void forget_baseline(const std::string& by, Reply reply) override {
    regulator_.forget_baseline(by, now(), std::move(reply));
  }

 private:
  regulate::Regulator& regulator_;
  std::function<Instant()> now_;
};

}  // namespace heddle::core
