//===- BlockForms.cpp - canonical forms of blocks -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/analysis/BlockForms.h"

#include "dialects/nest/NestBuild.h"
#include "lib/analysis/NestAnalysis.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

#include <set>

using namespace heddle;
using namespace mlir;

std::string heddle::hashed(StringRef text) {
  llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::arrayRefFromStringRef(text));
  return "h" + llvm::utohexstr(hash.high64) + "_" + llvm::utohexstr(hash.low64);
}

OperandIdentity BlockForms::identify(Value value) {
  auto find = [&](Value value) {
    auto known = values.find(value);
    return known != values.end() ? known->second : outside(value);
  };
  // Its names below the renames so far; chains of renames may be long.
  Labels names;
  bool isRenamed = false;
  auto change = [&](auto nameBelow) {
    for (auto &[name, below] : names)
      below = nameBelow(below);
  };
  if (auto type = dyn_cast<nd::NdTensorType>(value.getType()))
    for (const nd::Dim &dim : type.getDims())
      names[dim.name.str()] = dim.name.str();
  for (; !values.contains(value); isRenamed = true) {
    auto nest = value.getDefiningOp<nest::ComputeOp>();
    if (auto rename = nd::renamingOf(value.getDefiningOp())) {
      change([&](StringRef name) { return rename->before(name).str(); });
      value = value.getDefiningOp()->getOperand(0);
    } else if (nest && isRenaming(nest)) {
      auto renaming = *renamingOf(nest.readMap(0));
      change([&](const std::string &name) {
        return llvm::find_if(renaming, [&](auto &pair) { return pair.second == name; })->first;
      });
      value = nest.getReads()[0];
    } else {
      break;
    }
  }
  OperandIdentity below = find(value);
  if (!isRenamed)
    return below;
  for (auto &[name, label] : names)
    label = below.names[label];
  return {below.value, std::move(names)};
}

/// Returns true for an op that `identify` looks through.
static bool isRename(Operation &op) {
  auto nest = dyn_cast<nest::ComputeOp>(op);
  return nd::renamingOf(&op) || (nest && isRenaming(nest));
}

bool BlockForms::visit(Block &block) {
  auto inside = [&](Value value) { return identify(value); };
  for (Operation &op : block.without_terminator()) {
    if (isRename(op))
      continue;
    std::optional<CanonicalForm> form = canonicalForm(&op, inside, scope);
    if (!form && formOf)
      form = formOf(&op);
    if (!form)
      return false;
    std::string made = hashed(form->text);
    // The result of an update has the names of its destination.
    if (Value updated = nest::updatedBy(&op))
      form->labels = identify(updated).names;
    for (OpResult result : op.getResults()) {
      OperandIdentity identity{made + "." + std::to_string(result.getResultNumber()), {}};
      if (auto type = dyn_cast<nd::NdTensorType>(result.getType()))
        for (const nd::Dim &dim : type.getDims())
          identity.names[dim.name.str()] = form->labels[dim.name.str()];
      values[result] = std::move(identity);
    }
  }
  return true;
}

std::string heddle::blockText(Block &block, Identify outside, const Surroundings &scope,
                              unsigned region) {
  BlockForms forms(outside, scope);
  for (BlockArgument argument : block.getArguments()) {
    OperandIdentity identity{"b" + std::to_string(scope.depth) + "." + std::to_string(region) +
                                 "." + std::to_string(argument.getArgNumber()),
                             {}};
    if (auto type = dyn_cast<nd::NdTensorType>(argument.getType()))
      for (const nd::Dim &dim : type.getDims())
        identity.names[dim.name.str()] =
            scope.labels.find(std::string_view(dim.name.getValue()))->second;
    forms.set(argument, std::move(identity));
  }
  forms.visit(block);
  std::string text;
  for (Value value : block.getTerminator()->getOperands())
    text += operandText(forms.identify(value), value.getType(), scope.labels) + "; ";
  return text;
}

std::string heddle::quickKey(Operation *op, Identify identify) {
  // Forms do not depend on the order of most operands.
  std::vector<std::string> operands;
  for (Value operand : op->getOperands())
    operands.push_back(identify(operand).value);
  llvm::sort(operands);
  std::string text = op->getName().getStringRef().str() + " " + llvm::join(operands, " ");
  if (isa<nest::LoopNestInterface, nd::ScalarCodeInterface>(op)) // regions of scalar code
    return text;
  llvm::DenseSet<Block *> inside;
  op->walk([&](Block *block) { inside.insert(block); });
  std::set<std::string> captured;
  op->walk([&](Operation *each) {
    for (Value operand : each->getOperands())
      if (!inside.contains(operand.getParentBlock()))
        captured.insert(identify(operand).value);
  });
  return text + ": " + llvm::join(captured, " ");
}
