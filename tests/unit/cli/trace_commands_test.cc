// heddle trace: what is said of a trace, what is made of it, and of traces that were broken by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <string>
#include <vector>

#include "support/scratch.h"
#include "unit/cli/run_heddle.h"

namespace heddle::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// The first task sends, the second answers, and both enter a barrier, each by a record of its own.
const std::vector<std::string> good{"VEF3 2 2 1 0 2 0 1000",     "C0 0 1",
                                    "10 0 1 640 4 7 -1",         "12 1 0 8 2 3 10",
                                    "L5 0 barrier 0 0 0 1 0 10", "L5 0 barrier 0 0 1 1 0 12"};

class TraceCommands : public testing::Test {
 protected:
  std::string file(const std::vector<std::string>& lines) {
    const std::string path = directory_ / "t.vef";
    std::ofstream out{path};
    for (const std::string& line : lines) out << line << '\n';
    return path;
  }
  static Ran trace(const std::vector<std::string>& arguments) {
    std::vector<std::string> all{"trace"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return run_heddle({add_trace_commands}, all);
  }

 private:
  const test::Scratch directory_;
};

TEST_F(TraceCommands, InfoAndCheckOfAGoodOne) {
  const std::string path = file(good);
  const Ran info = trace({"info", path});
  EXPECT_EQ(info.status, Status::Done);
  EXPECT_THAT(info.out, HasSubstr("VEF3, 2 tasks, 1 communicators, 1000 ps a tick"));
  EXPECT_THAT(info.out, HasSubstr("1 barrier"));
  const Ran check = trace({"check", path});
  EXPECT_EQ(check.status, Status::Done);
  EXPECT_EQ(check.out, path + ": can be replayed\n");
}

TEST_F(TraceCommands, StripAndScaleWriteOthers) {
  const std::string path = file({"VEF3 2 2 0 0 0 0 1000", "10 0 1 640 4 7 -1", "12 1 0 8 2 3 10"});
  EXPECT_EQ(trace({"strip", path}).out, "VEF2 2 2 0 0 0 0\n10 0 1 640 0 7 -1\n12 1 0 8 2 3 10\n");
  EXPECT_EQ(trace({"scale", path, "--time", "2", "--bytes", "0.5"}).out,
            "VEF3 2 2 0 0 0 0 1000\n10 0 1 320 4 14 -1\n12 1 0 4 2 6 10\n");
}

// One line is taken out or stands otherwise: all four commands say which, and print nothing else.
TEST_F(TraceCommands, BrokenTracesAreRefusedWithFileAndLine) {
  struct Break {
    std::size_t line;
    const char* in_its_place;  ///< nullptr: it is taken out
    const char* said;          ///< behind the file's name
  };
  constexpr std::array breaks{
      Break{1, "VEF3 2 2 1 0 2 0", ":1: clock is missing"},
      Break{1, "VEF3 2 3 1 0 2 0 1000", ":1: nMsgs is 3, but the file has 2"},
      Break{1, "VEF3 1 2 1 0 2 0 1000", ":2: member is 1"},
      Break{2, nullptr, ":4: communicator 0 is not declared above"},
      Break{3, nullptr, ":1: nMsgs is 2, but the file has 1"},
      Break{3, "10 0 1 640 0 7 -1", ":4: IDdep 10 is no trigger"},
      Break{3, "10 0 1 six 4 7 -1", ":3: length is \"six\""},
      Break{4, "12 1 0 8 2 3 11", ":4: IDdep 11 names no message"},
      Break{4, "12 1 0 8 2 3", ":4: IDdep is missing"},
      Break{4, "12 1 0 8 1 3 10", ":4: IDdep 10 is not sent by this task"},
      Break{5, "L5 0 hum 0 0 0 1 0 10", ":5: kind is \"hum\""},
      Break{6, "L5 0 barrier 0 0 0 1 0 10", ":6: task 0 enters collective 5 twice"},
      Break{6, nullptr, ":1: nLocalCollComm is 2, but the file has 1"},
      Break{6, "L6 0 barrier 0 0 1 1 0 12", ":5: collective 5 is entered by 1 of 2 members"},
  };
  for (const Break& one : breaks) {
    std::vector<std::string> lines = good;
    const auto at = lines.begin() + static_cast<std::ptrdiff_t>(one.line) - 1;
    if (one.in_its_place != nullptr) {
      *at = one.in_its_place;
    } else {
      lines.erase(at);
    }
    const std::string path = file(lines);
    for (const char* command : {"info", "check", "strip", "scale"}) {
      const Ran ran = trace({command, path});
      EXPECT_NE(ran.status, Status::Done) << command << one.said;
      EXPECT_EQ(ran.out, "") << command << one.said;
      EXPECT_THAT(ran.err, HasSubstr(path + one.said)) << command;
    }
  }
}

TEST_F(TraceCommands, TasksThatWaitForEachOtherAreToldByLine) {
  const std::string path = file({"VEF3 2 2 0 0 0 0 1000", "1 0 1 8 6 0 2", "2 1 0 8 6 0 1"});
  const Ran check = trace({"check", path});
  EXPECT_EQ(check.status, Status::Failed);
  EXPECT_THAT(check.out, StartsWith(path + ":2: tasks wait for each other"));
  EXPECT_THAT(trace({"info", path}).out,
              HasSubstr("it never ends: tasks wait for each other, one with line 2"));
}

}  // namespace
}  // namespace heddle::cli
