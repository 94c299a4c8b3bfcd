// A journal whose file was damaged, or written by an earlier version: it is read, or refused with its path,
// and what is read can be written on. What is written is read as the same again, in a file and by way of a
// scribe.
//
// The input: a first byte that says what it is.
// - 'd': patches of six bytes on a good file, three for the place and one for its length, two for what stands
//   there; a first byte of 0xff cuts the file short.
// - 'q': other values in the rows of a good file: eleven bytes each for the table, the column, what kind of
//   value it is, and the value.
// - 'v': the good file as an earlier or a later version would have it; a digit says which.
// - 'p': what is no file is at the path.
// - 'w': lines of what is kept, as shared/record_text.h has it; an empty one lets the disk write what it was
//   given.

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "fabric/link_rate.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/kept_journal.h"
#include "journal/database.h"

namespace {

using namespace heddle;
namespace fs = std::filesystem;
using fuzz::energy_of;
using fuzz::here;

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

void forget(const std::string& path) {
  for (const char* beside : {"", "-wal", "-shm", "-journal"}) fs::remove(path + beside);
}

std::string good_file() {
  using namespace std::chrono_literals;
  const std::string path = directory() + "/good.db";
  {
    auto journal = journal::open_journal(path, here).value();
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
    (void)journal->write(
        regulation::OverrideRecord{link, {regulation::Wish::Pin, "", "bob", Instant{9s}, true}});
    (void)journal->write(regulation::DrainRecord{
        "leaf-0",
        regulation::Drain{"leaf-0", {link}, {NodeGuid{3}}, "fan", "ada", Instant{1s}, Instant{9s}, true}});
    (void)journal->write(regulation::WakeRecord{{{link, {4500ms, 180s}}}});
    (void)journal->write(regulation::BaselineRecord{
        regulation::Baseline{std::make_shared<const std::string>("plan"), "cables.csv", "ada", Instant{4s}}});
    (void)journal->append({0, {}, "decided", "a/1 -- b/2", "text"});
    const journal::Rank ranks[] = {{NodeGuid{1}, 0}, {NodeGuid{3}, 1}};
    (void)journal->put_ranks(ranks);
    const journal::PortLid lids[] = {{link.a, Lid{5}}, {link.b, Lid{6}}};
    (void)journal->put_lids(lids);
    const journal::Cable cables[] = {{link, "leaf-1", "spine-0"}};
    (void)journal->put_cables(cables);
    (void)journal->put_energy(energy_of(link));
  }
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

const std::string& good() {
  static const std::string bytes = good_file();
  return bytes;
}

std::string file_with(const std::string& bytes) {
  std::string path = directory() + "/other.db";
  forget(path);
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

/// Values that have a name.
void read_names(const regulation::Memory& memory) {
  for (const auto& [link, off] : memory.off) {
    for (const power::LinkMode mode : {off.full, off.mode})
      fuzz::require(!to_string(mode.width).empty() && !to_string(mode.speed).empty(), "a mode is one");
    fuzz::require(off.cause <= regulation::Cause::Operator, "a cause is one");
  }
  for (const auto& [link, value] : memory.overrides)
    fuzz::require(value.wish <= regulation::Wish::Pin, "a wish is one");
  fuzz::require(!memory.mode || *memory.mode <= regulation::Mode::Enforce, "a mode is one");
}

void read_and_write(const std::string& path) {
  auto journal = journal::open_journal(path, here);
  if (!journal) {
    fuzz::require(journal.error().message.find(path) != std::string::npos, "an error names the file");
    return;
  }
  read_names((*journal)->memory());
  if (const auto ranks = (*journal)->ranks()) (void)(*journal)->put_ranks(*ranks);
  if (const auto lids = (*journal)->lids()) (void)(*journal)->put_lids(*lids);
  if (const auto cables = (*journal)->cables()) (void)(*journal)->put_cables(*cables);
  if (const auto energy = (*journal)->energy()) (void)(*journal)->put_energy(*energy);
  (void)(*journal)->events(0, 100);
  (void)(*journal)->write(regulation::PlaneRecord{1});
  (void)(*journal)->append({0, {}, "decided", "", "on"});
  (void)(*journal)->image();
}

void damage(const std::uint8_t* data, std::size_t size) {
  std::string bytes = good();
  if (size > 3 && data[0] == 0xff) bytes.resize((data[1] * 256U + data[2]) % bytes.size());
  for (std::size_t i = 0; i + 6 <= size && !bytes.empty(); i += 6) {
    const std::size_t place = (data[i] * 65536U + data[i + 1] * 256U + data[i + 2]) % bytes.size();
    for (std::size_t k = 0; k <= data[i + 3] % 8U && place + k < bytes.size(); ++k) {
      bytes[place + k] = static_cast<char>(data[i + 4 + k % 2]);
    }
  }
  read_and_write(file_with(bytes));
}

struct Table {
  const char* name;
  std::array<const char*, 14> columns;
};
constexpr std::array tables{
    Table{"off",
          {"a_node", "a_port", "b_node", "b_port", "node", "port", "full_width", "full_speed", "width",
           "speed", "cause", "since", "reason", "change"}},
    Table{"intent", {"change", "at"}},
    Table{"intent_on", {"a_node", "a_port", "b_port", "change"}},
    Table{"override", {"a_port", "b_port", "wish", "reason", "by", "until", "forced"}},
    Table{"setting", {"name", "value"}},
    Table{"rank", {"node", "rank"}},
    Table{"energy_link", {"a_node", "spent", "saved"}},
    Table{"energy_total", {"spent", "saved"}},
    Table{"event", {"id", "at", "kind", "text"}},
    Table{"drain", {"what", "reason", "since", "until", "forced"}},
    Table{"drain_link", {"a_node", "a_port", "what"}},
    Table{"drain_node", {"node", "what"}},
    Table{"wake", {"a_node", "b_port", "took"}},
    Table{"lid", {"node", "port", "lid"}},
    Table{"baseline", {"plan", "name", "by", "since"}},
    Table{"cable", {"a_node", "a_port", "a", "b"}},
    Table{"sqlite_sequence", {"seq"}},
};

void set(const journal::Database& database, const std::uint8_t* change) {
  const Table& table = tables[change[0] % tables.size()];
  const auto named =
      static_cast<std::size_t>(std::ranges::count_if(table.columns, [](auto* name) { return name; }));
  const std::string sql =
      std::string{"UPDATE "} + table.name + " SET " + table.columns[change[1] % named] + "=?";
  auto statement = database.prepare(sql.c_str());
  fuzz::require(statement.has_value(), "a good file has the tables that are known");
  std::int64_t value = 0;
  std::memcpy(&value, change + 3, sizeof value);
  switch (change[2] % 5U) {
    case 0:
      statement->bind(value);
      break;
    case 1:
      statement->bind(static_cast<std::int64_t>(change[3]));
      break;
    case 2:
      statement->bind(static_cast<double>(value) * 1e300);
      break;
    case 3:
      statement->bind(std::optional<std::int64_t>{});
      break;
    default:
      statement->bind(fuzz::text(change + 3, sizeof value));
  }
  (void)statement->step();
}

void change_rows(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t length = 11;
  const std::string path = file_with(good());
  {
    const auto database = journal::Database::open(path).value();
    for (std::size_t i = 0; i + length <= size; i += length) set(database, data + i);
  }
  read_and_write(path);
}

/// What a journal of an earlier version had not.
void take_back(const journal::Database& database, int version) {
  constexpr std::array added{"DROP TABLE cable",
                             "DROP TABLE baseline",
                             "DROP TABLE lid",
                             "DROP TABLE wake",
                             "DROP TABLE drain; DROP TABLE drain_link; DROP TABLE drain_node",
                             "ALTER TABLE override DROP COLUMN forced"};
  for (int i = 0; i < 7 - version && i < static_cast<int>(added.size()); ++i)
    fuzz::require(database.run(added[static_cast<std::size_t>(i)]).has_value(), "an earlier version is made");
  const std::string stamp = "PRAGMA user_version=" + std::to_string(version);
  fuzz::require(database.run(stamp.c_str()).has_value(), "an earlier version is made");
}

void open_version(int version) {
  const std::string path = file_with(good());
  const regulation::Memory all = journal::open_journal(path, here).value()->memory();
  take_back(journal::Database::open(path).value(), version);
  const auto journal = journal::open_journal(path, here);
  if (version > 7) {
    fuzz::require(!journal && journal.error().message.find(path) != std::string::npos,
                  "a later version's journal is left alone");
    return;
  }
  if (version < 1) return;
  fuzz::require(journal.has_value(), "an earlier version's journal is read");
  regulation::Memory expected = all;
  if (version < 6) expected.baseline.reset();
  if (version < 4) expected.wakes.clear();
  if (version < 3) expected.drains.clear();
  if (version < 2) {
    for (auto& [link, value] : expected.overrides) value.forced = false;
  }
  fuzz::require((*journal)->memory() == expected, "an earlier version's journal has what it had");
  const auto second = journal::open_journal(path, here);
  fuzz::require(!second && second.error().message.find(path) != std::string::npos,
                "a second daemon is refused");
  fuzz::require((*journal)->check().has_value(), "the file is where it was");
  file_with("");
  fuzz::require(!(*journal)->check(), "another file is not the same");
  forget(path);
  fuzz::require(!(*journal)->check(), "a file that is gone is told of");
}

void refuse(const std::string& path) {
  const auto journal = journal::open_journal(path, here);
  fuzz::require(!journal && journal.error().message.find(path) != std::string::npos,
                "an error names the file");
}

void open_no_file() {
  const std::string path = directory() + "/other.db";
  const auto make = [&](auto make_it) {
    forget(path);
    make_it();
    refuse(path);
  };
  make([&] { fs::create_directory(path); });
  make([&] { fuzz::require(mkfifo(path.c_str(), 0600) == 0, "a pipe is made"); });
  make([&] { fs::create_symlink(directory() + "/nowhere/at.all", path); });
  refuse(path + "/below");
  refuse("/dev/null");
  forget(path);
}

void write_and_read(std::string_view text) {
  fuzz::Keeper keeper;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    keeper.keep(line);
  }
  keeper.end();
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  switch (data[0]) {
    case 'q':
      change_rows(data + 1, size - 1);
      break;
    case 'v':
      if (size > 1) open_version(data[1] - '0');
      break;
    case 'p':
      open_no_file();
      break;
    case 'w':
      write_and_read(fuzz::text(data + 1, size - 1));
      break;
    default:
      damage(data + 1, size - 1);
  }
  return 0;
}
