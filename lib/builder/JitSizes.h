//===- JitSizes.h - symbolic sizes of a compiled function -------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A name in `JitOptions::symbolic` has a symbol as its size, so that one program serves all sizes:
//
//     jit(f, {.symbolic = {batch.between(1, 64).multipleOf(8)}, .specialised = {batch(64)}})
//
//     f(x), x: {batch: 24, in: 3}     a program for {batch: 8 * batch_size, in: 3}, 1 to 8
//     f(x), x: {batch: 64, in: 3}     a program for {batch: 64, in: 3}
//
// A size with a relation, `padded = batch + 2`, is an expression over the symbols of other names.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_BUILDER_JITSIZES_H
#define HEDDLE_LIB_BUILDER_JITSIZES_H

#include "heddle/Jit.h"
#include "lib/builder/Graph.h"

namespace heddle::detail {

class JitSizes {
public:
  /// Throws Error, at the call of jit, for a range without a size and for contradictory relations.
  /// `options` must live as long as this object.
  JitSizes(const JitOptions &options, Here here);

  /// The types that a program is compiled for: sizes of symbolic names become symbols.
  std::vector<nd::NdTensorType> programTypes(const std::vector<Leaf> &leaves, Here here) const;
  /// Throws Error for a symbolic name that is neither a name of an argument nor in the size of one.
  void requireNames(ArrayRef<nd::NdTensorType> types, Here here) const;
  /// Writes the conditions on sizes to the function, in terms of the symbols of arguments.
  void declareRanges(func::FuncOp function) const;

private:
  const JitOptions &options;
  Here here; ///< source location of the call of jit

  const SymbolicSize *findSymbolic(StringRef name) const;
  /// The specialised sizes that occur in arguments of these types, as the size of the name or in an
  /// expression.
  Sizes specialSizes(ArrayRef<nd::NdTensorType> types) const;
  /// The size as an expression over symbols, with numbers for those in `special`.
  Expr sizeOf(const SymbolicSize &size, const Sizes &special, size_t depth = 0) const;
};

} // namespace heddle::detail

#endif // HEDDLE_LIB_BUILDER_JITSIZES_H
