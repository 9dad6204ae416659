//===- Dot.cpp - IR as a graph --------------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Translate.h"

#include "dialects/nd/Nd.h"
#include "dialects/nd/NdInference.h"
#include "dialects/nest/Nest.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/raw_ostream.h"

using namespace heddle;
using namespace mlir;

static bool isTensor(Type type) { return isa<nd::NdTensorType>(type); }

static std::string inQuotes(const Twine &text) {
  std::string result = "\"";
  for (char c : text.str())
    result += c == '"' || c == '\\' ? std::string("\\") + c : c == '\n' ? "\\n" : std::string(1, c);
  return result + "\"";
}

/// `f32 {row: 4}`, and the layout on a line of its own.
static std::string describe(Type type, Attribute layout) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (auto tensor = dyn_cast<nd::NdTensorType>(type))
    stream << tensor.getElementType() << " " << nd::namesText(tensor.getDims());
  else
    stream << type;
  if (auto chosen = dyn_cast_or_null<nest::LayoutAttr>(layout))
    stream << "\n" << chosen.getLayout().str();
  else if (auto any = dyn_cast_or_null<StringAttr>(layout))
    stream << "\n" << any.getValue();
  return text;
}

namespace {
class Graph {
public:
  explicit Graph(llvm::raw_ostream &out) : out(out) {}

  void write(func::FuncOp function) {
    box("@" + function.getName(), [&] {
      for (BlockArgument argument : function.getArguments()) {
        unsigned i = argument.getArgNumber();
        auto name = function.getArgAttrOfType<StringAttr>(i, nd::nameAttrName);
        layouts[argument] = function.getArgAttr(i, "nd.layout");
        node(argument, name ? name.getValue() : "argument " + Twine(i), "ellipse");
      }
      if (!function.isDeclaration())
        write(function.getBody());
    });
  }
  void writeEdges() { out << edges; }

private:
  llvm::raw_ostream &out;
  std::string edges;
  DenseMap<Value, unsigned> nodes; ///< of the ops and arguments that define values
  DenseMap<Value, Attribute> layouts;
  unsigned nodeCount = 0, boxCount = 0;

  template <typename Inside>
  void box(const Twine &label, Inside &&inside) {
    out << "subgraph cluster" << boxCount++ << " {\nlabel=" << inQuotes(label) << ";\n";
    inside();
    out << "}\n";
  }
  unsigned node(Value value, const Twine &label, StringRef shape) {
    out << "n" << nodeCount << " [shape=" << shape << ", label=" << inQuotes(label) << "];\n";
    if (value)
      nodes[value] = nodeCount;
    return nodeCount++;
  }
  void edge(Value from, unsigned to) {
    auto found = nodes.find(from);
    if (found != nodes.end())
      edges += "n" + std::to_string(found->second) + " -> n" + std::to_string(to) +
               " [label=" + inQuotes(describe(from.getType(), layouts.lookup(from))) + "];\n";
  }

  void write(Region &region) {
    for (Block &block : region)
      for (Operation &op : block)
        write(&op);
  }

  void write(Operation *op) {
    if (auto laid = dyn_cast<nest::LaidOutInterface>(op))
      for (OpResult result : op->getResults())
        layouts[result] = laid.layout(result.getResultNumber());
    bool hasInside = llvm::any_of(op->getRegions(), [](Region &region) {
      return region
          .walk([](Operation *inner) {
            return llvm::any_of(inner->getResultTypes(), isTensor) ? WalkResult::interrupt()
                                                                   : WalkResult::advance();
          })
          .wasInterrupted();
    });
    std::string label = op->getName().getStringRef().str();
    for (NamedAttribute attribute : op->getAttrs())
      if (auto dims = dyn_cast<nd::DimsAttr>(attribute.getValue()); dims && dims.size())
        label += "\n" + attribute.getName().str() + " " + nd::namesText(dims);
      else if (auto callee = dyn_cast<FlatSymbolRefAttr>(attribute.getValue()))
        label += "\n@" + callee.getValue().str();
    auto writeNode = [&] {
      unsigned made = node({}, label, op->hasTrait<OpTrait::IsTerminator>() ? "ellipse" : "box");
      for (Value operand : op->getOperands())
        edge(operand, made);
      for (Value result : op->getResults())
        nodes[result] = made;
      return made;
    };
    if (!hasInside)
      return void(writeNode());
    box("", [&] {
      unsigned made = writeNode();
      for (Region &region : op->getRegions()) {
        for (BlockArgument argument : region.getArguments()) // these stand for operands
          nodes[argument] = made;
        write(region);
      }
    });
  }
};
} // namespace

void translate::writeDot(ModuleOp module, llvm::raw_ostream &out) {
  out << "digraph program {\nnode [fontname=sans]; edge [fontname=sans, fontsize=10];\n";
  Graph graph(out);
  for (auto function : module.getOps<func::FuncOp>())
    graph.write(function);
  graph.writeEdges();
  out << "}\n";
}
