//===- BatchParts.cpp - the parts of a batch that ops belong to -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/roles/BatchParts.h"

#include "dialects/nd/NdGradient.h"
#include "lib/analysis/Operators.h"
#include "lib/transforms/mesh/partition/Reshard.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/IntEqClasses.h"

#include <map>

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

namespace {
class Finder {
public:
  explicit Finder(func::FuncOp function)
      : function(function), isState(function.getNumArguments()), joined(function.getNumArguments()),
        isPartOf(function.getNumArguments()) {
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (auto state = stateOf(function, i))
        isState.set(*state);
    for (Operation &op : function.front().without_terminator())
      uses[&op] = usesOf(&op);
  }

  BatchParts run() {
    findGradients();
    join();
    BatchParts found;
    std::map<unsigned, int> numbers; // by the first argument of a part
    for (unsigned i = 0; i < isState.size(); ++i)
      if (isPartOf[i])
        numbers.try_emplace(joined.findLeader(i), int(numbers.size()));
    found.count = int(numbers.size());
    for (Operation &op : function.front().without_terminator()) {
      auto &place = found.ops[&op];
      place.isBackward = gradients.contains(&op) || afterGradients.contains(&op);
      for (Value used : uses[&op])
        if (auto argument = dyn_cast<BlockArgument>(used)) {
          if (unsigned i = argument.getArgNumber(); isPartOf[i])
            place.part = std::max(place.part, numbers[joined.findLeader(i)]);
        } else {
          place.part = std::max(place.part, found.ops.lookup(used.getDefiningOp()).part);
        }
    }
    return found;
  }

private:
  func::FuncOp function;
  llvm::BitVector isState;
  llvm::IntEqClasses joined; ///< arguments of one part
  llvm::BitVector isPartOf;  ///< the arguments on which gradients depend, without states
  DenseMap<Operation *, llvm::SetVector<Value>> uses;
  /// Ops that reverse mode made, before any other op combines them, and all that follow these.
  DenseSet<Operation *> gradients, afterGradients;

  bool dependsOn(Operation *op, const DenseSet<Operation *> &ops) {
    return llvm::any_of(uses[op], [&](Value used) { return ops.contains(used.getDefiningOp()); });
  }
  void findGradients() {
    for (Operation &op : function.front().without_terminator()) {
      bool isMarked = nd::isGradient(op.getLoc());
      if (dependsOn(&op, afterGradients) || (!isMarked && dependsOn(&op, gradients)))
        afterGradients.insert(&op);
      else if (isMarked)
        gradients.insert(&op);
    }
  }

  /// Joins the arguments on which a gradient depends through ops of its part.
  void join() {
    DenseSet<Operation *> needed = gradients;
    for (Operation &op : llvm::reverse(function.front().without_terminator()))
      if (needed.contains(&op))
        for (Value used : uses[&op])
          if (Operation *maker = used.getDefiningOp())
            needed.insert(maker);
    DenseMap<Operation *, int64_t> first; // an argument that an op depends on
    for (Operation &op : function.front().without_terminator()) {
      if (!needed.contains(&op))
        continue;
      int64_t own = -1;
      for (Value used : uses[&op]) {
        auto argument = dyn_cast<BlockArgument>(used);
        int64_t from = -1;
        if (!argument)
          from = first.contains(used.getDefiningOp()) ? first.lookup(used.getDefiningOp()) : -1;
        else if (!isState[argument.getArgNumber()])
          from = argument.getArgNumber();
        if (from < 0)
          continue;
        isPartOf.set(unsigned(from));
        if (own >= 0)
          joined.join(unsigned(own), unsigned(from));
        own = from;
      }
      first[&op] = own;
    }
  }
};
} // namespace

BatchParts BatchParts::of(func::FuncOp function) { return Finder(function).run(); }
