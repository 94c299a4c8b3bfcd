#include "heddle/watch.h"

#include <chrono>
#include <ostream>
#include <thread>

namespace heddle::cli {

Result<void> watch(double seconds, Context& context, const std::function<Result<void>()>& once) {
  for (;;) {
    if (seconds > 0 && context.colour == Colour::On) *context.out << "\033[H\033[2J";
    if (auto done = once(); !done || seconds <= 0) return done;
    context.out->flush();
    if (!context.out->good()) return {};
    std::this_thread::sleep_for(std::chrono::duration<double>{seconds});
  }
}

}  // namespace heddle::cli
