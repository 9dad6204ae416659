//===- KernelIteration.h - reads and iteration space of a kernel *- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reads of a kernel's bodies (heddle/Kernel.h), and the sizes of the names that it iterates
// over, which follow from what it reads:
//
//     at(x, {{"i", i + t}}) * at(w, {{"t", t}})      x: (i: 10), w: (t: 3)
//
//     t: 3, from w;  i: 8, the largest range in which i + t stays inside of x
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_BUILDER_KERNELITERATION_H
#define HEDDLE_LIB_BUILDER_KERNELITERATION_H

#include "lib/builder/Scalar.h"

#include "llvm/ADT/DenseMap.h"

#include <set>

namespace heddle::detail {

/// The distinct reads of bodies; reads that indices depend on come first.
struct KernelReads {
  std::vector<ScalarRef> list;
  llvm::DenseMap<const Scalar::Node *, unsigned> position;
  /// For index values that were stored as tensors, the reads of these tensors.
  llvm::DenseMap<const Scalar::Node *, ScalarRef> stored;
  std::vector<ScalarRef> computed; ///< index values that must be stored as tensors
  std::set<const Scalar::Node *> seen;
  mutable std::map<const Scalar::Node *, std::optional<Expr>> indices; ///< found by `affine`

  void collect(const ScalarRef &node);
  ScalarRef lookUp(const ScalarRef &value) const;
  /// A value as an affine expression of coordinates and of loaded integers, if it is one.
  std::optional<Expr> affine(const Scalar::Node &node) const;
  /// The index of a read along `name`: as written, or the name itself. None for a value that must
  /// become a tensor.
  std::optional<Expr> indexAlong(const Scalar::Node &read, llvm::StringRef name) const;
};

/// The iteration names that scalars and their reads depend on.
std::set<std::string> namesOf(const KernelReads &reads, llvm::ArrayRef<Scalar> scalars);

struct IterationSpace {
  ExprMap sizes; ///< of the names whose size is known
  std::map<std::string, std::string> from;
};
/// Sizes of iteration names: from names read directly, then from the largest range that stays
/// inside every tensor.
IterationSpace findSizes(const KernelReads &reads, const ExprMap &stated,
                         const std::set<std::string> &names, Here here);

} // namespace heddle::detail

#endif // HEDDLE_LIB_BUILDER_KERNELITERATION_H
