// The text of /metrics as Prometheus' own checker sees it.

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "metrics/metrics.h"
#include "unit/metrics/metrics_fabric.h"

namespace heddle::metrics {
namespace {

struct Verdict {
  int status = -1;
  std::string output;
};

Verdict run(const std::string& command) {
  Verdict verdict;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return verdict;
  char buffer[4096];
  while (const auto got = fread(buffer, 1, sizeof buffer, pipe)) verdict.output.append(buffer, got);
  const int status = pclose(pipe);
  verdict.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return verdict;
}

Verdict check(const std::string& text) {
  char path[] = "/tmp/heddle-promtool-XXXXXX";
  const int file = mkstemp(path);
  if (file < 0) return {};
  close(file);
  std::ofstream{path, std::ios::binary} << text;
  const Verdict verdict = run(std::string{"promtool check metrics < "} + path);
  std::filesystem::remove(path);
  return verdict;
}

class PromtoolTest : public testing::Test {
 protected:
  void SetUp() override {
    if (run("promtool --version").status != 0) GTEST_SKIP() << "promtool is not installed";
  }

  NoTransport transport;
  transport::TransactionEngine engine{transport, {}};
  Metrics metrics;
};

TEST_F(PromtoolTest, HasNothingToSayBeforeTheFirstSweep) {
  const Verdict verdict = check(metrics.render());
  EXPECT_EQ(verdict.status, 0);
  EXPECT_EQ(verdict.output, "");
}

TEST_F(PromtoolTest, HasNothingToSayOfASweep) {
  metrics.publish(a_sample(a_fabric()), {}, engine);
  metrics.publish(a_sample(a_fabric({.with_host = false})), {}, engine);
  metrics.publish(a_sample(a_fabric({.host_name = "\xff\" } \\ \n\t\x01 x"})), {}, engine);
  const Verdict verdict = check(metrics.render());
  EXPECT_EQ(verdict.status, 0);
  EXPECT_EQ(verdict.output, "");
}

TEST_F(PromtoolTest, WouldComplain) { EXPECT_NE(check("# TYPE heddle_x counter\nheddle_x 1\n").output, ""); }

}  // namespace
}  // namespace heddle::metrics
