//===- ReduceProgram.cpp - reduces failing programs -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nd/ReduceProgram.h"

#include "dialects/nd/Nd.h"
#include "dialects/nest/Nest.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringSet.h"

#include <map>
#include <set>

using namespace heddle;
using namespace mlir;

/// Functions without references, whose arguments and results may change.
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
  // Scalar ops first: a nest may read a value only for them.
  function.walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
    if (op->getBlock() != &function.front() && isOpTriviallyDead(op))
      op->erase();
  });
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

/// True if `op` is part of a combiner. A simplified combiner might no longer be associative or have
/// its neutral element.
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

/// The constant sizes of the dimensions of a program, by name.
static std::map<std::string, std::set<int64_t>> sizesIn(ModuleOp module) {
  std::map<std::string, std::set<int64_t>> sizes;
  AttrTypeWalker walker;
  walker.addWalk([&](nd::DimsAttr dims) {
    for (const nd::Dim &dim : dims)
      if (auto size = dim.size().constant())
        sizes[dim.name.str()].insert(*size);
  });
  module.walk([&](Operation *op) {
    walker.walk(op->getAttrDictionary());
    for (Type type : op->getResultTypes())
      walker.walk(type);
  });
  return sizes;
}

/// Replaces constant sizes: those of dimensions and, for the name "", those in attributes of ops.
static void resize(ModuleOp module,
                   llvm::function_ref<int64_t(StringRef name, int64_t size)> newSize) {
  auto replaced = [&](StringRef name, nd::SizeAttr size) {
    auto constant = size.constant();
    return constant ? nd::SizeAttr::get(size.getContext(), newSize(name, *constant)) : size;
  };
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](nd::DimsAttr dims) -> Attribute {
    SmallVector<nd::Dim> resized;
    for (const nd::Dim &dim : dims)
      resized.emplace_back(dim.name, replaced(dim.name, dim.size()));
    return nd::DimsAttr::get(dims.getContext(), resized);
  });
  replacer.addReplacement([&](nd::SizeAttr size) -> Attribute { return replaced("", size); });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

namespace {
class Shrinker {
public:
  Shrinker(ModuleOp module, llvm::function_ref<bool(ModuleOp)> isWrong,
           llvm::function_ref<void(ModuleOp)> onSmaller)
      : isWrong(isWrong), onSmaller(onSmaller), best(module.clone()) {}

  OwningOpRef<ModuleOp> run() {
    dropFunctions();
    for (size_t entry = 0; entry < entriesOf(*best).size(); ++entry)
      accept(entry, [](func::FuncOp) { return true; }); // without dead ops
    bool changed = true;
    for (int round = 0; changed && round < 8; ++round) {
      changed = false;
      for (size_t entry = 0; entry < entriesOf(*best).size(); ++entry) {
        changed |= dropResults(entry);
        changed |= returnEarlier(entry);
        changed |= forgetOps(entry);
        changed |= simplifyScalars(entry);
      }
      changed |= shrinkSizes();
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

  /// Applies `change` to the entry-th function, and keeps the result if it still shows the fault.
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

  bool acceptSizes(llvm::function_ref<int64_t(StringRef name, int64_t size)> newSize) {
    OwningOpRef<ModuleOp> candidate(best->clone());
    resize(*candidate, newSize);
    return isKept(std::move(candidate));
  }

  /// Reduces sizes: all equal ones, those of one name, or all sizes of one name by the same number,
  /// since a window has fewer positions than there are elements. The verifier decides which of
  /// these are valid.
  bool shrinkSizes() {
    bool changed = false;
    auto smallest = [&](int64_t size, auto &&accepts) {
      for (int64_t to : std::set<int64_t>{1, 2, size / 2, size - 1})
        if (to > 0 && to < size && accepts(to)) {
          changed = true;
          return;
        }
    };
    std::set<int64_t, std::greater<>> all;
    for (const auto &[name, sizes] : sizesIn(*best))
      all.insert(sizes.begin(), sizes.end());
    for (int64_t size : all)
      smallest(size, [&](int64_t to) {
        return acceptSizes([&](StringRef, int64_t old) { return old == size ? to : old; });
      });
    for (const auto &[name, sizes] : sizesIn(*best)) {
      for (int64_t size : sizes)
        smallest(size, [&](int64_t to) {
          return acceptSizes(
              [&](StringRef of, int64_t old) { return of == name && old == size ? to : old; });
        });
      if (sizes.size() > 1)
        smallest(*sizes.begin(), [&](int64_t to) {
          return acceptSizes([&](StringRef of, int64_t old) {
            return of == name ? std::max<int64_t>(old - (*sizes.begin() - to), 0) : old;
          });
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

OwningOpRef<ModuleOp> nd::reduceProgram(ModuleOp module, llvm::function_ref<bool(ModuleOp)> isWrong,
                                        llvm::function_ref<void(ModuleOp)> onSmaller) {
  return Shrinker(module, isWrong, onSmaller).run();
}
