#include "ledger/story.h"

#include <stdexcept>

namespace heddle::vef {
namespace {

constexpr std::uint64_t never_sent = ~std::uint64_t{0};

}  // namespace

Story::Story(const Numbers& numbers)
    : numbers_{numbers},
      sent_(numbers.first_sent.size()),
      received_(numbers.first_received.size()),
      entered_(numbers.first_entered.size()) {}

bool Story::go_on(const Record& record, Told& told) {
  switch (record.what) {
    case What::Posted:
      post(record);
      return false;
    case What::Received:
      pending_.clear();
      receive(record);
      return false;
    case What::ReceivedToo:
      receive(record);
      return false;
    case What::Send:
      step(record, numbers_.first_sent.at(record.where) + sent_.at(record.where)++, told);
      last_kind_ = After::Send;
      return true;
    case What::Enter:
      step(record, numbers_.first_entered.at(record.where) + entered_.at(record.where)++, told);
      last_kind_ = After::Collective;
      pending_.clear();
      return true;
  }
  return false;
}

void Story::post(const Record& record) {
  const std::uint64_t post = posts_++;
  if (record.where == nowhere) return;
  const std::uint64_t place = received_.at(record.where)++;
  const bool is_sent = place < numbers_.sent.at(record.where);
  posted_[post] = is_sent ? numbers_.first_received[record.where] + place : never_sent;
}

void Story::receive(const Record& record) {
  const auto found = posted_.find(record.amount);
  if (found == posted_.end()) return;  // cancelled
  if (found->second == never_sent) throw std::runtime_error("a message was received that no rank sent");
  if (pending_.size() < most_pending) pending_.push_back({found->second, record.at});
  posted_.erase(found);
}

void Story::step(const Record& record, std::uint64_t id, Told& told) {
  told = {&record, id, last_kind_, record.at - last_.at, last_.id};
  if (!pending_.empty()) {
    told.after = After::Reception;
    told.on = pending_.back().id;
    told.ticks = record.at - pending_.back().at;
    pending_.pop_back();
  }
  last_ = {id, record.at};
}

}  // namespace heddle::vef
