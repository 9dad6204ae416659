//===- JitTrace.h - traces a function into a module -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The user's function is called once for each signature, on formals instead of tensors. What it
// returns, and what it assigns to members of its arguments, become the results of an nd function:
//
//     [](State &s, Tensor x) { s.count = s.count + 1; return x * 2; }
//
//     func.func @f(%count {nd.name = "state.count", heddle.donate = 1}, %x {nd.name = "x"})
//         -> ({nd.name = "result"}, {nd.name = "state.count"})
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_BUILDER_JITTRACE_H
#define HEDDLE_LIB_BUILDER_JITTRACE_H

#include "lib/builder/JitSizes.h"

namespace heddle::detail {

/// How the arguments and results of a traced function belong to those of its program.
struct TraceFacts {
  std::vector<NodeRef> captured;
  std::vector<int> written; ///< for each leaf, the result that it becomes; -1: unchanged
  /// For each gradient, the written leaves with respect to which it was taken.
  std::vector<std::vector<size_t>> updated;
  size_t outputs = 0;
  std::vector<bool> given; ///< for each tensor of the result: not empty
  std::shared_ptr<const void> shape;

  /// Throws Error for parameters that are one tensor, since an update would assign different values
  /// to them.
  void requireOwnTensors(const std::vector<Leaf> &leaves, Here here) const;
};

struct TracedModule : TraceFacts {
  mlir::OwningOpRef<ModuleOp> module;
};

/// Traces the function on formals of the leaves' types and restores the leaves. `hasMesh`: keeps
/// the ops of `shard`.
TracedModule traceFunction(const JitOptions &options, const JitSizes &sizes, bool hasMesh,
                           std::vector<Leaf> &leaves, const Trace &function, Here here);

} // namespace heddle::detail

#endif // HEDDLE_LIB_BUILDER_JITTRACE_H
