/// The files of the page, built by npm (daemon/web/page) and part of the program: nothing to install, nothing
/// to find at run time.
#pragma once

#include <span>
#include <string_view>

namespace heddle::web {

struct Asset {
  std::string_view path;  ///< "/index.html", "/assets/page-1a2b3c.js"
  std::string_view content;
};

/// Empty in a build without the page (HEDDLE_PAGE=OFF).
[[nodiscard]] std::span<const Asset> page_assets();

}  // namespace heddle::web
