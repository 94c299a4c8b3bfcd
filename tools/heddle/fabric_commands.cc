// heddle fabric: fabrics in files, from generators, and the running one, in each other's forms.

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fstream>
#include <map>
#include <memory>
#include <ostream>
#include <string>

#include "fabric/dot.h"
#include "fabric/ibnetdiscover.h"
#include "fabric/slurm_topology.h"
#include "fabric/source.h"
#include "heddle/cabling_commands.h"
#include "heddle/client.h"
#include "heddle/command.h"
#include "heddle/fabric_output.h"
#include "heddle/fabric_source.h"
#include "heddle/graphviz.h"

namespace heddle::cli {
namespace {

constexpr const char* source_help =
    "A topology file, \"-\" for standard input, or a generator as in torus:8x8,hosts=4; the running fabric "
    "if left out";

const std::map<std::string, FabricFormat> formats{{"text", FabricFormat::Text},
                                                  {"json", FabricFormat::Json},
                                                  {"dot", FabricFormat::Dot},
                                                  {"ibnetdiscover", FabricFormat::Ibnetdiscover},
                                                  {"slurm-topology", FabricFormat::SlurmTopology},
                                                  {"slurm-blocks", FabricFormat::SlurmBlocks}};

/// What the subcommands' options fill in.
struct FabricOptions {
  std::string source;
  std::string other;
  std::string node_names;
  std::string output;
  std::string format = "ibnetdiscover";
  std::string show_format = "summary";
  bool lids = false;
  unsigned lmc = 0;
  bool fail_if_different = false;
};

Result<NodeNames> names_of(const FabricOptions& options) {
  return options.node_names.empty() ? NodeNames{} : NodeNames::load(options.node_names);
}

Result<void> put(const std::string& text, const FabricOptions& options, Context& context) {
  if (options.output.empty()) {
    *context.out << text;
    return {};
  }
  std::ofstream file{options.output, std::ios::binary};
  file << text << std::flush;
  if (!file) return fail(ErrorCode::Io, fmt::format("{}: cannot be written", options.output));
  return {};
}

Result<void> write(const std::shared_ptr<const Fabric>& fabric, const FabricOptions& options,
                   Context& context) {
  const auto names = names_of(options);
  if (!names) return fail(names.error());
  const FabricFormat format =
      context.format == Format::Json ? FabricFormat::Json : formats.at(options.format);
  if (format == FabricFormat::SlurmTopology || format == FabricFormat::SlurmBlocks) {
    const auto plugin = format == FabricFormat::SlurmBlocks ? SlurmPlugin::Block : SlurmPlugin::Tree;
    const auto topology = slurm_topology(*fabric, plugin, *names);
    if (!topology) return fail(topology.error());
    for (const std::string& warning : topology->warnings)
      *context.err << "heddle: warning: " << warning << '\n';
    return put(topology->text, options, context);
  }
  return put(fabric_text(fabric, format, *names), options, context);
}

Result<void> generate_fabric(const FabricOptions& options, Context& context) {
  auto fabric = generate(options.source);
  if (!fabric) return fail(fabric.error());
  if (options.lids || options.lmc > 0) {
    fabric = assign_lids(**fabric, static_cast<std::uint8_t>(options.lmc));
    if (!fabric) return fail(fabric.error());
  }
  return write(*fabric, options, context);
}

Result<void> export_fabric(const FabricOptions& options, Context& context) {
  const bool json = context.format == Format::Json || formats.at(options.format) == FabricFormat::Json;
  if (options.source.empty() && options.node_names.empty() && json) {
    // The daemon's own words have its epoch, its names and the states of ports, which its text has not.
    const auto text = Client{context.socket}.get_text("/v1/fabric?format=json");
    return text ? put(*text + "\n", options, context) : fail(text.error());
  }
  const auto fabric = obtain_fabric(options.source, context);
  if (!fabric) return fail(fabric.error());
  return write(*fabric, options, context);
}

Result<void> show_fabric(const FabricOptions& options, Context& context) {
  const auto fabric = obtain_fabric(options.source, context);
  if (!fabric) return fail(fabric.error());
  if (options.show_format != "summary") {
    const auto names = names_of(options);
    if (!names) return fail(names.error());
    if (options.show_format == "dot") return put(write_dot(**fabric, *names), options, context);
    const auto svg = draw_svg(**fabric, *names);
    return svg ? put(*svg, options, context) : fail(svg.error());
  }
  const FabricSummary summary = summarize(**fabric);
  if (context.format == Format::Json) {
    print_json(summary_json(summary), context);
  } else {
    *context.out << to_string(summary);
  }
  return {};
}

/// Files do not tell port states: what a generator says of them is no difference.
Result<std::shared_ptr<const Fabric>> obtain_for_comparison(const std::string& source,
                                                            const Context& context) {
  auto fabric = obtain_fabric(source, context);
  if (!fabric || !is_generator_spec(source)) return fabric;
  auto again = parse_ibnetdiscover(write_ibnetdiscover(**fabric), source);
  if (!again) return fail(again.error());
  return std::move(again->fabric);
}

Result<void> diff_fabrics(const FabricOptions& options, Context& context) {
  const auto before = obtain_for_comparison(options.source, context);
  if (!before) return fail(before.error());
  const auto after = obtain_for_comparison(options.other, context);
  if (!after) return fail(after.error());
  const auto names = names_of(options);
  if (!names) return fail(names.error());
  const FabricChange change = compare(**before, **after);
  if (context.format == Format::Json) {
    print_json(change_json(change), context);
  } else {
    *context.out << describe(change, **before, **after, *names);
  }
  if (options.fail_if_different && !change.empty()) return fail(ErrorCode::Conflict, "the fabrics differ");
  return {};
}

void add_output_options(CLI::App& command, FabricOptions& options) {
  command
      .add_option("--format", options.format,
                  "text, json, dot, ibnetdiscover (which ibsim reads, too), slurm-topology or slurm-blocks "
                  "(topology.conf for topology/tree, topology/block)")
      ->check(CLI::IsMember(formats))
      ->option_text("FORMAT [ibnetdiscover]");
  command.add_option("-o,--output", options.output, "Write to this file");
}

void add_names_option(CLI::App& command, FabricOptions& options) {
  command.add_option("--node-name-map", options.node_names, "Names of nodes, in OpenSM's format")
      ->check(CLI::ExistingFile);
}

}  // namespace

void add_fabric_commands(Program& program) {
  Context& context = program.context();
  const auto options = std::make_shared<FabricOptions>();
  auto* group = program.app().add_subcommand("fabric", "Show, export, generate, compare and verify fabrics");
  group->require_subcommand(1);

  auto* show = group->add_subcommand("show", "A fabric in a few numbers, or drawn");
  show->add_option("source", options->source, source_help);
  show->add_option("--format", options->show_format, "summary, svg (drawn by Graphviz) or dot (its input)")
      ->check(CLI::IsMember({"summary", "svg", "dot"}))
      ->option_text("FORMAT [summary]");
  show->add_option("-o,--output", options->output, "Write the drawing to this file");
  add_names_option(*show, *options);
  Program::on(*show, [options, &context] { return show_fabric(*options, context); });

  auto* exported = group->add_subcommand("export", "A fabric in another format");
  exported->add_option("source", options->source, source_help);
  add_output_options(*exported, *options);
  add_names_option(*exported, *options);
  Program::on(*exported, [options, &context] { return export_fabric(*options, context); });

  auto* generated = group->add_subcommand("generate", "A fabric from a few numbers");
  generated
      ->add_option(
          "spec", options->source,
          "As in tree:k=18,n=3,full  xgft:3;18,18,36;1,18,18  fattree:hosts=5000  torus:8x8,hosts=4,links=2  "
          "mesh:4x4x2  dragonfly+:groups=9,leaves=4,spines=4,hosts=4,global=2  "
          "random:switches=20,hosts=40,links=50,seed=7; then width=, speed=, ports=; "
          "or a site that grew: grown:seed=7,hosts=600")
      ->required();
  generated->add_flag("--lids", options->lids, "Give LIDs, as a subnet manager would");
  generated->add_option("--lmc", options->lmc, "Give each port of a channel adapter 2^LMC LIDs")
      ->check(CLI::Range(0, 7));
  add_output_options(*generated, *options);
  Program::on(*generated, [options, &context] { return generate_fabric(*options, context); });

  auto* diff = group->add_subcommand("diff", "What differs between two fabrics");
  diff->add_option("before", options->source, "A topology file, \"-\" or a generator")->required();
  diff->add_option("after", options->other, source_help);
  diff->add_flag("--exit-code", options->fail_if_different, "End with status 1 if they differ");
  add_names_option(*diff, *options);
  Program::on(*diff, [options, &context] { return diff_fabrics(*options, context); });

  add_fabric_verify(program, *group);
  add_fabric_baseline(program, *group);
  add_fabric_forget(program, *group);
}

}  // namespace heddle::cli
