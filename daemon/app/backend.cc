#include "app/backend.h"

namespace heddle::app {

Result<std::unique_ptr<Backend>> open_backend(boost::asio::io_context& io, const Config& config) {
  if (config.fabric.backend == BackendKind::Sim) return open_sim_backend(io, config);
  return open_umad_backend(io, config);
}

}  // namespace heddle::app
