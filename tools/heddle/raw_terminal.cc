#include "heddle/raw_terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>

namespace heddle::cli {
namespace {

// Signals can only reach globals.
volatile std::sig_atomic_t asked_to_end = 0;
termios before_raw{};

void on_end(int) { asked_to_end = 1; }
void on_resize(int) {}  // interrupts poll()

void put(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno != EINTR) return;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigaction(signal, &action, nullptr);
}

}  // namespace

Result<void> RawTerminal::check() {
  if (isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1) return {};
  return fail(ErrorCode::Unsupported,
              "top needs a terminal; 'heddle links --watch 1' prints into a pipe or file");
}

RawTerminal::RawTerminal() {
  asked_to_end = 0;
  tcgetattr(STDIN_FILENO, &before_raw);
  termios raw = before_raw;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) handle(signal, on_end);
  handle(SIGWINCH, on_resize);
  put("\033[?1049h\033[?25l");  // the alternate screen, no cursor
}

RawTerminal::~RawTerminal() {
  put("\033[?25h\033[?1049l");
  tcsetattr(STDIN_FILENO, TCSANOW, &before_raw);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGWINCH}) handle(signal, SIG_DFL);
}

ScreenSize RawTerminal::size() {
  winsize window{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0 || window.ws_row == 0) return {};
  return {window.ws_col, window.ws_row};
}

void RawTerminal::draw(const std::vector<std::string>& lines, std::size_t bold) {
  std::string text = "\033[H";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) text += "\r\n";
    text += i == bold ? "\033[7m" + lines[i] + "\033[0m" : lines[i];
    text += "\033[K";
  }
  put(text + "\033[J");
}

std::string RawTerminal::read(std::chrono::milliseconds most) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  const int ready = poll(&input, 1, static_cast<int>(most.count()));
  if (asked_to_end != 0) return "q";
  if (ready <= 0) return "";
  std::array<char, 256> typed{};
  const ssize_t count = ::read(STDIN_FILENO, typed.data(), typed.size());
  if (count <= 0) return count < 0 && errno == EINTR ? "" : "q";
  return {typed.data(), static_cast<std::size_t>(count)};
}

}  // namespace heddle::cli
