/// The scripts are run by bash itself where it can be; zsh and fish are looked at.
#include "heddle/completion.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "heddle/command.h"

namespace heddle::cli {
namespace {

using testing::HasSubstr;

class Completion : public testing::Test {
 protected:
  Completion() {
    add_fabric_commands(program);
    add_link_commands(program);
    add_completion_commands(program);
  }

  /// What bash offers after `line`.
  std::string offered(const std::string& line) const {
    const std::string file = testing::TempDir() + fmt::format("heddle-completion-{}.bash", getpid());
    std::ofstream{file} << *completion(command_words(program.app()), "bash") << "COMP_WORDS=(" << line
                        << ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_heddle\n"
                        << "printf '%s ' \"${COMPREPLY[@]}\"\n";
    std::string out;
    FILE* bash = popen(("bash -u " + file + " 2>&1").c_str(), "r");
    if (bash == nullptr) return "no bash";
    std::array<char, 256> part{};
    while (fgets(part.data(), part.size(), bash) != nullptr) out += part.data();
    pclose(bash);
    std::remove(file.c_str());
    return out;
  }

  std::ostringstream out;
  std::ostringstream err;
  mutable Program program{out, err};
};

TEST_F(Completion, BashOffersCommandsOfTheGroup) {
  EXPECT_EQ(offered("heddle fab"), "fabric ");
  EXPECT_THAT(offered("heddle fabric ''"), HasSubstr("verify"));
  EXPECT_THAT(offered("heddle --json fabric baseline ''"), AllOf(HasSubstr("save"), HasSubstr("forget")));
}

TEST_F(Completion, BashOffersOptionsOfTheCommandAndOfTheProgram) {
  EXPECT_EQ(offered("heddle fabric verify --ju"), "--junit ");
  EXPECT_EQ(offered("heddle fabric verify --js"), "--json ");
}

/// "fabric" is the value of --socket there, and no group.
TEST_F(Completion, BashKnowsWhichWordsAreValues) {
  EXPECT_EQ(offered("heddle --socket fabric lin"), "links ");
}

TEST_F(Completion, EveryCommandIsInEveryShell) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = *completion(command_words(program.app()), shell);
    for (const CommandWords& command : command_words(program.app()))
      EXPECT_THAT(script, HasSubstr(command.path));
  }
  EXPECT_FALSE(completion({}, "tcsh"));
}

}  // namespace
}  // namespace heddle::cli
