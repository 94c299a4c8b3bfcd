// What etcd answers, and what other hosts have stored there: anything is read, or refused with a sentence;
// records, orders of switches, LIDs and energy that are read are written as they were.
//
// The input: a first byte that says what it is; behind it an answer of the gateway, or lines of keys and
// texts that it is taken to have given, each with a tab between.

#include <string>

#include "fuzz/fuzz_target.h"
#include "shared/etcd_json.h"
#include "shared/record_text.h"
#include "shared/shared_journal.h"
#include "shared/texts.h"

namespace {

using namespace heddle;
using namespace heddle::shared;

constexpr journal::Calendar here{journal::WallTime{std::chrono::hours{400'000}}, Instant{}};

void read_stored(Texts texts) {
  drop_old_records(texts);
  const auto stored = journal_in(texts, here);
  fuzz::require(stored.has_value() || !stored.error().message.empty(), "a refusal says why");
}

void read_answer(unsigned status, const std::string& body) {
  const Transaction asked{Guard{"/h/owner", 3},
                          {{.what = Operation::What::Put, .key = "/h/x", .value = "y"},
                           {.what = Operation::What::Read, .key = "/h/owner"},
                           {.what = Operation::What::Read, .key = "/h/", .end = "/h0", .since = 2}}};
  const auto answer = answer_in(status, body);
  if (!answer) return fuzz::require(answer.error().code != ErrorCode::Invalid, "a refusal is the store's");
  Texts texts;
  for (const auto& read : committed_in(*answer, asked).read) take(texts, "/h", read);
  read_stored(std::move(texts));
}

void read_keys(std::string_view text) {
  Texts texts;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t tab = line.find('\t');
    if (tab != std::string_view::npos) texts[std::string{line.substr(0, tab)}] = line.substr(tab + 1);
  }
  read_stored(std::move(texts));
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
    case 'k':
      read_keys(text);
      break;
    default:
      read_text(text);
  }
  return 0;
}
