//===- NestVerify.h - what verifiers of nests share -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECTS_NEST_NESTVERIFY_H
#define HEDDLE_DIALECTS_NEST_NESTVERIFY_H

#include "dialects/nest/Nest.h"

#include "llvm/ADT/StringSet.h"

namespace heddle::nest {

/// Names that maps may use: those of the nest, of enclosing groups, and size symbols of the
/// function.
struct NameScope {
  Operation *op;
  SmallVector<nd::DimsAttr, 2> own;
  mutable std::optional<llvm::StringSet<>> symbols; ///< of all arguments, collected on demand

  NameScope(Operation *op, ArrayRef<nd::DimsAttr> own) : op(op), own(own) {}
  bool contains(StringRef name) const;
  /// The names, for messages.
  std::string str() const;
};

/// An error of `op` with a note at the terminator of its region.
mlir::InFlightDiagnostic yieldError(Operation *op, Operation *yield);
/// The last op of a block, for messages.
std::string endOf(Block &block);

/// c9; `operands` are the operands that a schedule may stage.
LogicalResult verifySchedule(ScheduledInterface op, nd::DimsAttr produced,
                             nd::DimsAttr reduced = {}, ValueRange operands = {});
/// The same for an op that runs its own code at each point of some names, and over reduced ones.
LogicalResult verifyPoints(ScheduledInterface op, nd::DimsAttr reduced = {});

} // namespace heddle::nest

#endif // HEDDLE_DIALECTS_NEST_NESTVERIFY_H
