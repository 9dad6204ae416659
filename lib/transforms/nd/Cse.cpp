//===- Cse.cpp - common subexpressions up to renaming ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nd/Cse.h"

#include "dialects/nd/NdBuild.h"
#include "dialects/nd/NdRename.h"
#include "lib/analysis/Canonical.h"
#include "lib/transforms/nd/ControlFlow.h"
#include "lib/transforms/nd/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Iterators.h"

namespace heddle::nd {
#define GEN_PASS_DEF_NDCSEPASS
#include "lib/transforms/nd/Passes.h.inc"
} // namespace heddle::nd

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

namespace {
class Merger {
public:
  unsigned run(Block &block);

private:
  struct Known {
    Operation *op = nullptr;
    Labels labels;
  };
  llvm::StringMap<Known> known;
  DenseMap<Value, unsigned> numbers;

  /// Branches and loops of a block.
  using Regions = DenseMap<llvm::hash_code, SmallVector<Operation *>>;

  OperandIdentity identify(Value value);
  bool mergeWhole(Operation *op, Regions &known);
  bool replace(Operation *op, const Labels &labels, const Known &by);
};
} // namespace

/// The value below renames, and its names.
OperandIdentity Merger::identify(Value value) {
  Labels names;
  for (const Dim &dim : tensorType(value).getDims())
    names[dim.name.str()] = dim.name.str();
  while (auto rename = value.getDefiningOp<RenameOp>()) {
    for (auto &[own, name] : names)
      name = nameBefore(rename, name).str();
    value = rename.getInput();
  }
  unsigned number = numbers.try_emplace(value, numbers.size()).first->second;
  return {"v" + std::to_string(number), std::move(names)};
}

/// Puts renames of the results of `by` in the place of those of `op`.
bool Merger::replace(Operation *op, const Labels &labels, const Known &by) {
  Labels byLabel;
  for (const auto &[name, label] : by.labels)
    byLabel[label] = name;
  OpBuilder builder(op);
  SmallVector<Value> replacements;
  for (auto [result, other] : llvm::zip_equal(op->getResults(), by.op->getResults())) {
    SmallVector<StringRef> from, to;
    for (const Dim &dim : tensorType(result).getDims()) {
      auto label = labels.find(std::string_view(dim.name.getValue()));
      if (label == labels.end())
        continue;
      const std::string &name = byLabel[label->second];
      if (name == dim.name.getValue())
        continue;
      from.push_back(name);
      to.push_back(dim.name);
    }
    bool isNd = !isa<nest::ScanOp, nest::GroupOp>(op->getParentOp());
    if (!from.empty() && !isNd)
      return false; // a rename cannot stand among nests
    replacements.push_back(buildRename(builder, op->getLoc(), other, from, to));
    if (replacements.back().getType() != result.getType())
      return false;
  }
  op->replaceAllUsesWith(replacements);
  op->erase();
  return true;
}

/// A branch or loop that is written like one before it in its block.
bool Merger::mergeWhole(Operation *op, Regions &known) {
  using Equal = OperationEquivalence;
  if (isa<nest::GroupOp>(op) || op->getNumResults() == 0 || !isMemoryEffectFree(op))
    return false;
  SmallVector<Operation *> &alike =
      known[llvm::hash_combine(op->getName(), llvm::hash_combine_range(op->getOperands()))];
  for (Operation *other : alike) {
    // The name along which a recurrence runs that reads and gives no slices stands nowhere else.
    auto scan = dyn_cast<nest::ScanOp>(op), before = dyn_cast<nest::ScanOp>(other);
    bool isLocal = scan && scan.getReads().empty() &&
                   scan.getNumResults() == scan.getInits().size() &&
                   scan.getAlong().begin()->size() == before.getAlong().begin()->size();
    nd::DimsAttr along = isLocal ? scan.getAlong() : nd::DimsAttr();
    if (isLocal)
      scan.setAlongAttr(before.getAlong());
    if (Equal::isEquivalentTo(op, other, Equal::IgnoreLocations)) {
      op->replaceAllUsesWith(other);
      op->erase();
      return true;
    }
    if (isLocal)
      scan.setAlongAttr(along);
  }
  alike.push_back(op);
  return false;
}

unsigned Merger::run(Block &block) {
  unsigned merged = 0;
  // What is known in here, and what was before.
  SmallVector<std::pair<std::string, Known>> hidden;
  Regions whole;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    // A rename is looked through; it never stands for a value.
    if (isa<RenameOp>(op))
      continue;
    if (isa<nest::GroupOp, nest::ScanOp>(op) || isa_and_nonnull<scf::SCFDialect>(op.getDialect())) {
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          merged += isa<nest::GroupOp>(op) ? mergeEqualOps(inner) : run(inner);
      merged += mergeWhole(&op, whole);
      continue;
    }
    std::optional<CanonicalForm> form =
        canonicalForm(&op, [&](Value value) { return identify(value); });
    if (!form)
      continue;
    // The result of an update has the names of its destination, whatever those of its space are.
    if (auto update = dyn_cast<nest::UpdateOp>(op))
      form->labels = identify(update.getDest()).names;
    Known own{&op, form->labels};
    auto [found, isNew] = known.try_emplace(form->text, own);
    Known before = isNew ? Known() : found->second;
    if (isNew || (before.op->getBlock() != &block && !isWorthKeeping(&op, block.getParentOp()))) {
      hidden.emplace_back(form->text, std::move(before));
      found->second = std::move(own);
    } else if (replace(&op, form->labels, before))
      ++merged;
  }
  for (auto &[text, before] : llvm::reverse(hidden))
    if (before.op)
      known[text] = std::move(before);
    else
      known.erase(text);
  return merged;
}

unsigned nd::mergeEqualOps(Block &block) {
  unsigned merged = Merger().run(block);
  if (Operation *parent = block.getParentOp())
    parent->walk<WalkOrder::PostOrder, ReverseIterator>([](RenameOp op) {
      if (op->use_empty())
        op.erase(); // of operands that went away
    });
  return merged;
}

namespace {
struct NdCsePass : nd::impl::NdCsePassBase<NdCsePass> {
  void runOnOperation() override {
    getOperation()->walk([](func::FuncOp function) {
      for (Block &block : function.getBody())
        mergeEqualOps(block);
    });
  }
};
} // namespace
