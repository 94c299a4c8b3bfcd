/// A host of the simulated fabric as an InfiniBand adapter of this Linux, by the kernel module heddle_vhca
/// (plugins/vhca): what the kernel's agents send enters the fabric at the host's ports, and what arrives
/// there goes to them. So every libibumad program sees the fabric as hardware, with the kernel's time-outs,
/// retries, registrations and RMPP. Unlike a ClientSession it never asks again by itself: that is the
/// kernel's.
///
/// On the io_context's thread. The adapter is pulled out of the kernel when this ends.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "simserve/client_session.h"
#include "simserve/kernel_messages.h"

namespace heddle::simserve {

class KernelAdapter {
 public:
  /// `around` and its parts must outlive it. The kernel's device is named `name`, or heddleN where that is
  /// empty. Errors: Unsupported when the module is not loaded, Refused without the right to use it, Invalid
  /// for a node that is no channel adapter or has more ports than the module knows.
  static Result<std::unique_ptr<KernelAdapter>> open(Surroundings& around, NodeIndex node,
                                                     const std::string& name);
  ~KernelAdapter();
  KernelAdapter(const KernelAdapter&) = delete;
  KernelAdapter& operator=(const KernelAdapter&) = delete;

  /// Tells the kernel what its ports are like where that differs from what it was told.
  void push_ports();

  /// The device's name in /sys/class/infiniband, once the kernel has registered it.
  [[nodiscard]] const std::optional<std::string>& registered() const { return registered_; }
  /// Why the kernel did not take the adapter, or does not any more.
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

 private:
  struct Port {
    PortIndex index;
    sim::ClientId client;
    heddle_vhca_port told{};
    std::uint8_t registrations = 0;  ///< orders to register anew that it knows of
  };

  KernelAdapter(Surroundings& around, int fd);
  Result<void> introduce(NodeIndex node, const std::string& name);
  void listen();
  void read();
  void take(const KernelMessage& message);
  void take_packet(const heddle_vhca_packet& packet);
  void answer_local(heddle_vhca_local local);
  void modify_port(const heddle_vhca_modify_port& wanted);
  void deliver(std::size_t port, const mad::Packet& packet);
  [[nodiscard]] heddle_vhca_port describe(std::size_t port);
  [[nodiscard]] Picoseconds now() const;
  Result<void> write(const KernelMessage& message);

  Surroundings& around_;
  boost::asio::posix::stream_descriptor file_;
  std::vector<Port> ports_;
  /// Upper 16 bits of TIDs, where they are not 0: the fabric puts its own there. By the lower 48.
  std::unordered_map<std::uint64_t, std::uint16_t> upper_tids_;
  std::optional<std::string> registered_;
  std::optional<Error> failure_;
};

}  // namespace heddle::simserve
