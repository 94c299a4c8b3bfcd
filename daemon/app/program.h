/// heddled: starts, waits for signals, ends. The daemon itself is wired in heddled.cc.
#pragma once

namespace heddle::app {

/// What main() does; the exit status.
[[nodiscard]] int run_program(int argc, char** argv);

}  // namespace heddle::app
