#include "agent/kernel_pairs.h"

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "files/descriptor.h"
#include "files/durable_file.h"

namespace heddle::agent {
namespace {

using Bytes = std::span<const std::uint8_t>;

// enum ib_qp_type of the kernel (rdma/ib_verbs.h): those that carry management only.
constexpr std::uint8_t smi_type = 0;
constexpr std::uint8_t gsi_type = 1;
// enum ib_qp_state: ready to send.
constexpr std::uint8_t rts_state = 3;

constexpr std::size_t most_message = 64U << 10U;

/// Each attribute of a message, or of one that is nested in it.
void each_attribute(Bytes bytes, const std::function<void(unsigned type, Bytes value)>& visit) {
  while (bytes.size() >= sizeof(nlattr)) {
    nlattr head{};
    std::memcpy(&head, bytes.data(), sizeof head);
    if (head.nla_len < sizeof head || head.nla_len > bytes.size()) return;
    visit(head.nla_type & static_cast<unsigned>(NLA_TYPE_MASK),
          bytes.subspan(sizeof head, head.nla_len - sizeof head));
    bytes = bytes.subspan(std::min<std::size_t>(NLA_ALIGN(head.nla_len), bytes.size()));
  }
}

template <class Number>
Number number(Bytes value) {
  Number result{};
  if (value.size() >= sizeof result) std::memcpy(&result, value.data(), sizeof result);
  return result;
}

std::string text(Bytes value) {
  const auto end = std::find(value.begin(), value.end(), std::uint8_t{0});
  return {value.begin(), end};
}

KernelPair read_pair(Bytes entry, const std::string& device) {
  KernelPair pair{.port = {device, 0}};
  each_attribute(entry, [&](unsigned type, Bytes value) {
    if (type == RDMA_NLDEV_ATTR_PORT_INDEX) pair.port.second = number<std::uint32_t>(value);
    if (type == RDMA_NLDEV_ATTR_RES_TYPE) pair.type = number<std::uint8_t>(value);
    if (type == RDMA_NLDEV_ATTR_RES_STATE) pair.state = number<std::uint8_t>(value);
    if (type == RDMA_NLDEV_ATTR_RES_PID) pair.process = static_cast<pid_t>(number<std::uint32_t>(value));
    if (type == RDMA_NLDEV_ATTR_RES_KERN_NAME) pair.kernel_user = text(value);
  });
  return pair;
}

/// Asks for a dump, and hands over each message of it.
Result<void> dump(int fd, unsigned command, const std::uint32_t* device,
                  const std::function<void(Bytes)>& visit) {
  struct {
    nlmsghdr head{};
    nlattr attribute{};
    std::uint32_t device = 0;
  } request;
  request.head.nlmsg_len = device == nullptr ? sizeof request.head : sizeof request;
  request.head.nlmsg_type = static_cast<std::uint16_t>(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command));
  request.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.attribute = {sizeof request.attribute + sizeof request.device, RDMA_NLDEV_ATTR_DEV_INDEX};
  if (device != nullptr) request.device = *device;
  if (::send(fd, &request, request.head.nlmsg_len, 0) < 0) return io_error("ask", "RDMA netlink");
  std::vector<std::uint8_t> buffer(most_message);
  for (;;) {
    const auto got = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (got <= 0) return io_error("read", "RDMA netlink");
    Bytes rest{buffer.data(), static_cast<std::size_t>(got)};
    while (rest.size() >= sizeof(nlmsghdr)) {
      nlmsghdr head{};
      std::memcpy(&head, rest.data(), sizeof head);
      if (head.nlmsg_len < sizeof head || head.nlmsg_len > rest.size() || head.nlmsg_type == NLMSG_DONE)
        return {};
      if (head.nlmsg_type == NLMSG_ERROR)
        return fail(ErrorCode::Io, "RDMA netlink: the kernel does not tell");
      visit(rest.subspan(sizeof head, head.nlmsg_len - sizeof head));
      rest = rest.subspan(std::min<std::size_t>(NLMSG_ALIGN(head.nlmsg_len), rest.size()));
    }
  }
}

}  // namespace

void read_pairs(Bytes message, const std::string& device, std::vector<KernelPair>& out) {
  each_attribute(message, [&](unsigned type, Bytes table) {
    if (type != RDMA_NLDEV_ATTR_RES_QP) return;
    each_attribute(table, [&](unsigned kind, Bytes entry) {
      if (kind == RDMA_NLDEV_ATTR_RES_QP_ENTRY) out.push_back(read_pair(entry, device));
    });
  });
}

Result<std::vector<KernelPair>> kernel_pairs() {
  const Descriptor socket{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA)};
  if (socket.fd() < 0) return io_error("open", "RDMA netlink");
  const timeval patience{2, 0};
  (void)::setsockopt(socket.fd(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  std::map<std::uint32_t, std::string> devices;
  const auto listed = dump(socket.fd(), RDMA_NLDEV_CMD_GET, nullptr, [&](Bytes message) {
    std::uint32_t index = 0;
    std::string name;
    each_attribute(message, [&](unsigned type, Bytes value) {
      if (type == RDMA_NLDEV_ATTR_DEV_INDEX) index = number<std::uint32_t>(value);
      if (type == RDMA_NLDEV_ATTR_DEV_NAME) name = text(value);
    });
    devices[index] = name;
  });
  if (!listed) return fail(listed.error());
  std::vector<KernelPair> pairs;
  for (const auto& [index, name] : devices) {
    const auto asked = dump(socket.fd(), RDMA_NLDEV_CMD_RES_QP_GET, &index,
                            [&, &device = name](Bytes message) { read_pairs(message, device, pairs); });
    if (!asked) return fail(asked.error());
  }
  return pairs;
}

std::uint32_t unreported(std::span<const KernelPair> pairs, const PortName& port,
                         std::map<pid_t, std::uint32_t> reported, std::span<const std::string> ignored) {
  std::uint32_t count = 0;
  for (const KernelPair& pair : pairs) {
    // One that has no port yet is not ready to send.
    if (pair.port != port || pair.type == smi_type || pair.type == gsi_type || pair.state != rts_state)
      continue;
    if (pair.process == 0) {
      if (std::ranges::find(ignored, pair.kernel_user) == ignored.end()) ++count;
      continue;
    }
    const auto own = reported.find(pair.process);
    if (own == reported.end() || own->second == 0) {
      ++count;
    } else {
      --own->second;
    }
  }
  return count;
}

}  // namespace heddle::agent
