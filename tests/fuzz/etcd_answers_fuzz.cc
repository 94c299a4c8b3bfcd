// What etcd answers, and what other hosts have stored there: anything is read, or refused with a sentence;
// records, orders of switches, LIDs, cables and energy that are read are written as they were. Whoever goes
// on with a stored journal leaves one that the next host reads as the same, whenever the store is cut off;
// who is no owner any more changes nothing.
//
// The input: a first byte that says what it is. Behind 'a', 'e' and 'r' is an answer of the gateway; behind
// 'k' lines of keys and texts that it is taken to have given, each with a tab between; behind 'j' two bytes
// that say when the store is cut off and how, such lines, and others of what is to be stored; behind 'l' the
// beginning of a long text; else a text.

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <string>

#include "fuzz/fuzz_target.h"
#include "shared/etcd_json.h"
#include "shared/record_text.h"
#include "shared/shared_journal.h"
#include "shared/texts.h"
#include "support/memory_store.h"

namespace {

using namespace heddle;
using namespace heddle::shared;

constexpr journal::Calendar here{journal::WallTime{std::chrono::hours{400'000}}, Instant{}};

void read_stored(Texts texts) {
  drop_old_records(texts);
  const auto stored = journal_in(texts, here);
  fuzz::require(stored.has_value() || !stored.error().message.empty(), "a refusal says why");
}

std::string word_of(std::string_view text) { return std::string{text.substr(0, 100)}; }

/// What etcd would be asked to store, it gives back as it was.
void store_and_read(std::string_view text) {
  const KeyValue one{"/h/" + word_of(text), std::string{text}, 3, 4};
  const Transaction put{Guard{one.key, 3},
                        {{.what = Operation::What::Put, .key = one.key, .value = one.value},
                         {.what = Operation::What::Delete, .key = one.key, .end = end_of(one.key)}}};
  auto body = body_of(put);
  auto kv = body.at("success").as_array().at(0).as_object().at("request_put").as_object();
  kv["create_revision"] = "3";
  kv["mod_revision"] = 4;
  const boost::json::object answer{
      {"succeeded", true},
      {"responses",
       boost::json::array{boost::json::object{{"response_range", {{"kvs", boost::json::array{kv}}}}}}}};
  const auto read =
      committed_in(answer, {std::nullopt, {{.what = Operation::What::Read, .key = one.key}}}).read;
  fuzz::require(read.size() == 1 && read[0].size() == 1 && read[0][0] == one, "what is stored is read");
}

void read_answer(unsigned status, const std::string& body) {
  const Transaction asked{Guard{"/h/owner", 3},
                          {{.what = Operation::What::Put, .key = "/h/x", .value = "y"},
                           {.what = Operation::What::Read, .key = "/h/owner"},
                           {.what = Operation::What::Read, .key = "/h/", .end = "/h0", .since = 2}}};
  (void)body_of(asked);
  const auto answer = answer_in(status, body);
  if (!answer) return fuzz::require(answer.error().code != ErrorCode::Invalid, "a refusal is the store's");
  Texts texts;
  for (const auto& read : committed_in(*answer, asked).read) take(texts, "/h", read);
  read_stored(std::move(texts));
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    lines.push_back(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(lines.back().size() + 1, text.size()));
  }
  return lines;
}

void read_keys(std::string_view text) {
  Texts texts;
  for (const std::string_view line : lines_of(text)) {
    const std::size_t tab = line.find('\t');
    if (tab != std::string_view::npos) texts[std::string{line.substr(0, tab)}] = line.substr(tab + 1);
  }
  read_stored(std::move(texts));
}

/// A store that this host owns.
class Owned {
 public:
  Owned() {
    guard_.created = put("owner", "me");
    lease_.hold_until(MemoryStore::time + std::chrono::hours{1});
  }
  Revision put(std::string_view key, std::string_view text) {
    const Operation operation{
        .what = Operation::What::Put, .key = "/h/" + std::string{key}, .value = std::string{text}};
    return store.commit({std::nullopt, {operation}}).value().revision;
  }
  /// Somebody else is the owner from now on.
  void lose() {
    (void)store.commit({std::nullopt, {{.what = Operation::What::Delete, .key = guard_.key}}});
    put("owner", "another");
  }
  [[nodiscard]] Shelf shelf() { return {store, lease_, "/h", guard_, std::chrono::milliseconds{0}}; }
  [[nodiscard]] Texts texts() const {
    Texts texts;
    for (const auto& [key, each] : store.all()) take(texts, "/h", {each});
    drop_old_records(texts);
    return texts;
  }

  MemoryStore store;

 private:
  Lease lease_{MemoryStore::now};
  Guard guard_{"/h/owner", 0};
};

/// What a journal is told to keep, as lines say it.
class Keeper {
 public:
  Keeper(Owned& owned, const StoredJournal& stored) {
    static const std::string empty = journal::open_image({}, here).value()->image().value();
    auto file = journal::open_image(empty, here).value();
    file_ = file.get();
    journal_ = shared_journal(std::move(file), stored, owned.shelf(), here);
    fuzz::require(journal_->memory() == stored.memory.value_or(regulation::Memory{}),
                  "the next owner goes on with what is stored");
  }

  void keep(std::string_view line) {
    if (const auto records = records_in(line, here)) {
      for (const auto& record : *records) write(record);
    }
    if (const auto ranks = ranks_in(line)) (void)journal_->put_ranks(*ranks);
    if (const auto cables = cables_in(line)) (void)journal_->put_cables(*cables);
    // What failed may be there all the same: the answer was lost.
    if (const auto lids = lids_in(line)) lids_ = journal_->put_lids(*lids) ? to_text(*lids) : "";
    if (const auto energy = energy_in(line)) {
      energy_ = std::nullopt;
      if (journal_->put_energy({{}, {}, *energy})) energy_ = *energy;
    }
    (void)journal_->append({0, {}, "decided", "", std::string{line}});
  }

  /// Of what has been kept, with the store within reach.
  void hand_over(const Owned& owned) const {
    (void)journal_->ranks();
    (void)journal_->lids();
    (void)journal_->cables();
    (void)journal_->energy();
    (void)journal_->events(0, 100);
    fuzz::require(journal_->check().has_value(), "a journal in memory is where it was");
    if (!is_kept_) return;
    const auto next = journal_in(owned.texts(), here);
    fuzz::require(next && next->memory == journal_->memory(), "the next host reads what was kept");
    fuzz::require(lids_.empty() || (next->lids && to_text(*next->lids) == lids_), "LIDs are read as kept");
    fuzz::require(!energy_ || next->energy == energy_, "energy is read as kept");
  }

 private:
  void write(const regulation::Record& record) {
    is_kept_ = journal_->write(record).has_value();
    if (is_kept_) fuzz::require(file_->memory() == journal_->memory(), "the file has all of it as well");
  }

  journal::Journal* file_ = nullptr;
  std::unique_ptr<journal::Journal> journal_;
  bool is_kept_ = false;
  std::string lids_;
  std::optional<power::EnergyTotals> energy_;
};

void go_on(std::uint8_t when, std::uint8_t how, std::string_view text) {
  Owned owned;
  std::vector<std::string_view> said;
  for (const std::string_view line : lines_of(text)) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) {
      said.push_back(line);
    } else if (line.substr(0, tab) != "owner") {
      owned.put(line.substr(0, tab), line.substr(tab + 1));
    }
  }
  const Texts texts = owned.texts();
  const auto stored = journal_in(texts, here);
  if (!stored) return;
  // No journal leaves records without a snapshot before them.
  const auto record = texts.lower_bound("journal/record/");
  if (!stored->memory && record != texts.end() && record->first.starts_with("journal/record/")) return;
  Keeper keeper{owned, *stored};
  for (std::size_t i = 0; i < said.size(); ++i) {
    if (i == when % 8U) {
      owned.store.cut =
          std::array{MemoryStore::Cut::None, MemoryStore::Cut::Before, MemoryStore::Cut::After}[how % 3];
      owned.store.cut_calls = how / 3;
      if (how % 3 == 0 && how >= '0') {
        owned.lose();
        const auto before = owned.store.all();
        keeper.keep(said[i]);
        fuzz::require(owned.store.all() == before, "who is no owner changes nothing");
        return;
      }
    }
    keeper.keep(said[i]);
  }
  owned.store.cut = MemoryStore::Cut::None;
  keeper.hand_over(owned);
}

/// Of more than a transaction takes, and then of less.
void store_long(std::string_view text) {
  if (text.empty()) return;
  std::string whole;
  while (whole.size() <= Writer::most_at_once) whole += std::string{text} + std::string(10'000, text.front());
  Owned owned;
  const Shelf shelf = owned.shelf();
  Writer writer{shelf.store, shelf.prefix, shelf.guard};
  fuzz::require(writer.put("long", whole) && whole_text(owned.texts(), "long") == whole,
                "a long text is whole");
  auto torn = owned.texts();
  torn.erase(std::prev(torn.lower_bound("part0")));
  fuzz::require(!whole_text(torn, "long"), "a text that lacks a part is none");
  const std::string shorter{text};
  fuzz::require(writer.put("long", shorter) && whole_text(owned.texts(), "long") == shorter,
                "a shorter text takes its place");
  fuzz::require(owned.store.all().size() == 2, "parts go with their text");
}

/// Not what was read, which may have a key twice: what is written of it.
template <class Value, class Read>
void same_again(const Result<Value>& value, Read read, const char* what) {
  if (!value) return;
  const std::string text = to_text(*value);
  const auto again = read(text);
  fuzz::require(again.has_value() && to_text(*again) == text, what);
}

void read_text(std::string_view text) {
  if (const auto records = records_in(text, here)) {
    const std::string written = to_text(*records, here);
    const auto again = records_in(written, here);
    fuzz::require(again.has_value() && to_text(*again, here) == written, "records are written as read");
  }
  same_again(ranks_in(text), ranks_in, "ranks are written as read");
  same_again(lids_in(text), lids_in, "LIDs are written as read");
  same_again(cables_in(text), cables_in, "cables are written as read");
  same_again(energy_in(text), energy_in, "energy is written as read");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto text = fuzz::text(data + 1, size - 1);
  switch (data[0]) {
    case 'a':
      read_answer(200, std::string{text});
      break;
    case 'e':
      read_answer(503, std::string{text});
      break;
    case 'r':
      read_answer(400, std::string{text});
      break;
    case 'j':
      if (size > 3) go_on(data[1], data[2], text.substr(2));
      break;
    case 'l':
      store_long(text);
      break;
    case 'k':
      read_keys(text);
      break;
    default:
      read_text(text);
      store_and_read(text);
  }
  return 0;
}
