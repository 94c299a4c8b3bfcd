/// etcd 3.4 and later by its gateway of HTTP and JSON (etcd.io/docs/v3.4/dev-guide/api_grpc_gateway): a
/// connection for each request, to the endpoint that answered last, else to the others in turn. Certificates
/// are read for each connection, so that they may be renewed.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "shared/store.h"

namespace heddle::shared {

struct EtcdOptions {
  std::vector<std::string> endpoints;  ///< "https://etcd-1:2379"; "http://" on loopback only
  std::string ca_file;                 ///< empty: the authorities that this host trusts
  std::string cert_file;               ///< of this client, or empty
  std::string key_file;
  std::chrono::milliseconds timeout{1000};  ///< of an endpoint, from the first byte to the last
};

/// Errors (Invalid): no endpoint, one that cannot be read, plain HTTP to another host.
[[nodiscard]] Result<void> check(const EtcdOptions& options);

/// Errors: of check().
[[nodiscard]] Result<std::unique_ptr<Store>> etcd_store(const EtcdOptions& options);

}  // namespace heddle::shared
