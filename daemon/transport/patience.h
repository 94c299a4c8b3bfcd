/// How much longer than others a request with Patience::Slow is waited for, each attempt of it.
#pragma once

namespace heddle::transport {

constexpr int slow_stretch = 4;

}  // namespace heddle::transport
