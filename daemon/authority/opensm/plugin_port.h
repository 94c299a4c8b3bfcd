/// The plugin, as what works with it sees it. The io_context thread.
#pragma once

#include <cstdint>

namespace heddle::opensm {

enum class PluginCommand : std::uint8_t { NewPlan, HeavySweep };

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

}  // namespace heddle::opensm
