/// The plugin, as what works with it sees it. The io_context thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

namespace heddle::opensm {

enum class PluginCommand : std::uint8_t { NewPlan, HeavySweep };

[[nodiscard]] constexpr std::string_view to_string(PluginCommand command) {
  return command == PluginCommand::NewPlan ? "new_plan" : "heavy_sweep";
}

class PluginPort {
 public:
  /// A plugin is connected and has said hello.
  [[nodiscard]] virtual bool connected() const = 0;
  /// Others are connected too: if the one that is listened to is not the master, one of them may become it.
  [[nodiscard]] virtual bool has_others() const { return false; }
  /// Nothing happens where none is.
  virtual void tell(PluginCommand command) = 0;

 protected:
  ~PluginPort() = default;
};

/// One that somebody stands in front of: who writes down what is asked and said, or answers as it was.
class PluginBehind final : public PluginPort {
 public:
  enum class Question : std::uint8_t { Connected, HasOthers };
  using Ask = std::function<bool(Question)>;
  using Tell = std::function<void(PluginCommand)>;

  PluginBehind(Ask ask, Tell tell) : ask_{std::move(ask)}, tell_{std::move(tell)} {}
  [[nodiscard]] bool connected() const override { return ask_(Question::Connected); }
  [[nodiscard]] bool has_others() const override { return ask_(Question::HasOthers); }
  void tell(PluginCommand command) override { tell_(command); }

 private:
  Ask ask_;
  Tell tell_;
};

}  // namespace heddle::opensm
