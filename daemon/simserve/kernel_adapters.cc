#include "simserve/kernel_adapters.h"

#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

#include "sim/host.h"

namespace heddle::simserve {
namespace {

constexpr std::chrono::milliseconds adapter_tick_interval{20};

}  // namespace

KernelAdapters::KernelAdapters(const Surroundings& around, sim::ChangeListener* next)
    : around_{around}, next_{next}, timer_{around.io} {}

KernelAdapters::~KernelAdapters() { around_.fabric.set_change_listener(next_); }

Result<std::unique_ptr<KernelAdapters>> KernelAdapters::open(const Surroundings& around,
                                                             const std::vector<std::string>& nodes,
                                                             sim::ChangeListener* next) {
  std::unique_ptr<KernelAdapters> adapters{new KernelAdapters(around, next)};
  for (const std::string& name : nodes) {
    const auto node = sim::find_named(around.fabric.description(), name);
    if (!node) return fail(node.error());
    auto adapter = KernelAdapter::open(adapters->around_, *node, "");
    if (!adapter) return fail(adapter.error());
    adapters->adapters_.push_back(*std::move(adapter));
  }
  around.fabric.set_change_listener(adapters.get());
  adapters->tick();
  return adapters;
}

void KernelAdapters::changed(const sim::Change& change, Picoseconds at) {
  if (next_ != nullptr) next_->changed(change, at);
  if (change.kind != sim::Change::Kind::PortState && change.kind != sim::Change::Kind::Lid) return;
  // From a handler of its own: the fabric may be in the middle of the change.
  if (std::exchange(pushing_, true)) return;
  boost::asio::post(around_.io, [this] { push(); });
}

void KernelAdapters::push() {
  pushing_ = false;
  for (const auto& adapter : adapters_) adapter->push_ports();
}

void KernelAdapters::tick() {
  timer_.expires_after(adapter_tick_interval);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    push();
    tick();
  });
}

}  // namespace heddle::simserve
