//===- GraphHash.cpp - which program a plan is for ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/names/GraphHash.h"

#include "dialects/mesh/MeshDialect.h"
#include "dialects/nd/Nd.h"
#include "lib/analysis/CanonicalNames.h"
#include "lib/transforms/names/NameRewriter.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace heddle;
using namespace mlir;

void heddle::renumberFresh(ModuleOp module) {
  NameRewriter rewriter; // functions bind by name, so all have the same one
  for (auto function : module.getOps<func::FuncOp>()) {
    if (llvm::none_of(collectNames(function),
                      [](const auto &name) { return name.getKey().contains('$'); }))
      continue;
    std::vector<std::string> names = canonicalNames(function);
    for (const std::string &name : names)
      if (size_t digits = name.find('$') + 1)
        rewriter.names.try_emplace(name,
                                   name.substr(0, digits) + std::to_string(rewriter.names.size()));
  }
  for (auto function : module.getOps<func::FuncOp>())
    rewriter.rewrite(function);
}

namespace {
/// Writes functions without names of values and functions.
class GraphText {
public:
  GraphText() {
    replacer.addReplacement([&](SymbolRefAttr symbol) {
      auto known = functions.find(symbol.getLeafReference());
      return known == functions.end()
                 ? symbol
                 : FlatSymbolRefAttr::get(symbol.getContext(), Twine(known->second).str());
    });
  }

  std::string of(ModuleOp module) {
    for (auto function : module.getOps<func::FuncOp>())
      functions.try_emplace(function.getNameAttr(), unsigned(functions.size()));
    for (auto function : module.getOps<func::FuncOp>()) {
      out << "function";
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        out << " " << function.getArgAttr(i, nd::nameAttrName);
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        out << " " << function.getResultAttr(i, nd::nameAttrName);
      out << function.getFunctionType();
      write(function.getBody());
    }
    return text;
  }

private:
  std::string text;
  llvm::raw_string_ostream out{text};
  AttrTypeReplacer replacer;
  DenseMap<StringAttr, unsigned> functions;
  DenseMap<Value, unsigned> values;
  unsigned count = 0; ///< of different values

  void define(ValueRange made) {
    for (Value value : made) {
      values.try_emplace(value, count++);
      out << ":" << value.getType();
    }
  }
  void write(Region &region) {
    for (Block &block : region) {
      out << "{";
      define(block.getArguments());
      for (Operation &op : block)
        write(op);
      out << "}";
    }
  }
  void write(Operation &op) {
    // Plans state constraints, too: ZeRO's are not of the graph.
    if (auto constrain = dyn_cast<mesh::ConstrainOp>(op)) {
      values.try_emplace(constrain.getResult(), values.lookup(constrain.getInput()));
      return;
    }
    out << "\n" << op.getName();
    for (Value operand : op.getOperands())
      out << " " << values.lookup(operand);
    if (Attribute inherent = op.getPropertiesAsAttribute())
      out << replacer.replace(inherent);
    define(op.getResults());
    for (Region &region : op.getRegions())
      write(region);
  }
};
} // namespace

std::string heddle::graphHash(func::FuncOp function) {
  auto module = function->getParentOfType<ModuleOp>();
  llvm::SetVector<Operation *> called; // in the order of the calls
  called.insert(function);
  for (size_t i = 0; i < called.size(); ++i)
    called[i]->walk<WalkOrder::PreOrder>([&](Operation *op) {
      op->getAttrDictionary().walk([&](SymbolRefAttr symbol) {
        if (auto callee = module.lookupSymbol<func::FuncOp>(symbol))
          called.insert(callee);
      });
    });
  OwningOpRef<ModuleOp> copy = ModuleOp::create(module.getLoc());
  for (Operation *each : called)
    copy->push_back(each->clone());
  renumberFresh(*copy);
  std::string text = GraphText().of(*copy);
  return llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true, /*Width=*/16);
}
