//===- Operators.h - the operators of a program, and their names -*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans name the operators of a training step, and there is no list of kinds of operators. An
// operator is a nest that sums, gathers, scatters, sorts or scans, with the pointwise nests around
// it. Its name comes from the arguments of the function:
//
//     func.func @step(%x {nd.name = "x"}, %w {nd.name = "net.w"})
//         -> (loss, %w' {nd.name = "net.w"})
//
//     net.w           sum over `in` of %x * %w; it reads the parameter
//     net.w.2         the next sum, which reads no parameter: named as the operator before it, or
//     attention       by what the program called its value (nd::seenLoc)
//     net.w.dx        the gradient of an operand: reverse mode made it (nd::isGradient)
//     net.w.dw        the sum from which the next value of the parameter is computed
//     net.w.update    the pointwise nests that compute this value, and those of moments
//
// A parameter is an argument with a next value that other nests than its update read; in a function
// without next values, any argument is. If an operator reads several, the one with the longest path
// counts, since trees of parameters are deeper than inputs. Operators that would share a name get
// numbers, in the order of the program. So no name depends on the spelling of dimensions.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ANALYSIS_OPERATORS_H
#define HEDDLE_ANALYSIS_OPERATORS_H

#include "dialects/nd/Nd.h"

#include <string>
#include <vector>

namespace heddle {

struct Operator {
  std::string name;
  std::string base; ///< the name without suffix and number: that of a parameter and its gradients
  /// The nest that is not pointwise; of a scan also those within it. None for an update.
  SmallVector<Operation *, 2> roots;
  SmallVector<Operation *, 8> nests; ///< all, in the order of the program

  /// The ops that a split applies to, if they have the name: the roots, since pointwise nests
  /// follow by propagation; all nests of an operator without roots.
  ArrayRef<Operation *> splitNests() const;
};

/// Returns the operators of a function of nests, in the order of the program.
std::vector<Operator> operatorsOf(func::FuncOp function);

/// Returns the names over which a nest, a scan or a sort iterates: those that it produces, then
/// those that it sums over. None for other ops.
SmallVector<nd::DimsAttr, 2> iterationNamesOf(Operation *op);

/// The argument whose next value, in a series of calls, is this result: the one whose memory the
/// result reuses, or that has the same `nd.name`.
std::optional<unsigned> stateOf(func::FuncOp function, unsigned result);

} // namespace heddle

#endif // HEDDLE_ANALYSIS_OPERATORS_H
