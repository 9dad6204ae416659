//===- Cse.cpp - common subexpression elimination of nests ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/fuse/Cse.h"

#include "dialects/nest/NestBuild.h"
#include "lib/analysis/BlockForms.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/transforms/nest/Rewrite.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

namespace {
class Merger {
public:
  bool run(Block &block, bool isKnownInside) {
    bool any = false;
    SmallVector<Operation *> holders;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      bool holds = isa<HoldsNestsInterface>(op);
      auto compute = dyn_cast<ComputeOp>(op);
      if (!holds && (!isa<ScheduledInterface>(op) || (compute && isRenaming(compute)) ||
                     op.hasAttr(recomputeAttr)))
        continue;
      if (merge(&op))
        any = true;
      else if (holds)
        holders.push_back(&op);
    }
    if (any || !isKnownInside)
      for (Operation *op : holders)
        any |= mergeEqualNests(op->getRegion(0).front(), isKnownInside);
    return any;
  }

private:
  struct Known {
    Operation *op;
    Labels labels;
  };
  llvm::StringMap<Known> known;      ///< by the text of the form
  llvm::StringMap<Operation *> sole; ///< by `quickKey`; null if several ops have it
  DenseMap<Value, unsigned> numbers;

  std::optional<CanonicalForm> formOf(Operation *op) {
    auto form = canonicalForm(op, [&](Value value) { return identify(value); });
    if (Value updated = form ? updatedBy(op) : Value())
      form->labels = identify(updated).names;
    return form;
  }

  /// Merges an op with an equal earlier one. Building a form takes much longer than a key, so it is
  /// built only for ops with equal keys.
  bool merge(Operation *op) {
    auto [first, isNew] =
        sole.try_emplace(quickKey(op, [&](Value value) { return identify(value); }), op);
    if (isNew)
      return false;
    if (Operation *other = std::exchange(first->second, nullptr))
      if (auto form = formOf(other))
        known.try_emplace(form->text, Known{other, form->labels});
    auto form = formOf(op);
    if (!form)
      return false;
    auto [found, isOther] = known.try_emplace(form->text, Known{op, form->labels});
    if (!isOther)
      replace(op, form->labels, found->second);
    return !isOther;
  }

  /// Looks through renamings; returns the value and its names.
  OperandIdentity identify(Value value) {
    Labels names;
    if (auto tensor = dyn_cast<nd::NdTensorType>(value.getType())) // else control flow's scalar
      for (const nd::Dim &dim : tensor.getDims())
        names[dim.name.str()] = dim.name.str();
    for (auto op = value.getDefiningOp<ComputeOp>(); op && isRenaming(op);
         op = value.getDefiningOp<ComputeOp>()) {
      Renaming back = inverse(*renamingOf(op.readMap(0)));
      for (auto &[own, name] : names)
        name = back[name];
      value = op.getReads()[0];
    }
    unsigned number = numbers.try_emplace(value, numbers.size()).first->second;
    return {"v" + std::to_string(number), std::move(names)};
  }

  void replace(Operation *op, const Labels &labels, const Known &known) {
    Renaming byLabel;
    for (const auto &[name, label] : known.labels)
      byLabel[label] = name;
    OpBuilder b(op);
    for (auto [result, other] : llvm::zip_equal(op->getResults(), known.op->getResults())) {
      Renaming names;
      for (const nd::Dim &dim : tensorType(result).getDims())
        names[byLabel[labels.find(std::string_view(dim.name.getValue()))->second]] = dim.name.str();
      Value value = isIdentity(names) ? other : renameDims(b, op->getLoc(), other, names);
      result.replaceAllUsesWith(value);
    }
    op->erase();
  }
};
} // namespace

bool nest::mergeEqualNests(Block &block, bool isKnownInside) {
  return Merger().run(block, isKnownInside);
}
