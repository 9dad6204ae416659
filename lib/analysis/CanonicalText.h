//===- CanonicalText.h - texts of ops under labels --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The texts from which canonical forms are chosen. A text depends on names only through their
// labels, and not on the order of what has no order: names of a type, operands of a commutative op,
// conditions of a guard.
//
//     %y = nd.reduce %x over [k]      with k: d0, m: d1      nd.reduce names=[d0] of v3{...} by ...
//
// Long texts of scalar code are replaced by hashes.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ANALYSIS_CANONICALTEXT_H
#define HEDDLE_ANALYSIS_CANONICALTEXT_H

#include "lib/analysis/Canonical.h"

namespace heddle::canonical {

/// The part of a scalar op's text that does not depend on labels; cached, since canonicalisation
/// prints an op many times.
struct ScalarHead {
  std::string name, type;
  bool isCommutative;
};
using ScalarHeads = DenseMap<Operation *, ScalarHead>;

std::string sortedJoin(std::vector<std::string> parts);
std::string typeText(Type type, const Labels &labels);

std::string ndText(Operation *op, ArrayRef<OperandIdentity> operands, const Labels &labels,
                   ScalarHeads &heads);
std::string computeText(nest::ComputeOp op, ArrayRef<OperandIdentity> operands,
                        const Labels &labels, ScalarHeads &heads);
std::string updateText(nest::UpdateOp op, ArrayRef<OperandIdentity> operands, const Labels &labels,
                       ScalarHeads &heads);

} // namespace heddle::canonical

#endif // HEDDLE_ANALYSIS_CANONICALTEXT_H
