#include "control/tokens.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

namespace heddle::control {
namespace {

constexpr std::size_t most_file_bytes = 1U << 20U;

std::string_view next_word(std::string_view& line) {
  const auto first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  line.remove_prefix(first);
  const auto word = line.substr(0, line.find_first_of(" \t\r"));
  line.remove_prefix(word.size());
  return word;
}

std::optional<std::array<std::uint8_t, 32>> digest_from(std::string_view hex) {
  std::array<std::uint8_t, 32> digest{};
  if (hex.size() != 2 * digest.size()) return std::nullopt;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const char* at = hex.data() + 2 * i;
    const auto got = std::from_chars(at, at + 2, digest[i], 16);
    if (got.ec != std::errc{} || got.ptr != at + 2) return std::nullopt;
  }
  return digest;
}

}  // namespace

Result<std::string> read_secret(const std::string& path) {
  const auto cannot = [&] { return fail(ErrorCode::Io, fmt::format("{}: {}", path, std::strerror(errno))); };
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return cannot();
  struct Closer {
    int file;
    ~Closer() { close(file); }
  } const closer{file};
  struct stat status {};
  if (fstat(file, &status) != 0) return cannot();
  if ((status.st_mode & (S_IROTH | S_IWOTH)) != 0) {
    return fail(ErrorCode::Refused,
                fmt::format("{}: everybody on this host may read or write it: chmod o= {}", path, path));
  }
  std::string text;
  std::array<char, 4096> part{};
  for (;;) {
    const ssize_t got = read(file, part.data(), part.size());
    if (got < 0) return cannot();
    if (got == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(got));
    if (text.size() > most_file_bytes) return fail(ErrorCode::Invalid, fmt::format("{}: is too large", path));
  }
}

Result<Tokens> Tokens::load(const std::string& path) {
  const auto text = read_secret(path);
  if (!text) return fail(text.error());
  return parse(*text, path);
}

Result<Tokens> Tokens::parse(std::string_view text, const std::string& file) {
  Tokens tokens;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto name = next_word(line);
    if (name.empty() || name.front() == '#') continue;
    const auto digest = digest_from(next_word(line));
    // What stands there is not repeated: it may be a token.
    if (!digest || !next_word(line).empty()) {
      return fail(ErrorCode::Invalid,
                  fmt::format("{}:{}: expected a name and the 64 hexadecimal digits of a token's SHA-256, as "
                              "'printf %s TOKEN | sha256sum' tells it",
                              file, number));
    }
    tokens.entries_.push_back({std::string{name}, *digest});
  }
  if (tokens.entries_.empty()) {
    return fail(ErrorCode::Invalid, fmt::format("{}: has no token, so nobody could ask", file));
  }
  return tokens;
}

std::optional<std::string> Tokens::name_of(std::string_view authorization) const {
  constexpr std::string_view scheme = "bearer ";
  if (authorization.size() <= scheme.size() ||
      strncasecmp(authorization.data(), scheme.data(), scheme.size()) != 0) {
    return std::nullopt;
  }
  const std::string_view token = authorization.substr(scheme.size());
  Digest digest{};
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
  const Entry* found = nullptr;
  // All of them, whichever it is.
  for (const Entry& entry : entries_) {
    if (CRYPTO_memcmp(entry.digest.data(), digest.data(), digest.size()) == 0) found = &entry;
  }
  if (found == nullptr) return std::nullopt;
  return found->name;
}

}  // namespace heddle::control
