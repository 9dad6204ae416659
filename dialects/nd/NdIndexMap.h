//===- NdIndexMap.h - result types of the op interfaces ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The types that the interfaces in NdInterfaces.td return. An `IndexMap` gives the coordinates of
// the operand that an op reads for each element of its result. For a window of `row: 28` by a tap
// `ky: 3` with padding 0.0 and one row of padding on either side:
//
//     coordinates  {row: row + ky - 1}
//     conditions   row + ky - 1 >= 0, 28 - row - ky >= 0
//     outside      0.0
//
// Lowering to nests, simplification and differentiation share this description; the interpreter has
// its own.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECTS_ND_NDINDEXMAP_H
#define HEDDLE_DIALECTS_ND_NDINDEXMAP_H

#include "heddle/Expr.h"
#include "lib/support/Mlir.h"

namespace heddle::nd {

/// The coordinates at which an op with one operand reads it, over the names of its result.
struct IndexMap {
  /// `expr >= 0`, or `expr == 0`.
  struct Condition {
    Expr expr;
    bool isEquality = false;
  };

  /// The coordinate for each name of the operand that does not map to itself.
  ExprMap coordinates;
  /// The operand is read only if all of these hold.
  SmallVector<Condition> conditions = {};
  /// The element if a condition fails; null: the reduction that follows excludes the point.
  TypedAttr outside = {};

  bool excludes() const { return !conditions.empty() && !outside; }
  /// True if every name maps to itself.
  bool isIdentity() const {
    return llvm::all_of(coordinates,
                        [](const auto &entry) { return entry.second == Expr::name(entry.first); });
  }
};

/// The names before and after a rename, in pairs; names that are not listed stay:
///
///     nd.rename %x [row] to [r] : ... row, column -> ... r, column
///     after("row") is "r", before("r") is "row"; "column" is "column"
struct Renaming {
  ArrayAttr from, to;

  /// The name in the result of a name of the operand.
  StringRef after(StringRef inputName) const { return across(from, to, inputName); }
  /// The name in the operand of a name of the result.
  StringRef before(StringRef resultName) const { return across(to, from, resultName); }

private:
  static StringRef across(ArrayAttr here, ArrayAttr there, StringRef name);
};

/// The renaming that an op performs, if it does nothing else. `op` may be null.
std::optional<Renaming> renamingOf(Operation *op);

/// An access at a computed coordinate along one name: to `count` elements from `index` on.
struct IndexedAccess {
  StringRef name;
  Value index;
  Expr size;  ///< of `name` in the tensor that is accessed
  Expr count; ///< of elements along `name`
  bool isRange = false;
};

/// A condition on sizes: `got` is at most `most` unless `elements`, a number of elements, is 0.
/// `part` describes the quantity of `name` in the error message.
struct SizeCondition {
  StringRef name;
  Expr got, most, elements = 1;
  StringRef part = "the size of";
};

} // namespace heddle::nd

#endif // HEDDLE_DIALECTS_ND_NDINDEXMAP_H
