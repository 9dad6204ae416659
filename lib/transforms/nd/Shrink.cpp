//===- Shrink.cpp - reduces failing programs ------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nd/Shrink.h"

#include "dialects/nd/Nd.h"
#include "dialects/nest/Nest.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringSet.h"

using namespace heddle;
using namespace mlir;

/// Functions that no op references, so that their arguments and results may change.
static SmallVector<func::FuncOp> entriesOf(ModuleOp module) {
  llvm::DenseSet<Attribute> mentioned;
  if (auto uses = SymbolTable::getSymbolUses(&module.getBodyRegion()))
    for (const SymbolTable::SymbolUse &use : *uses)
      mentioned.insert(use.getSymbolRef().getRootReference());
  SmallVector<func::FuncOp> entries;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() && !mentioned.contains(function.getSymNameAttr()))
      entries.push_back(function);
  return entries;
}

static void dropDead(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.front())))
    if (!op.hasTrait<OpTrait::IsTerminator>() && op.use_empty() && op.getNumResults())
      op.erase();
  llvm::BitVector unused(function.getNumArguments());
  for (BlockArgument argument : function.getArguments())
    if (argument.use_empty())
      unused.set(argument.getArgNumber());
  (void)function.eraseArguments(unused);
}

static void setReturned(func::FuncOp function, ArrayRef<Value> values) {
  function.front().getTerminator()->setOperands(values);
  Builder b(function.getContext());
  SmallVector<Type> types = llvm::map_to_vector(values, [](Value v) { return v.getType(); });
  SmallVector<DictionaryAttr> attributes;
  for (size_t i = 0; i < values.size(); ++i)
    attributes.push_back(b.getDictionaryAttr(
        b.getNamedAttr(nd::nameAttrName, b.getStringAttr("y" + std::to_string(i)))));
  function.removeResAttrsAttr();
  function.setFunctionType(b.getFunctionType(function.getArgumentTypes(), types));
  function.setAllResultAttrs(attributes);
}

/// Replaces the results of `op` by arguments; erases an op without results.
static bool forget(func::FuncOp function, Operation &op) {
  if (op.getNumResults() == 0) {
    op.erase();
    return true;
  }
  llvm::StringSet<> taken;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto name = function.getArgAttrOfType<StringAttr>(i, nd::nameAttrName))
      taken.insert(name.getValue());
  bool changed = false;
  unsigned number = 0;
  for (Value result : op.getResults()) {
    if (result.use_empty())
      continue;
    if (!isa<nd::NdTensorType>(result.getType()))
      return changed;
    std::string name;
    while (!taken.insert(name = "s" + std::to_string(number++)).second)
      ;
    unsigned index = function.getNumArguments();
    (void)function.insertArgument(index, result.getType(), DictionaryAttr(), op.getLoc());
    function.setArgAttr(index, nd::nameAttrName, StringAttr::get(function.getContext(), name));
    result.replaceAllUsesWith(function.getArgument(index));
    changed = true;
  }
  return changed;
}

/// True if `op` is part of a combiner. A simplified combiner may break its promises: that the order
/// does not matter, and that the neutral element is neutral.
static bool isInCombiner(Operation *op) {
  Region *region = op->getParentRegion();
  Operation *parent = region->getParentOp();
  if (auto scatter = dyn_cast<nd::ScatterOp>(parent))
    return !scatter.getUnique();
  if (auto update = dyn_cast<nest::UpdateOp>(parent))
    return region == &update.getCombine() && !update.getUnique();
  if (auto compute = dyn_cast<nest::ComputeOp>(parent))
    return region == &compute.getCombine();
  return isa<nd::ReductionInterface>(parent);
}

namespace {
class Shrinker {
public:
  Shrinker(ModuleOp module, llvm::function_ref<bool(ModuleOp)> isWrong,
           llvm::function_ref<void(ModuleOp)> onSmaller)
      : isWrong(isWrong), onSmaller(onSmaller), best(module.clone()) {}

  OwningOpRef<ModuleOp> run() {
    dropFunctions();
    bool changed = true;
    for (int round = 0; changed && round < 8; ++round) {
      changed = false;
      for (size_t entry = 0; entry < entriesOf(*best).size(); ++entry) {
        changed |= dropResults(entry);
        changed |= returnEarlier(entry);
        changed |= forgetOps(entry);
        changed |= simplifyScalars(entry);
      }
    }
    return std::move(best);
  }

private:
  llvm::function_ref<bool(ModuleOp)> isWrong;
  llvm::function_ref<void(ModuleOp)> onSmaller;
  OwningOpRef<ModuleOp> best;

  bool isKept(OwningOpRef<ModuleOp> candidate) {
    {
      ScopedDiagnosticHandler quiet((*candidate)->getContext(),
                                    [](Diagnostic &) { return success(); });
      if (failed(verify(*candidate)))
        return false;
    }
    OwningOpRef<ModuleOp> kept(candidate->clone());
    if (!isWrong(*candidate))
      return false;
    best = std::move(kept);
    if (onSmaller)
      onSmaller(*best);
    return true;
  }

  /// Tries `change` on the entry-th function, and keeps the result if the fault still shows.
  bool accept(size_t entry, llvm::function_ref<bool(func::FuncOp)> change) {
    OwningOpRef<ModuleOp> candidate(best->clone());
    func::FuncOp function = entriesOf(*candidate)[entry];
    if (!change(function))
      return false;
    dropDead(function);
    // Erases functions that are no longer called, and their callees transitively.
    llvm::StringSet<> roots;
    for (func::FuncOp root : entriesOf(*best))
      roots.insert(root.getName());
    for (bool changed = true; std::exchange(changed, false);)
      for (func::FuncOp each : entriesOf(*candidate))
        if (!roots.contains(each.getName())) {
          each.erase();
          changed = true;
        }
    return isKept(std::move(candidate));
  }

  void dropFunctions() {
    for (size_t entry = entriesOf(*best).size(); entry-- > 0;) {
      if (entriesOf(*best).size() < 2)
        return;
      if (entry >= entriesOf(*best).size())
        continue;
      OwningOpRef<ModuleOp> candidate(best->clone());
      entriesOf(*candidate)[entry].erase();
      isKept(std::move(candidate));
    }
  }

  func::FuncOp function(size_t entry) { return entriesOf(*best)[entry]; }
  size_t opCount(size_t entry) {
    return size_t(llvm::range_size(function(entry).front().without_terminator()));
  }

  bool dropResults(size_t entry) {
    for (unsigned i = 0, n = function(entry).getNumResults(); n > 1 && i < n; ++i)
      if (accept(entry, [&](func::FuncOp f) {
            setReturned(f, f.front().getTerminator()->getOperand(i));
            return true;
          }))
        return true;
    bool changed = false;
    for (unsigned i = function(entry).getNumResults(); i-- > 0;)
      changed |= function(entry).getNumResults() > 1 && accept(entry, [&](func::FuncOp f) {
                   SmallVector<Value> values(f.front().getTerminator()->getOperands());
                   values.erase(values.begin() + i);
                   setReturned(f, values);
                   return true;
                 });
    return changed;
  }

  bool returnEarlier(size_t entry) {
    bool changed = false;
    for (size_t i = 0; i < opCount(entry); ++i)
      changed |= accept(entry, [&](func::FuncOp f) {
        Operation &op = *std::next(f.front().begin(), int64_t(i));
        if (op.getNumResults() != 1 || !isa<nd::NdTensorType>(op.getResult(0).getType()) ||
            f.front().getTerminator()->getOperands() == op.getResults())
          return false;
        setReturned(f, op.getResult(0));
        return true;
      });
    return changed;
  }

  bool forgetOps(size_t entry) {
    bool changed = false;
    for (size_t length = std::max<size_t>(opCount(entry) / 2, 1); length; length /= 2)
      for (size_t end = opCount(entry); end > 0; end = end > length ? end - length : 0) {
        end = std::min(end, opCount(entry));
        changed |= accept(entry, [&](func::FuncOp f) {
          bool any = false;
          SmallVector<Operation *> ops = llvm::map_to_vector(f.front().without_terminator(),
                                                             [](Operation &op) { return &op; });
          for (Operation *op : llvm::reverse(ArrayRef(ops).take_front(end).take_back(length)))
            any |= forget(f, *op);
          return any;
        });
      }
    return changed;
  }

  /// Replaces a scalar op by an operand of its type.
  bool simplifyScalars(size_t entry) {
    bool changed = false;
    auto scalars = [](func::FuncOp f) {
      SmallVector<Operation *> list;
      f.walk([&](Operation *op) {
        if (op->getBlock() != &f.front() && op->getNumResults() == 1 && op->getNumRegions() == 0 &&
            !op->use_empty() && !isInCombiner(op))
          list.push_back(op);
      });
      return list;
    };
    for (size_t i = scalars(function(entry)).size(); i-- > 0;) {
      if (i >= scalars(function(entry)).size())
        continue;
      for (unsigned operand = 0; operand < scalars(function(entry))[i]->getNumOperands(); ++operand)
        if (accept(entry, [&](func::FuncOp f) {
              Operation *op = scalars(f)[i];
              if (op->getOperand(operand).getType() != op->getResult(0).getType())
                return false;
              op->getResult(0).replaceAllUsesWith(op->getOperand(operand));
              op->erase();
              return true;
            })) {
          changed = true;
          break;
        }
    }
    return changed;
  }
};
} // namespace

OwningOpRef<ModuleOp> nd::shrink(ModuleOp module, llvm::function_ref<bool(ModuleOp)> isWrong,
                                 llvm::function_ref<void(ModuleOp)> onSmaller) {
  return Shrinker(module, isWrong, onSmaller).run();
}
