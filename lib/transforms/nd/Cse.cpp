//===- Cse.cpp - common subexpressions up to renaming ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Eliminates common subexpressions, independently of the order and spelling of names. Ops with
// equal canonical forms (lib/analysis/Canonical.h) compute the same value up to renaming. Renames
// of the earlier op's results, which are free, replace those of the later op:
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

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Iterators.h"

namespace heddle::nd {
#define GEN_PASS_DEF_NDCSEPASS
#include "lib/transforms/nd/Passes.h.inc"
} // namespace heddle::nd

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

/// Merges ops of `block` that are equal up to renaming. If `isWorthKeeping` holds, ops in the
/// regions of branches and loops are also merged with earlier ops outside. Returns the number of
/// erased ops.
static unsigned mergeEqualOps(Block &block);

namespace {
class Merger {
public:
  unsigned run(Block &block);

private:
  struct Known {
    Operation *op;
    Labels labels;
  };
  /// The keys and forms that the ops of a block added. They are removed at its end, since later ops
  /// can't use results of the block's ops.
  struct Scope {
    Block *block;
    SmallVector<std::string> keys, texts;
  };
  SmallVector<Scope> scopes;
  /// Ops by `quickKey`. Building a form takes much longer than a key, so an op gets a form only
  /// when another op has the same key, which is then in `formed`.
  llvm::StringMap<SmallVector<Operation *>> unformed;
  llvm::StringSet<> formed;
  /// Ops with forms, by the text of the form; the innermost op is last.
  llvm::StringMap<SmallVector<Known>> known;
  DenseMap<Value, unsigned> numbers;

  std::map<std::string, size_t> ranks; ///< of the function's names, computed on demand

  OperandIdentity identify(Value value);
  CanonicalForm formOf(Operation *op);
  bool merge(Operation *op);
  bool mergeAsWritten(Operation *op);
  void remember(Operation *op, const CanonicalForm &form);
  bool replace(Operation *op, const CanonicalForm &form, const Known &known);
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

/// Matches symmetric names, which can be matched in any way: a name that both ops have matches
/// itself, others are matched independently of spelling.
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

/// Replaces the results of `op` by renames of those of `known`.
bool Merger::replace(Operation *op, const CanonicalForm &form, const Known &known) {
  Labels byLabel;
  for (const auto &[name, label] : known.labels)
    byLabel[label] = name;
  settle(op, form, byLabel);
  OpBuilder builder(op);
  SmallVector<Value> replacements;
  for (auto [result, other] : llvm::zip_equal(op->getResults(), known.op->getResults())) {
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

CanonicalForm Merger::formOf(Operation *op) {
  CanonicalForm form = *canonicalForm(op, [&](Value value) { return identify(value); });
  // The result of an update has the names of its destination, not those of its iteration space.
  if (Value updated = nest::updatedBy(op)) {
    form.labels = identify(updated).names;
    form.alike.clear();
  }
  return form;
}

static bool holdsOps(Operation *op) {
  return isa<nest::HoldsNestsInterface>(op) || isa_and_nonnull<scf::SCFDialect>(op->getDialect());
}

/// Merges `op`, which has no form, with an equal earlier op.
bool Merger::mergeAsWritten(Operation *op) {
  using Equal = OperationEquivalence;
  std::string key = "as written " + quickKey(op, [&](Value value) { return identify(value); });
  SmallVector<Operation *> &alike = unformed[key];
  auto equal = llvm::find_if(alike, [&](Operation *other) {
    return isMemoryEffectFree(op) && Equal::isEquivalentTo(op, other, Equal::IgnoreLocations);
  });
  if (equal == alike.end()) {
    alike.push_back(op);
    scopes.back().keys.push_back(std::move(key));
    return false;
  }
  op->replaceAllUsesWith(*equal);
  op->erase();
  return true;
}

/// Adds `op` to the table, so that later ops can be merged with it.
void Merger::remember(Operation *op, const CanonicalForm &form) {
  known[form.text].push_back({op, form.labels});
  auto scope = llvm::find_if(llvm::reverse(scopes),
                             [&](const Scope &each) { return each.block == op->getBlock(); });
  scope->texts.push_back(form.text);
}

/// Merges `op` with an equal earlier op.
bool Merger::merge(Operation *op) {
  std::string key = quickKey(op, [&](Value value) { return identify(value); });
  SmallVector<Operation *> &others = unformed[key];
  if (others.empty() && !formed.contains(key)) {
    others.push_back(op);
    scopes.back().keys.push_back(std::move(key));
    return false;
  }
  formed.insert(key);
  if (!others.empty()) {
    Operation *other = others.pop_back_val();
    remember(other, formOf(other));
  }
  CanonicalForm form = formOf(op);
  auto found = known.find(form.text);
  if (found != known.end() && !found->second.empty()) {
    const Known &before = found->second.back();
    if (holdsOps(op) || before.op->getBlock() == op->getBlock() ||
        isWorthKeeping(op, op->getBlock()->getParentOp()))
      return replace(op, form, before);
  }
  remember(op, form);
  return false;
}

unsigned Merger::run(Block &block) {
  unsigned merged = 0;
  scopes.push_back({&block, {}, {}});
  for (Operation &op : llvm::make_early_inc_range(block)) {
    // CSE looks through renames.
    if (renamingOf(&op))
      continue;
    if (holdsOps(&op)) {
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          merged += isa<nest::GroupOp>(op) ? mergeEqualOps(inner) : run(inner);
      if (op.getNumResults() == 0)
        continue;
      if (!hasForm(&op)) {
        merged += mergeAsWritten(&op);
        continue;
      }
    }
    if (hasForm(&op))
      merged += merge(&op);
  }
  Scope scope = scopes.pop_back_val();
  for (const std::string &key : scope.keys)
    if (SmallVector<Operation *> &alike = unformed[key]; !alike.empty())
      alike.pop_back();
  for (const std::string &text : scope.texts)
    known[text].pop_back();
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
