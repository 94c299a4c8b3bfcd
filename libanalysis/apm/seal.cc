#include "apm/seal.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <cctype>

#include "apm/message.h"
#include "apm/wire.h"

namespace heddle::apm {
namespace {

constexpr std::size_t tid_upper_offset = 8;
constexpr std::size_t tid_upper_size = 4;

using Tag = std::array<std::uint8_t, EVP_MAX_MD_SIZE>;

Tag tag_of(const Key& key, mad::Bytes mad) {
  std::fill_n(mad.begin() + tid_upper_offset, tid_upper_size, std::uint8_t{0});
  std::fill_n(mad.begin() + tag_offset, tag_size, std::uint8_t{0});
  Tag tag{};
  unsigned size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), mad.data(), message_end, tag.data(), &size);
  return tag;
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Result<Key> parse_key(std::string_view text) {
  const auto wrong = fail(ErrorCode::Invalid, "a key is 64 hexadecimal digits: openssl rand -hex 32");
  constexpr std::string_view blank = " \t\r\n";
  const auto first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return wrong;
  text = text.substr(first, text.find_last_not_of(blank) - first + 1);
  Key key{};
  if (text.size() != 2 * key.size()) return wrong;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const int high = digit(text[2 * i]);
    const int low = digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return wrong;
    key[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return key;
}

void seal(const Key& key, mad::Bytes& mad) {
  const Tag tag = tag_of(key, mad);
  std::copy_n(tag.begin(), tag_size, mad.begin() + tag_offset);
}

bool is_sealed(const Key& key, const mad::Bytes& mad) {
  return CRYPTO_memcmp(tag_of(key, mad).data(), mad.data() + tag_offset, tag_size) == 0;
}

void Sealer::seal_request(std::uint64_t time_of_day, mad::Bytes& mad) {
  last_ = std::max(last_ + 1, time_of_day);
  if (first_ == 0) first_ = last_;
  set_sequence(last_, mad);
  seal(key_, mad);
}

bool Sealer::admit_answer(const mad::Bytes& mad) {
  if (!is_sealed(key_, mad)) return false;
  const auto envelope = read_envelope(mad);
  if (!envelope || envelope->method != mad::Method::GetResp) return false;
  if (envelope->status == status::stale) {
    last_ = std::max(last_, envelope->sequence);
    return true;
  }
  return first_ != 0 && envelope->sequence >= first_ && envelope->sequence <= last_;
}

}  // namespace heddle::apm
