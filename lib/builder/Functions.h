//===- Functions.h - functions of a graph that ops call ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A C++ function that is differentiated, lifted or repeated becomes a function of the program, the
// callee. It is traced with formals; values that it captures become further arguments:
//
//     Tensor y = lift([&](Tensor x) { return sum(x * w, over(k)); })(batch);
//     func.func @f(%x, %w) -> ...        %y = nd.call @f(%batch, %w)
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_BUILDER_FUNCTIONS_H
#define HEDDLE_LIB_BUILDER_FUNCTIONS_H

#include "lib/builder/Graph.h"

namespace heddle::detail {

/// Creates the module of `callee` and in it an empty function `f`.
func::FuncOp startCallee(Callee &callee, ArrayRef<NodeRef> arguments, ArrayRef<NodeRef> results,
                         Here here);
/// Emits `roots` as the function `name` of a callee. Nodes that depend on the formals are part of
/// it, others are captured; with `since`, nodes created since then are part of it.
Emission emitCallee(Callee &callee, const std::vector<NodeRef> &formals,
                    const std::vector<NodeRef> &roots, Here here, const char *name = "f",
                    std::optional<uint64_t> since = {});
/// Returns the value that a call passes for a captured value of a callee with these formals.
NodeRef actualOf(const NodeRef &captured, ArrayRef<NodeRef> formals);
/// The results of a function that returns `roots` for the values of `operands`.
std::vector<Tensor> callOf(func::FuncOp function, ArrayRef<NodeRef> roots,
                           const std::vector<NodeRef> &operands,
                           const std::shared_ptr<Callee> &callee, Here here,
                           bool checkpoint = false);
/// Sets `included` of those results of a call from which windows in the callee exclude elements.
void hideIncluded(ArrayRef<NodeRef> roots, ArrayRef<Tensor> results, Here here);

} // namespace heddle::detail

#endif // HEDDLE_LIB_BUILDER_FUNCTIONS_H
