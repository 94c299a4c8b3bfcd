// A journal whose file was damaged: it is read, or refused with its path; what is read can be written on.
//
// The input: patches of six bytes on a good file, three for the place and one for its length, two for what
// stands there; a first byte of 0xff cuts the file short.

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "fuzz/fuzz_target.h"
#include "journal/journal.h"

namespace {

using namespace heddle;
namespace fs = std::filesystem;

/// In memory, where there is such a place: a disk would be waited for.
class Directory {
 public:
  Directory()
      : path_{(fs::is_directory("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path()) /
              ("heddle-journal-fuzz-" + std::to_string(getpid()))} {
    fs::create_directories(path_);
  }
  ~Directory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

std::string directory() {
  static const Directory own;
  return own.path();
}

std::string good_file() {
  const std::string path = directory() + "/good.db";
  {
    auto journal = journal::open_journal(path, {}).value();
    const LinkRef link{{NodeGuid{1}, PortNum{2}}, {NodeGuid{3}, PortNum{4}}};
    const regulation::OffRecord off{link,
                                    link.a,
                                    {LinkWidth::X4, LinkSpeed::Hdr},
                                    power::off_mode,
                                    regulation::Cause::Regulation,
                                    Instant{},
                                    "load below 5 %"};
    (void)journal->write(regulation::Intent{regulation::ChangeId{1}, Instant{}, {off}, {}});
    (void)journal->write(regulation::Outcome{regulation::ChangeId{1}, Instant{}, {off}, {}, ""});
    (void)journal->write(regulation::Intent{regulation::ChangeId{2}, Instant{}, {}, {link}});
    (void)journal->write(regulation::ModeRecord{regulation::Mode::Enforce, "alice"});
    (void)journal->append({0, {}, "decided", "a/1 -- b/2", "text"});
    const journal::Rank ranks[] = {{NodeGuid{1}, 0}, {NodeGuid{3}, 1}};
    (void)journal->put_ranks(ranks);
    const journal::PortLid lids[] = {{link.a, Lid{5}}, {link.b, Lid{6}}};
    (void)journal->put_lids(lids);
    const journal::Cable cables[] = {{link, "leaf-1", "spine-0"}};
    (void)journal->put_cables(cables);
  }
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string good = good_file();
  std::string bytes = good;
  if (size > 3 && data[0] == 0xff) bytes.resize((data[1] * 256U + data[2]) % bytes.size());
  for (std::size_t i = 0; i + 6 <= size && !bytes.empty(); i += 6) {
    const std::size_t place = (data[i] * 65536U + data[i + 1] * 256U + data[i + 2]) % bytes.size();
    for (std::size_t k = 0; k <= data[i + 3] % 8U && place + k < bytes.size(); ++k) {
      bytes[place + k] = static_cast<char>(data[i + 4 + k % 2]);
    }
  }
  const std::string path = directory() + "/damaged.db";
  for (const char* beside : {"", "-wal", "-shm", "-journal"}) fs::remove(path + beside);
  std::ofstream(path, std::ios::binary) << bytes;
  auto journal = journal::open_journal(path, {});
  if (!journal) {
    fuzz::require(journal.error().message.find(path) != std::string::npos, "an error names the file");
    return 0;
  }
  (void)(*journal)->memory();
  (void)(*journal)->ranks();
  if (const auto lids = (*journal)->lids()) (void)(*journal)->put_lids(*lids);
  if (const auto cables = (*journal)->cables()) (void)(*journal)->put_cables(*cables);
  (void)(*journal)->energy();
  (void)(*journal)->events(0, 100);
  (void)(*journal)->write(regulation::PlaneRecord{1});
  (void)(*journal)->append({0, {}, "decided", "", "on"});
  return 0;
}
