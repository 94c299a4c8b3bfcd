#include "fabric/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace heddle::topology {
namespace {

constexpr std::size_t most_kept = 10'000;

}  // namespace

std::string_view plural(Kind kind) {
  switch (kind) {
    case Kind::ForeignLine:
      return "lines do not belong to the file and are passed over";
    case Kind::ConsoleCommand:
      return "commands for ibsim's console are not carried out";
    case Kind::SystemImageGiven:
      return "nodes are given with the GUID of their system image; their names identify them";
    case Kind::PortGuidGiven:
      return "nodes are given with the GUID of a port; their names identify them";
    case Kind::OtherGuidGiven:
      return "nodes are given with a GUID other than that of their name, which identifies them";
    case Kind::NoNodeGuid:
      return "nodes are given by the GUID of a port only, which stands for the node's";
    case Kind::DescriptionCut:
      return "descriptions are longer than 64 bytes and are cut";
    case Kind::NotDescribed:
      return "cables lead to nodes that are not described; they are left out";
    case Kind::OneEnd:
      return "cables are seen from one end only";
    case Kind::ToItself:
      return "ports are cabled to themselves; they are left out";
    case Kind::OwnSwitch:
      return "cables have both ends in one switch";
    case Kind::RatesDiffer:
      return "cables have ends that differ in width or speed; the slower counts";
    case Kind::GuidsDiffer:
      return "ports have another GUID where a cable leads to them; that of the node's own lines counts";
    case Kind::LidNotUnicast:
      return "LIDs are not unicast LIDs";
    case Kind::LidTaken:
      return "LIDs are those of two ports; they lead to the first";
    case Kind::OneGuidTwice:
      return "nodes have a GUID that another one has; they are left out";
    case Kind::OneNameTwice:
      return "nodes have a name that another one has; they are left out";
    case Kind::NodeRefused:
      return "nodes cannot be; they are left out";
    case Kind::NoSuchPort:
      return "cables are in ports beyond those of the node; they are left out";
    case Kind::TwoCables:
      return "cables are in ports that have one already; they are left out";
    case Kind::EndsDisagree:
      return "cables lead to ports that say otherwise; they are left out";
  }
  return "findings";
}

void Findings::add(Kind kind, std::string text) {
  const auto at = static_cast<std::size_t>(kind);
  if (counts_[at]++ == 0) {
    first_[at] = text;
    order_.push_back(kind);
  }
  if (all_.size() < most_kept) {
    all_.push_back(std::move(text));
  } else {
    ++more_;
  }
}

bool Findings::has_losses() const { return std::ranges::any_of(order_, is_loss); }

std::string Findings::brief(Kind kind) const {
  const std::string& first = first_[static_cast<std::size_t>(kind)];
  if (count(kind) == 1) return first;
  return fmt::format("{} {}; the first: {}", count(kind), plural(kind), first);
}

std::vector<std::string> Findings::brief() const {
  std::vector<std::string> texts;
  for (const Kind kind : order_) texts.push_back(brief(kind));
  return texts;
}

std::vector<std::string> Findings::losses() const {
  std::vector<std::string> texts;
  for (const Kind kind : order_) {
    if (is_loss(kind)) texts.push_back(brief(kind));
  }
  return texts;
}

std::vector<std::string> Findings::all() const {
  std::vector<std::string> texts = all_;
  if (more_ > 0) texts.push_back(fmt::format("{} more", more_));
  return texts;
}

}  // namespace heddle::topology
