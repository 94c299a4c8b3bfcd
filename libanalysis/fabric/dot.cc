#include "fabric/dot.h"

#include <fmt/format.h>

#include "base/text.h"
#include "fabric/unique_names.h"

namespace heddle {
namespace {

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string_view shape(const Node& node) {
  if (node.type == NodeType::Switch) return "box";
  if (node.type == NodeType::Router) return "diamond";
  return node.aggregation ? "hexagon" : "ellipse";
}

}  // namespace

std::string write_dot(const Fabric& fabric, const NodeNames& names) {
  std::string text = "graph fabric {\n  node [fontsize=10];\n  edge [fontsize=8];\n";
  const ShownNames shown{names, fabric};
  for (const Node& node : fabric.nodes()) {
    append_to(text, "  \"{}\" [label=\"{}\", shape={}];\n", to_string(node.guid), escaped(shown.of(node)),
              shape(node));
  }
  for (const Link& link : fabric.links()) {
    append_to(text, "  \"{}\" -- \"{}\" [taillabel=\"{}\", headlabel=\"{}\", label=\"{}{}\"];\n",
              to_string(fabric.node(link.a.node).guid), to_string(fabric.node(link.b.node).guid),
              link.a.port.raw(), link.b.port.raw(), to_string(link.width), to_string(link.speed));
  }
  text += "}\n";
  return text;
}

}  // namespace heddle
