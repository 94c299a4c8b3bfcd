#include "authority/plan_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "files/durable_file.h"

namespace heddle::opensm {

Result<void> write_plan(const std::string& path, const plan::Plan& plan) {
  const std::string text = plan::to_text(plan);
  if (text.size() > plan::max_bytes) {
    return fail(ErrorCode::Refused, fmt::format("the plan would have {} bytes, and the plugin reads {}",
                                                text.size(), plan::max_bytes));
  }
  const auto scratch = write_beside(path, text);
  if (!scratch) return fail(scratch.error());
  // A damaged file is no plan to go back to.
  if (read_plan(path)) {
    const std::string previous = path + ".previous";
    ::unlink(previous.c_str());
    if (::link(path.c_str(), previous.c_str()) != 0) return io_error("keep the plan before as", previous);
  }
  return put_in_place(*scratch, path);
}

Result<plan::Plan> read_plan(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file) {
    const ErrorCode code = errno == ENOENT ? ErrorCode::NotFound : ErrorCode::Io;
    return fail(code, fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  }
  std::string text(plan::max_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return io_error("read", path);
  text.resize(static_cast<std::size_t>(file.gcount()));
  return plan::parse(text, path);
}

}  // namespace heddle::opensm
