#include "support/places.h"

namespace heddle::test {

std::filesystem::path source_directory() { return HEDDLE_SOURCE_DIR; }

std::filesystem::path shared_data() { return source_directory().parent_path() / "shared" / "data"; }

}  // namespace heddle::test
