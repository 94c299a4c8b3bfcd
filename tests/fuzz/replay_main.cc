// Runs a fuzz target without libFuzzer: on every file given or in a directory given, and on mutations of it
// that are the same in every run (flipped bytes, cuts, repeated and swapped parts).

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "base/random.h"
#include "fuzz/fuzz_target.h"

namespace {

constexpr std::string_view mutations_option = "--mutations=";
constexpr std::string_view seed_option = "--seed=";

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

std::string mutated(std::string input, heddle::Random& random) {
  const std::uint64_t steps = 1 + random.below(8);
  for (std::uint64_t i = 0; i < steps && !input.empty(); ++i) {
    const std::size_t at = random.below(input.size());
    const std::size_t length = random.below(std::min<std::size_t>(input.size() - at, 80) + 1);
    switch (random.below(6)) {
      case 0:
        input[at] = static_cast<char>(random());
        break;
      case 1:
        input[at] = static_cast<char>(input[at] ^ (1U << random.below(8)));
        break;
      case 2:
        input.resize(at);
        break;
      case 3:
        input.erase(at, length);
        break;
      case 4:
        input.insert(random.below(input.size()), input.substr(at, length));
        break;
      default:
        input.insert(at, 1, "0123456789\"[]()#=\n\t "[random.below(20)]);
        break;
    }
  }
  return input;
}

std::vector<std::filesystem::path> files_of(int argc, char** argv) {
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) {
      files.emplace_back(argv[i]);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  int mutations_of_each = 300;
  std::uint64_t seed = 1;
  for (; argc > 1 && std::string_view{argv[1]}.starts_with("--"); --argc, ++argv) {
    const std::string_view option{argv[1]};
    if (option.starts_with(mutations_option))
      mutations_of_each = std::atoi(argv[1] + mutations_option.size());
    if (option.starts_with(seed_option)) seed = std::strtoull(argv[1] + seed_option.size(), nullptr, 10);
  }
  const auto files = files_of(argc, argv);
  if (files.empty()) {
    std::cerr << "usage: REPLAY [--mutations=N] [--seed=N] FILE|DIRECTORY...   (nothing to replay)\n";
    return 2;
  }
  heddle::Random random{seed};
  for (const auto& file : files) {
    std::ifstream in{file, std::ios::binary};
    const std::string input{std::istreambuf_iterator<char>{in}, {}};
    std::cout << file.string() << std::endl;  // flushed, so that a crash shows its file
    run(input);
    for (int i = 0; i < mutations_of_each; ++i) run(mutated(input, random));
  }
  return 0;
}
