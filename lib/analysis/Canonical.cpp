//===- Canonical.cpp - canonical forms up to renaming ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/analysis/Canonical.h"

#include "dialects/nest/NestBuild.h"
#include "lib/analysis/BlockForms.h"
#include "lib/analysis/CanonicalText.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <set>

using namespace heddle;
using namespace heddle::canonical;
using namespace mlir;

std::string heddle::labelOf(const Labels &labels, StringRef name) {
  auto found = labels.find(std::string_view(name));
  return found == labels.end() ? name.str() : found->second;
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

static bool holdsTensors(Operation *op) {
  return isa<nest::HoldsNestsInterface, scf::IfOp, scf::ForOp, scf::WhileOp>(op);
}

/// Returns the names in an op's own text.
static std::vector<std::string> ownNames(Operation *op) {
  std::set<std::string> names;
  auto add = [&](nd::DimsAttr dims) {
    for (const nd::Dim &dim : dims)
      names.insert(dim.name.str());
  };
  if (auto nest = dyn_cast<nest::LoopNestInterface>(op)) {
    llvm::for_each(nest.getIterationNames(), add);
  } else {
    auto addTypes = [&](TypeRange types) {
      for (Type type : types)
        if (auto tensor = dyn_cast<nd::NdTensorType>(type))
          add(tensor.getDims());
    };
    addTypes(op->getOperandTypes());
    addTypes(op->getResultTypes());
    if (auto holder = dyn_cast<nest::HoldsNestsInterface>(op))
      add(holder.getOuterNames());
    if (holdsTensors(op))
      for (Region &region : op->getRegions())
        for (Block &block : region)
          addTypes(block.getArgumentTypes());
  }
  return {names.begin(), names.end()};
}

static bool hasOwnForm(Operation *op) {
  if (isa<nest::LoopNestInterface, nest::SortOp>(op))
    return true;
  return isa_and_nonnull<nd::NdDialect>(op->getDialect()) && isPure(op) &&
         !isa<nd::ItemOp, nd::FromItemOp>(op) && op->getNumResults() != 0 &&
         !op->hasTrait<OpTrait::IsTerminator>();
}

/// Returns true for ops without names of their own: ops on scalars, and conversions between a
/// scalar and a tensor.
static bool isScalar(Operation *op) {
  return op->getNumRegions() == 0 && op->getNumResults() != 0 && isPure(op) &&
         (isa<nd::ItemOp, nd::FromItemOp>(op) ||
          llvm::none_of(llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()),
                        llvm::IsaPred<nd::NdTensorType>));
}

/// The maximum number of nested levels of regions. Each level is canonicalised for each labelling
/// of the enclosing names, so the time is exponential in the number of levels.
static constexpr unsigned mostLevels = 2;

static bool hasFormWithin(Operation *op, unsigned levels) {
  if (!holdsTensors(op))
    return hasOwnForm(op) || isScalar(op);
  auto isKnown = [&](Operation &each) {
    return nd::renamingOf(&each) || hasFormWithin(&each, levels - 1);
  };
  return levels > 0 && op->getNumResults() != 0 &&
         llvm::all_of(op->getRegions(), [&](Region &region) {
           return region.empty() || (region.hasOneBlock() &&
                                     llvm::all_of(region.front().without_terminator(), isKnown));
         });
}

bool heddle::hasForm(Operation *op) { return hasFormWithin(op, mostLevels); }

static std::string textOf(Operation *op, ArrayRef<OperandIdentity> operands, const Labels &labels,
                          ScalarHeads &heads) {
  if (auto compute = dyn_cast<nest::ComputeOp>(op))
    return computeText(compute, operands, labels, heads);
  if (auto update = dyn_cast<nest::UpdateOp>(op))
    return updateText(update, operands, labels, heads);
  if (isa<nd::NdDialect>(op->getDialect()) && !isScalar(op))
    return ndText(op, operands, labels, heads);
  return headText(op, operands, labels);
}

std::optional<CanonicalForm> heddle::canonicalForm(Operation *op, Identify identify,
                                                   const Surroundings &scope) {
  if (!hasForm(op))
    return std::nullopt;
  SmallVector<OperandIdentity> operands = llvm::map_to_vector(op->getOperands(), identify);
  bool isOfNd = isa<nd::NdDialect>(op->getDialect());
  ScalarHeads heads;
  return canonicalise(ownNames(op), [&](const Labels &own) {
    if (isOfNd)
      return textOf(op, operands, own, heads);
    Labels labels(own);
    labels.insert(scope.labels.begin(), scope.labels.end());
    std::string text = textOf(op, operands, labels, heads);
    if (!holdsTensors(op))
      return text;
    Surroundings inside{{}, scope.depth + 1};
    for (const auto &[name, label] : labels)
      inside.labels[name] = "o" + std::to_string(inside.depth) + label; // unlike inner labels
    for (auto [i, region] : llvm::enumerate(op->getRegions()))
      if (!region.empty())
        text += " {" + blockText(region.front(), identify, inside, i) + "}";
    return text;
  });
}

std::optional<std::string> heddle::textUnder(Operation *op, ArrayRef<OperandIdentity> operands,
                                             const Labels &labels) {
  if (!hasOwnForm(op))
    return std::nullopt;
  ScalarHeads heads;
  return textOf(op, operands, labels, heads);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Returns true if `a` is defined before `b`. Arguments come before results, and values of an outer
/// op before those inside of it.
static bool isMadeBefore(Value a, Value b) {
  auto depth = [](Value value) {
    int levels = 0;
    for (Operation *op = value.getParentBlock()->getParentOp(); op; op = op->getParentOp())
      ++levels;
    return levels;
  };
  if (int first = depth(a), second = depth(b); first != second)
    return first < second;
  auto one = dyn_cast<BlockArgument>(a), two = dyn_cast<BlockArgument>(b);
  if (one || two)
    return one && (!two || one.getArgNumber() < two.getArgNumber());
  if (a.getDefiningOp() == b.getDefiningOp())
    return cast<OpResult>(a).getResultNumber() < cast<OpResult>(b).getResultNumber();
  return a.getDefiningOp()->isBeforeInBlock(b.getDefiningOp());
}

Labels heddle::canonicalKernel(Operation *op, llvm::function_ref<nest::LayoutAttr(Value)> layoutOf,
                               KnownKernels &known) {
  // Names of operands are labelled like iteration names, separately for each operand: `0.row`.
  std::vector<std::string> names = ownNames(op);
  Ranges ranges = nest::iterationRanges(op);
  for (const auto &[name, range] : ranges)
    if (!name.empty() && !llvm::is_contained(names, name))
      names.push_back(name);           // of an enclosing group
  DenseMap<Value, unsigned> positions; // of distinct operands, labelled like names
  SmallVector<Value> distinct;
  for (Value operand : op->getOperands())
    if (positions.try_emplace(operand, positions.size()).second)
      distinct.push_back(operand);
  // Interchangeable operands are ordered by definition.
  llvm::stable_sort(distinct, isMadeBefore);
  for (Value operand : distinct) {
    std::string position = std::to_string(positions.lookup(operand));
    names.push_back(position);
    for (const nd::Dim &dim : nd::tensorType(operand).getDims())
      names.push_back(position + "." + dim.name.str());
  }
  ScalarHeads heads;
  auto text = [&](const Labels &labels) {
    SmallVector<OperandIdentity> operands;
    std::vector<std::string> types;
    for (Value operand : op->getOperands()) {
      unsigned i = positions.lookup(operand);
      OperandIdentity identity{"arg" + labelOf(labels, std::to_string(i)), {}};
      nd::NdTensorType type = nd::tensorType(operand);
      for (const nd::Dim &dim : type.getDims())
        identity.names[dim.name.str()] = labelOf(labels, std::to_string(i) + "." + dim.name.str());
      std::string text = identity.value + ": " + typeText(type, identity.names);
      if (nest::LayoutAttr layout = layoutOf ? layoutOf(operand) : nest::LayoutAttr())
        text += " in " + layout.getLayout().rename(identity.names).str();
      types.push_back(std::move(text));
      operands.push_back(std::move(identity));
    }
    std::vector<std::string> bounds;
    for (const auto &[name, range] : ranges)
      bounds.push_back(labelOf(labels, name) + ": " + std::to_string(range.high));
    return textOf(op, operands, labels, heads) + "\n" + sortedJoin(types) + "\nranges " +
           sortedJoin(bounds);
  };
  Labels listed, result;
  for (auto [i, name] : llvm::enumerate(names))
    listed[name] = "u" + std::to_string(i);
  auto [form, isNew] = known.try_emplace(text(listed));
  if (isNew) {
    result = canonicalise(names, text).labels;
    for (const std::string &name : names)
      form->second.push_back(result[name]);
  } else {
    for (auto [name, label] : llvm::zip_equal(names, form->second))
      result[name] = label;
  }
  return result;
}

/// Returns the text of an op and its nested ops, with values numbered in the order of first use.
static std::string treeText(Operation *op, const Labels &labels, DenseMap<Value, unsigned> &numbers,
                            ScalarHeads &heads) {
  auto identify = [&](Value value) {
    unsigned number = numbers.try_emplace(value, numbers.size()).first->second;
    OperandIdentity identity{"v" + std::to_string(number), {}};
    if (auto type = dyn_cast<nd::NdTensorType>(value.getType()))
      for (const nd::Dim &dim : type.getDims())
        identity.names[dim.name.str()] = labelOf(labels, dim.name);
    return identity;
  };
  SmallVector<OperandIdentity> operands = llvm::map_to_vector(op->getOperands(), identify);
  bool isWhole = hasOwnForm(op); // including its regions
  std::string text = isWhole ? textOf(op, operands, labels, heads) : headText(op, operands, labels);
  for (Value result : op->getResults())
    text += " " + identify(result).value;
  if (isWhole)
    return text;
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      text += " {";
      for (Value argument : block.getArguments())
        text += identify(argument).value + ": " + typeText(argument.getType(), labels) + " ";
      for (Operation &inner : block)
        text += "\n" + treeText(&inner, labels, numbers, heads);
      text += "}";
    }
  return text;
}

Labels heddle::canonicalTree(Operation *nest, ArrayRef<Value> operands,
                             llvm::function_ref<nest::LayoutAttr(Value)> layoutOf) {
  std::set<std::string> names;
  nest->walk([&](Operation *op) {
    for (const std::string &name : ownNames(op))
      names.insert(name);
  });
  for (Value operand : operands)
    for (const nd::Dim &dim : nd::tensorType(operand).getDims())
      names.insert(dim.name.str());
  ScalarHeads heads;
  return canonicalise(std::vector<std::string>(names.begin(), names.end()),
                      [&](const Labels &labels) {
                        DenseMap<Value, unsigned> numbers;
                        std::string text;
                        for (Value operand : operands) {
                          numbers.try_emplace(operand, numbers.size());
                          text += typeText(operand.getType(), labels) + " in " +
                                  layoutOf(operand).getLayout().rename(labels).str() + "\n";
                        }
                        return text + treeText(nest, labels, numbers, heads);
                      })
      .labels;
}
