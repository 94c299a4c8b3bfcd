#include "agent/service.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <fstream>

#include "files/durable_file.h"

namespace heddle::agent {
namespace {

/// While ports are asked, so that a change of the device's is seen.
constexpr int poll_ms = 1000;

std::uint64_t incarnation() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(since).count());
}

}  // namespace

HostPort::HostPort(Programs& programs, const Settings& settings, PortName name, PortGuid guid, Pairs pairs)
    : programs_{programs},
      settings_{settings},
      name_{std::move(name)},
      file_{fmt::format("{}/{:016x}.sequence", settings.state, guid.raw())},
      pairs_{pairs} {}

Result<std::uint64_t> HostPort::kept() const {
  std::ifstream in{file_};
  struct stat status {};
  if (!in && ::stat(file_.c_str(), &status) != 0 && errno == ENOENT) return 0;
  std::string text;
  if (!std::getline(in, text)) return io_error("read", file_);
  std::uint64_t sequence = 0;
  const auto got = std::from_chars(text.data(), text.data() + text.size(), sequence);
  if (got.ec == std::errc{} && got.ptr == text.data() + text.size()) return sequence;
  return fail(ErrorCode::Invalid,
              file_ + " holds no number: take it away, and old orders could be obeyed anew");
}

Result<void> HostPort::keep(std::uint64_t sequence) {
  const auto scratch = write_beside(file_, std::to_string(sequence) + "\n");
  if (!scratch) return fail(scratch.error());
  return put_in_place(*scratch, file_);
}

apm::Standing HostPort::standing() {
  apm::Standing standing = programs_.standing(name_);
  if (settings_.count == Count::None) return standing;
  const auto pairs = pairs_();
  if (!pairs) {
    // What nobody can count may be there.
    ++standing.others;
    standing.trouble = pairs.error().message;
    return standing;
  }
  standing.others += unreported(*pairs, name_, programs_.reported(name_), settings_.ignore);
  return standing;
}

Result<std::unique_ptr<Service>> Service::start(const Settings& settings) {
  const auto key = read_key(settings.key_file);
  if (!key) return fail(key.error());
  std::unique_ptr<Service> service{new Service(settings)};
  auto programs = Programs::listen(settings.socket);
  if (!programs) return fail(programs.error());
  service->programs_ = *std::move(programs);
  const auto names = find_ports(settings.ports);
  if (!names) return fail(names.error());
  for (const PortName& name : *names) {
    if (auto added = service->add(name, *key); !added) return fail(added.error());
  }
  return service;
}

Result<void> Service::add(const PortName& name, const apm::Key& key) {
  auto umad = UmadPort::open(name);
  if (!umad) return fail(umad.error());
  const PortGuid guid = (*umad)->guid();
  auto host = std::make_unique<HostPort>(*programs_, settings_, name, guid, &kernel_pairs);
  const auto kept = host->kept();
  if (!kept) return fail(kept.error());
  auto agent = std::make_unique<apm::Agent>(apm::AgentOptions{.key = key,
                                                              .port = guid,
                                                              .obeys = settings_.obeys,
                                                              .last_sequence = *kept,
                                                              .incarnation = incarnation()},
                                            *host);
  ports_.push_back({*std::move(umad), std::move(host), std::move(agent)});
  return {};
}

Result<void> Service::run(int stop) {
  for (;;) {
    std::vector<pollfd> ready{{stop, POLLIN, 0}};
    for (const Port& port : ports_) ready.push_back({port.umad->descriptor(), POLLIN, 0});
    for (const int fd : programs_->descriptors()) ready.push_back({fd, POLLIN, 0});
    if (::poll(ready.data(), ready.size(), poll_ms) < 0 && errno != EINTR)
      return io_error("wait for", "MADs");
    if (ready[0].revents != 0) return {};
    // What programs have said counts for the answers.
    for (std::size_t i = 1 + ports_.size(); i < ready.size(); ++i) {
      if (ready[i].revents != 0) programs_->on_ready(ready[i].fd);
    }
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      if (ready[i + 1].revents == 0) continue;
      if (auto served = serve(ports_[i]); !served) return served;
    }
  }
}

Result<void> Service::serve(Port& port) {
  for (;;) {
    const auto packet = port.umad->receive();
    if (!packet) return fail(packet.error());
    if (!*packet) return {};
    const auto answer = port.agent->answer(**packet, port.umad->sm_lid());
    // What does not go out is asked for again.
    if (answer) (void)port.umad->send(*answer);
  }
}

}  // namespace heddle::agent
