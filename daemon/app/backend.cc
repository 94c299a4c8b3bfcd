#include "app/backend.h"

namespace heddle::app {

Result<std::unique_ptr<Backend>> open_backend(boost::asio::io_context& io, const Config& config) {
  if (config.fabric.backend == BackendKind::Sim) return open_sim_backend(io, config);
  return fail(ErrorCode::Unsupported, "fabric.backend \"umad\": this build has no umad transport");
}

}  // namespace heddle::app
