// What switches hold that OpenSM finds: when it becomes master all of them, later those that were away, and
// those of which an answer to a Set is missing. It does not know, and would write its own tables in an order
// of nobody's. They are read before it routes, and the routing goes on from them in stages.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>

#include "engine.h"
#include "subnet_reader.h"

namespace heddle::plugin {
namespace {

/// OpenSM keeps each request that waits in memory.
constexpr std::size_t most_at_once = 8192;
/// A fabric without tables takes no time, the largest with tables seconds. Nobody waits for one that takes
/// longer: OpenSM routes as if nobody knew what the switches hold.
constexpr std::chrono::seconds longest{30};

/// In all entries of a block that has not been answered. No table has this: port 254 is the last one there
/// may be (IBA 14.2.5.6).
constexpr std::uint8_t unread = 0xFE;

struct Block {
  osm_switch_t* sw;
  std::uint32_t number;
};

/// Where answers go. OpenSM makes it larger later where it needs more, by realloc().
bool make_room(osm_switch_t& sw, std::size_t size) {
  if (sw.lft == nullptr || sw.lft_size < size) {
    void* const room = std::realloc(sw.lft, size);
    if (room == nullptr) return false;
    sw.lft = static_cast<std::uint8_t*>(room);
    sw.lft_size = static_cast<std::uint16_t>(size);
  }
  std::memset(sw.lft, unread, sw.lft_size);
  return true;
}

/// Up to LinearFDBTop (IBA 14.2.5.4): what is behind it leads nowhere.
std::uint32_t blocks_in_use(const osm_switch_t& sw) {
  const std::uint32_t top = std::min<std::uint32_t>(cl_ntoh16(sw.switch_info.lin_top), IB_LID_UCAST_END_HO);
  return top / IB_SMP_DATA_SIZE + 1;
}

void add_blocks_of(osm_switch_t& sw, std::vector<Block>& blocks) {
  const std::uint32_t count = blocks_in_use(sw);
  if (!make_room(sw, std::size_t{count} * IB_SMP_DATA_SIZE)) return;
  for (std::uint32_t number = 0; number < count; ++number) blocks.push_back({&sw, number});
}

/// Returns the table as it was read, and leaves zeroes in blocks that were not answered, which is how OpenSM
/// marks those to be written.
std::vector<std::uint8_t> take_out_unread(osm_switch_t& sw) {
  const std::span<std::uint8_t> table{sw.lft, sw.lft_size};
  const std::size_t end = std::min(table.size(), std::size_t{blocks_in_use(sw)} * IB_SMP_DATA_SIZE);
  std::ranges::fill(table.subspan(end), std::uint8_t{OSM_NO_PATH});
  std::vector<std::uint8_t> read(table.begin(), table.end());
  for (std::size_t begin = 0; begin < end; begin += IB_SMP_DATA_SIZE) {
    const auto block = table.subspan(begin, std::min<std::size_t>(IB_SMP_DATA_SIZE, end - begin));
    if (std::ranges::all_of(block, [](std::uint8_t port) { return port == unread; }))
      std::ranges::fill(block, std::uint8_t{0});
  }
  return read;
}

void ask(osm_sm_t& sm, const Block& block) {
  osm_madw_context_t context{};
  context.lft_context.node_guid = osm_node_get_node_guid(block.sw->p_node);
  context.lft_context.set_method = FALSE;
  (void)osm_req_get(&sm, osm_physp_get_dr_path_ptr(osm_node_get_physp_ptr(block.sw->p_node, 0)),
                    IB_MAD_ATTR_LIN_FWD_TBL, cl_hton32(block.number), TRUE, 0, 0, CL_DISP_MSGID_NONE,
                    &context);
}

/// Port 0 leads to the switch itself: some clear their tables to that.
bool leads_somewhere(std::uint8_t port) { return port != 0 && port != OSM_NO_PATH; }

}  // namespace

void Engine::read_tables() {
  if (engine_ == nullptr) return;
  released_.were_looked_at();
  if (opensm_.subn.first_time_master_sweep || opensm_.subn.coming_out_of_standby) {
    in_force_.forget();
  } else if (opensm_.subn.sm_state == IB_SMINFO_STATE_DISCOVERING) {
    // It was master, and its own port went down for a while: of who does not answer now this is the best that
    // is known.
    in_force_.doubt_all();
  }
  const auto began = Timings::Clock::now();
  std::vector<osm_switch_t*> unknown;
  std::vector<Block> blocks;
  {
    const Lock lock(opensm_.lock);
    for_each<osm_switch_t>(opensm_.subn.sw_guid_tbl, [&](osm_switch_t& sw) {
      if (in_force_.knows(guid_of(*sw.p_node))) return;
      unknown.push_back(&sw);
      add_blocks_of(sw, blocks);
    });
  }
  for (std::size_t asked = 0; asked < blocks.size();) {
    {
      const Lock lock(opensm_.lock);
      const std::size_t end = std::min(blocks.size(), asked + most_at_once);
      for (; asked < end; ++asked) ask(opensm_.sm, blocks[asked]);
    }
    if (wait_for_pending_transactions(&opensm_.stats) != 0) return;
    if (Timings::Clock::now() - began > longest && asked < blocks.size()) {
      log_.error(
          "HE09",
          fmt::format("the tables of {} switches were not read in {} s; theirs are written in no order",
                      unknown.size(), longest.count()));
      return;
    }
  }
  if (!take_what_was_read(unknown)) return;
  // Whoever wrote them may have done so just now.
  packets_gone_ = Timings::Clock::now() + packet_life();
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Timings::Clock::now() - began);
  log_.info(fmt::format("{} blocks of the tables of {} switches read in {} ms", blocks.size(), unknown.size(),
                        took.count()));
}

/// Whether any of them leads anywhere. Of a block that was not answered what was known before stays.
bool Engine::take_what_was_read(const std::vector<osm_switch_t*>& switches) {
  bool any = false;
  const Lock lock(opensm_.lock);
  std::vector<std::vector<std::uint8_t>> read;
  for (osm_switch_t* sw : switches) {
    read.push_back(take_out_unread(*sw));
    any = any || std::ranges::any_of(std::span{sw->lft, sw->lft_size}, leads_somewhere);
  }
  // Of a fabric that nobody has configured nothing is to be known, and no LID looked at.
  if (!any && in_force_.empty()) return false;
  for (std::size_t i = 0; i < switches.size(); ++i) {
    const NodeGuid guid = guid_of(*switches[i]->p_node);
    const std::span<const std::uint8_t> table{switches[i]->lft, switches[i]->lft_size};
    in_force_.confirm(guid, table, read[i]);
    if (std::ranges::equal(table, read[i])) in_force_.trust(guid);
  }
  return any;
}

}  // namespace heddle::plugin
