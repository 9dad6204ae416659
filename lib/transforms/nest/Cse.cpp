//===- Cse.cpp - common subexpression elimination of nests ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/Cse.h"

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
      if (isa<HoldsNestsInterface>(op)) {
        if (mergeWhole(&op))
          any = true;
        else
          holders.push_back(&op);
        continue;
      }
      auto compute = dyn_cast<ComputeOp>(op);
      if (!isa<ScheduledInterface>(op) || (compute && isRenaming(compute)) ||
          op.hasAttr(recomputeAttr))
        continue;
      auto form = canonicalForm(&op, [&](Value value) { return identify(value); });
      if (!form)
        continue;
      if (Value updated = updatedBy(&op))
        form->labels = identify(updated).names;
      auto [found, isNew] = known.try_emplace(form->text, Known{&op, form->labels});
      if (!isNew)
        replace(&op, form->labels, found->second), any = true;
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
  llvm::StringMap<Known> known;
  llvm::StringMap<SmallVector<Operation *>> wholes; ///< by `quickKey`
  DenseMap<Value, unsigned> numbers;

  /// Merges a recurrence or a group with an equal earlier one.
  bool mergeWhole(Operation *op) {
    auto identity = [&](Value value) { return identify(value); };
    SmallVector<Operation *> &alike = wholes[quickKey(op, identity)];
    std::optional<CanonicalForm> form, other;
    if (!alike.empty())
      form = canonicalForm(op, identity);
    for (Operation *before : form ? ArrayRef(alike) : ArrayRef<Operation *>())
      if ((other = canonicalForm(before, identity)) && other->text == form->text) {
        replace(op, form->labels, {before, other->labels});
        return true;
      }
    alike.push_back(op);
    return false;
  }

  /// Returns the value that renamings of it read, and its names.
  OperandIdentity identify(Value value) {
    Labels names;
    if (auto tensor = dyn_cast<nd::NdTensorType>(value.getType())) // else what loops are steered by
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

  void replace(Operation *op, const Labels &labels, const Known &by) {
    Renaming byLabel;
    for (const auto &[name, label] : by.labels)
      byLabel[label] = name;
    OpBuilder b(op);
    for (auto [result, other] : llvm::zip_equal(op->getResults(), by.op->getResults())) {
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
