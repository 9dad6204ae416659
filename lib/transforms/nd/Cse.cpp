//===- Cse.cpp - common subexpressions up to renaming ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Eliminates common subexpressions, independently of the order and spelling of names. Ops with one
// canonical form (lib/analysis/Canonical.h) compute the same up to renaming. The later op is replaced
// by renames of the earlier one's results, which cost nothing:
//
//     %a = nd.reduce %x over (k) {add}        x: {m, k}
//     %b = nd.reduce %y over (p) {add}        y: %x renamed m -> q, k -> p
//     =>   %b = nd.rename %a m -> q
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"
#include "dialects/nest/NestBuild.h"
#include "lib/analysis/BlockForms.h"
#include "lib/analysis/CanonicalNames.h"
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

/// Merges ops of `block` that are equal up to renaming. Ops in the regions of branches and loops are
/// also merged with earlier ops outside, where `isWorthKeeping` holds. Returns the number of ops
/// that were erased.
static unsigned mergeEqualOps(Block &block);

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

  struct Whole {
    Operation *op;
    CanonicalForm form; ///< computed at the first comparison
  };
  /// Ops with regions, by their quick key.
  llvm::StringMap<SmallVector<Whole>> wholes;

  std::map<std::string, size_t> ranks; ///< of the function's names, computed on demand

  OperandIdentity identify(Value value);
  bool mergeWhole(Operation *op, SmallVectorImpl<Whole> &alike);
  bool replace(Operation *op, const CanonicalForm &form, const Known &by);
  void settle(Operation *op, const CanonicalForm &form, Labels &byLabel);
  void rank(Operation *op, std::vector<std::string> &names);
};
} // namespace

/// The value behind renames, and its names.
OperandIdentity Merger::identify(Value value) {
  Labels names;
  if (auto type = dyn_cast<NdTensorType>(value.getType()))
    for (const Dim &dim : type.getDims())
      names[dim.name.str()] = dim.name.str();
  while (auto renaming = renamingOf(value.getDefiningOp())) {
    for (auto &[own, name] : names)
      name = renaming->before(name).str();
    value = value.getDefiningOp()->getOperand(0);
  }
  unsigned number = numbers.try_emplace(value, numbers.size()).first->second;
  return {"v" + std::to_string(number), std::move(names)};
}

/// Sorts names by the canonical order of the enclosing function.
void Merger::rank(Operation *op, std::vector<std::string> &names) {
  if (names.size() < 2)
    return;
  auto function = op->getParentOfType<func::FuncOp>();
  if (function && ranks.empty())
    for (auto [i, name] : llvm::enumerate(canonicalNames(function)))
      ranks[name] = i;
  llvm::stable_sort(
      names, [&](const std::string &a, const std::string &b) { return ranks[a] < ranks[b]; });
}

/// Matches symmetric names, which may be matched in any way: names that both ops have match
/// themselves, others are matched independently of spelling.
void Merger::settle(Operation *op, const CanonicalForm &form, Labels &byLabel) {
  for (const std::vector<std::string> &alike : form.alike) {
    std::vector<std::string> from, to(alike);
    for (const std::string &name : alike)
      from.push_back(byLabel[form.labels.find(name)->second]);
    for (const std::string &name : alike)
      if (auto same = llvm::find(from, name); same != from.end()) {
        byLabel[form.labels.find(name)->second] = name;
        from.erase(same);
        to.erase(llvm::find(to, name));
      }
    rank(op, from);
    rank(op, to);
    for (auto [source, name] : llvm::zip_equal(from, to))
      byLabel[form.labels.find(name)->second] = source;
  }
}

/// Replaces the results of `op` by renames of those of `by`.
bool Merger::replace(Operation *op, const CanonicalForm &form, const Known &by) {
  Labels byLabel;
  for (const auto &[name, label] : by.labels)
    byLabel[label] = name;
  settle(op, form, byLabel);
  OpBuilder builder(op);
  SmallVector<Value> replacements;
  for (auto [result, other] : llvm::zip_equal(op->getResults(), by.op->getResults())) {
    SmallVector<StringRef> from, to;
    if (!isa<NdTensorType>(result.getType())) {
      replacements.push_back(other);
      continue;
    }
    for (const Dim &dim : tensorType(result).getDims()) {
      auto label = form.labels.find(std::string_view(dim.name.getValue()));
      if (label == form.labels.end())
        continue;
      const std::string &name = byLabel[label->second];
      if (name == dim.name.getValue())
        continue;
      from.push_back(name);
      to.push_back(dim.name);
    }
    if (!from.empty() && isa<nest::GroupOp>(op->getParentOp()))
      return false; // a rename is illegal between nests
    replacements.push_back(buildRename(builder, op->getLoc(), other, from, to));
    if (replacements.back().getType() != result.getType())
      return false;
  }
  op->replaceAllUsesWith(replacements);
  op->erase();
  return true;
}

/// Merges a recurrence, branch or loop with an equal one of `alike`; else appends it to `alike`.
bool Merger::mergeWhole(Operation *op, SmallVectorImpl<Whole> &alike) {
  auto identity = [&](Value value) { return identify(value); };
  if (alike.empty()) {
    alike.push_back({op, {}});
    return false;
  }
  if (!hasForm(op)) { // compared as written
    using Equal = OperationEquivalence;
    for (Whole &other : alike)
      if (isMemoryEffectFree(op) && Equal::isEquivalentTo(op, other.op, Equal::IgnoreLocations)) {
        op->replaceAllUsesWith(other.op);
        op->erase();
        return true;
      }
    alike.push_back({op, {}});
    return false;
  }
  CanonicalForm form = *canonicalForm(op, identity);
  for (Whole &other : alike) {
    if (other.form.text.empty() && hasForm(other.op))
      other.form = *canonicalForm(other.op, identity);
    if (other.form.text == form.text)
      return replace(op, form, {other.op, other.form.labels});
  }
  alike.push_back({op, std::move(form)});
  return false;
}

unsigned Merger::run(Block &block) {
  unsigned merged = 0;
  // Ops of this block, and ops before it.
  SmallVector<std::pair<std::string, Known>> hidden;
  SmallVector<std::string> added;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    // CSE looks through renames.
    if (renamingOf(&op))
      continue;
    if (isa<nest::HoldsNestsInterface>(op) || isa_and_nonnull<scf::SCFDialect>(op.getDialect())) {
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          merged += isa<nest::GroupOp>(op) ? mergeEqualOps(inner) : run(inner);
      if (op.getNumResults() == 0)
        continue;
      std::string sight = quickKey(&op, [&](Value value) { return identify(value); });
      if (mergeWhole(&op, wholes[sight]))
        ++merged;
      else
        added.push_back(std::move(sight));
      continue;
    }
    std::optional<CanonicalForm> form =
        canonicalForm(&op, [&](Value value) { return identify(value); });
    if (!form)
      continue;
    // The result of an update has the names of its destination, not those of its iteration space.
    if (Value updated = nest::updatedBy(&op)) {
      form->labels = identify(updated).names;
      form->alike.clear();
    }
    Known own{&op, form->labels};
    auto [found, isNew] = known.try_emplace(form->text, own);
    Known before = isNew ? Known() : found->second;
    if (isNew || (before.op->getBlock() != &block && !isWorthKeeping(&op, block.getParentOp()))) {
      hidden.emplace_back(form->text, std::move(before));
      found->second = std::move(own);
    } else if (replace(&op, *form, before))
      ++merged;
  }
  for (auto &[text, before] : llvm::reverse(hidden))
    if (before.op)
      known[text] = std::move(before);
    else
      known.erase(text);
  for (const std::string &sight : added)
    wholes[sight].pop_back();
  return merged;
}

unsigned mergeEqualOps(Block &block) {
  unsigned merged = Merger().run(block);
  if (Operation *parent = block.getParentOp())
    parent->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (renamingOf(op) && op->use_empty())
        op->erase(); // its operands were erased
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
