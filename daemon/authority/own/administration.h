/// The subnet administrator at work: requests come in, answers go out, long ones in segments, by the kernel
/// where it does that. Tells who wants to hear of it what happens in the fabric. What it answers is decided
/// by sa::Administrator.
///
/// Serves from use() to rest(): only a master knows the tables in force. Members of groups outlive that, lest
/// a fabric that was taken back for a moment loses them.
///
/// On the transaction engine's thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>

#include "authority/own/multicast_groups.h"
#include "authority/own/routes.h"
#include "sa/administrator.h"
#include "sa/rmpp.h"
#include "transport/transactions.h"
#include "transport/transport.h"

namespace heddle::provision {

class Administration final : private transport::TransactionClient {
 public:
  Administration(transport::TransactionEngine& engine, transport::Transport& transport,
                 const sa::AdministratorOptions& options);

  /// From here on it answers by these. Subscribers are told which ports came and went (traps 64 and 65).
  void use(std::shared_ptr<const Survey> survey, std::shared_ptr<const Routes> routes, Instant now);
  /// Not the master any more: nothing is answered.
  void rest();

  /// Whether the packet was for the subnet administrator.
  bool take(const mad::Packet& packet, Instant now);
  /// Hands a notice on to those who want it.
  void tell(const mad::Notice& notice, Instant now);

  /// Whether groups have other members than at the last joined().
  [[nodiscard]] bool groups_changed() const { return told_ != administrator_.groups().revision(); }
  /// Where the members of groups hang in this fabric.
  [[nodiscard]] std::map<Lid, MulticastGroups::Joined> joined(const Fabric& fabric);

  void on_timer(Instant now) { segments_.on_timer(now); }
  [[nodiscard]] std::optional<Instant> next_deadline() const { return segments_.next_deadline(); }

  [[nodiscard]] const sa::AdministratorStatistics& statistics() const { return administrator_.statistics(); }
  [[nodiscard]] const sa::RmppStatistics& segment_statistics() const { return segments_.statistics(); }

 private:
  void on_completion(const transport::Completion& completion) override;
  void send(sa::Reply reply, Instant now);
  void report(const mad::Notice& notice, const sa::Gid& about, Instant now);
  void tell_of_ports(const Survey& before, const Survey& after, Instant now);
  void tell_of_groups(Instant now);
  void look_at_fabric();

  transport::TransactionEngine& engine_;
  transport::Transport& transport_;
  sa::Administrator administrator_;
  sa::RmppSender segments_;
  std::shared_ptr<const Survey> survey_;  ///< null while it rests
  std::shared_ptr<const Routes> routes_;
  bool directory_is_old_ = true;
  std::uint64_t told_ = 0;
  std::map<std::uint64_t, sa::Subscriber> reported_;  ///< by context, until they answer
  std::uint64_t next_report_ = 0;
};

}  // namespace heddle::provision
