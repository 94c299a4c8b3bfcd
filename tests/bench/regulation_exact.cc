// Prints what both policies save of the power of links between switches, what their lower bound allows, and
// what the least set of links saves by a solver that shares no code with them: a table of docs/regulation.md.
//   regulation_exact [--seconds=N] [--load=0.1] [--pattern=uniform|halfway] FABRIC...
// FABRIC is a file or a generator. The solver stops after N seconds of processor time (60), and says what it
// has proven until then.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "support/least_set.h"
#include "support/regulation_case.h"

namespace heddle::testing_support {
namespace {

using regulation::SelectPolicy;

struct Arguments {
  unsigned seconds = 60;
  double load = 0.1;
  std::string pattern = "uniform";
};

regulation::Selection select(const RegulationCase& site, SelectPolicy policy, double margin) {
  regulation::SelectOptions options;
  options.policy = policy;
  options.margin = Ratio{margin};
  return *regulation::select_links(site.problem, options);
}

double saved(const regulation::Selection& selection, double watts) {
  return 100 * (1 - watts / selection.all_on_watts.value());
}

void print_row(const std::string& source, const Arguments& arguments) {
  RegulationCase site{source};
  arguments.pattern == "uniform" ? site.uniform(arguments.load) : site.halfway(arguments.load);
  const auto trunk = select(site, SelectPolicy::Trunk, regulation::SelectOptions{}.margin.value());
  const auto shipped = select(site, SelectPolicy::General, regulation::SelectOptions{}.margin.value());
  const auto general = select(site, SelectPolicy::General, 0);
  std::printf("| %s | %s %.2f | %.1f %% | %.1f %% | %.1f %% | ",
              std::filesystem::path(source).stem().string().c_str(), arguments.pattern.c_str(),
              arguments.load, saved(trunk, trunk.watts.value()), saved(shipped, shipped.watts.value()),
              saved(general, general.watts.value()));
  if (arguments.seconds > 0) {
    const auto limits = site.limits(general);
    const LeastSet least = LeastSetProgram{site.problem, limits}.solve(arguments.seconds);
    std::printf(least.is_exact ? "%.1f %%" : "at most %.1f %%", saved(general, least.bound));
    if (!least.is_exact && least.watts < general.all_on_watts.value())
      std::printf(", found %.1f %%", saved(general, least.watts));
    std::printf(" | %.3f | ", general.watts.value() / least.bound);
  } else {
    std::printf("- | - | ");
  }
  std::printf("%.1f %% | %.2f |\n", saved(general, general.least_watts.value()), shipped.busiest);
}

void print_table(int argc, char** argv) {
  std::printf(
      "| fabric | traffic | trunk rule | general | without its margin | least, exact | general / least | "
      "bound | busiest |\n");
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view text = argv[i];
    if (text.starts_with("--seconds=")) {
      arguments.seconds = static_cast<unsigned>(std::atoi(argv[i] + std::string_view{"--seconds="}.size()));
    } else if (text.starts_with("--load=")) {
      arguments.load = std::atof(argv[i] + std::string_view{"--load="}.size());
    } else if (text.starts_with("--pattern=")) {
      arguments.pattern = text.substr(std::string_view{"--pattern="}.size());
    } else {
      print_row(argv[i], arguments);
    }
  }
}

}  // namespace
}  // namespace heddle::testing_support

int main(int argc, char** argv) {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  heddle::testing_support::print_table(argc, argv);
  return 0;
}
