/// Surveys made from others: with links that are known and not seen, with routes that keep off some links.
/// Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "authority/known_fabric.h"
#include "fabric/change.h"
#include "mad/survey.h"

namespace heddle::provision {

using authority::KnownLink;

/// The snapshot with other ports and more cables; everything keeps its position but the links.
[[nodiscard]] std::shared_ptr<const Fabric> rebuild(const Fabric& fabric, std::uint64_t epoch,
                                                    const std::function<void(LinkEnd, Port&)>& change,
                                                    std::span<const KnownLink> more = {});

/// With those of the links whose ends are there and have no other cable. The states of their ports stay as
/// they were found. The survey itself where there is nothing to add.
[[nodiscard]] std::shared_ptr<const Survey> complete(std::shared_ptr<const Survey> survey,
                                                     std::span<const KnownLink> links);

/// complete(), and, where a link is up and not Active or there are some to avoid, with_routes_avoiding().
[[nodiscard]] std::shared_ptr<const Survey> complete_avoiding(std::shared_ptr<const Survey> survey,
                                                              std::span<const KnownLink> links,
                                                              std::span<const LinkRef> avoid);

/// Ports of switches that did not say what state they are in are as they were in `before`, where their
/// neighbours say that the links to them are Active, or were not met: the sweep may have had no other way.
[[nodiscard]] std::shared_ptr<const Survey> with_unheard_ports(const Survey& before,
                                                               std::shared_ptr<const Survey> survey);

/// The same with the shortest directed routes over links that are Active and not in `avoid`; over others that
/// are up where there is none; nodes to which none leads keep theirs. The epoch is one more.
[[nodiscard]] std::shared_ptr<const Survey> with_routes_avoiding(const Survey& survey,
                                                                 std::span<const LinkRef> avoid);

/// Whether nothing but this has changed: ports of links that are waited for were down, and are up.
[[nodiscard]] bool only_gains(const Survey& before, const Survey& after,
                              const std::function<bool(const LinkRef&)>& is_waited_for);

}  // namespace heddle::provision
