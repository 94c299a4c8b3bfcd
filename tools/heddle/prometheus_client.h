/// Asks a Prometheus server over its HTTP API (https://prometheus.io/docs/prometheus/latest/querying/api/).
#pragma once

#include <boost/json/array.hpp>
#include <string>

#include "base/result.h"

namespace heddle::cli {

class PrometheusClient {
 public:
  /// "http://host:port", "http://[::1]:9090/prefix". Errors: Invalid for anything else, https included.
  [[nodiscard]] static Result<PrometheusClient> at(const std::string& url);

  /// The series of an instant vector. Errors: Unreachable with the server's sentence.
  [[nodiscard]] Result<boost::json::array> query(const std::string& expression) const;
  /// The series of a matrix over the last `seconds`.
  [[nodiscard]] Result<boost::json::array> range(const std::string& expression, double last,
                                                 double step) const;

 private:
  [[nodiscard]] Result<boost::json::array> ask(const std::string& target) const;

  std::string host_;
  std::string port_;
  std::string prefix_;
};

}  // namespace heddle::cli
