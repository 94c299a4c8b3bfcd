/// The part of the control API about QoS tables in the fabric: GET /v1/qos, POST /v1/qos/push, /v1/qos/verify
/// and /v1/qos/forget (docs/api.md).
#pragma once

#include "control/http.h"
#include "core/qos_control.h"

namespace heddle::control {

using core::DryRun;
using core::QosControl;
using core::QosPush;
using core::QosPushed;

/// Answers what is under /v1/qos. `qos` must outlive the servers.
void answer_qos(QosControl& qos, const Request& request, const Respond& respond);

}  // namespace heddle::control
