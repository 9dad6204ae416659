//===- Combiner.h - named combiners -----------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reduction's combiner is a region of scalar code. Most combiners are one op; these have names,
// which the assembly format, differentiation and emission use. Any other region works too.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECTS_ND_COMBINER_H
#define HEDDLE_DIALECTS_ND_COMBINER_H

#include "dialects/nd/Nd.h"

namespace heddle::nd {

enum class CombinerKind { Add, Mul, Max, Min, And, Or, Xor, General };

/// "add", "max", ...; "general".
StringRef spelling(CombinerKind kind);
std::optional<CombinerKind> parseCombinerKind(StringRef text);

/// Determines what a combiner region computes from its ops; General if it is not a named combiner.
/// `isSigned` (if not null) receives the signedness of an integer Max or Min.
CombinerKind combinerKind(mlir::Region &region, bool *isSigned = nullptr);

/// Fills the empty `region` with the named combiner on `type`, terminated by `yieldName`
/// ("nd.yield" or "nest.yield"), and returns its neutral element.
TypedAttr buildCombiner(OpBuilder &builder, Location loc, mlir::Region &region, CombinerKind kind,
                        Type type, StringRef yieldName, bool isSigned = true);

/// The neutral element of a named combiner.
TypedAttr neutralElement(CombinerKind kind, Type type, bool isSigned = true);

/// Folds the scalar ops of `body` whose operands are in `known`, and adds their results to it.
void foldScalars(Block &body, DenseMap<Value, Attribute> &known);

/// Fails if `neutral` is not neutral for any of many sample values: combined with the value, as the
/// left operand and, if `fromRight`, as the right one, it must give the value. The region must be
/// verified.
LogicalResult verifyNeutral(Operation *op, mlir::Region &combiner, ArrayAttr neutral,
                            bool fromRight = true);

} // namespace heddle::nd

#endif // HEDDLE_DIALECTS_ND_COMBINER_H
