//===- Literal.h - what a constant holds ------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A constant lists its names, and its elements in that order. One that a fold made has some order,
// and a splat or one without elements any, so forms of ops don't go by it:
//
//     dense<[[1, 2], [1, 2]]> by [row, column]        dense<[[1, 1], [2, 2]]> by [column, row]
//
// both are `1, 2 along column`: elements differ along that name alone.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ANALYSIS_LITERAL_H
#define HEDDLE_ANALYSIS_LITERAL_H

#include "lib/analysis/Canonical.h"

namespace heddle {

class Literal {
public:
  explicit Literal(nd::ConstantOp constant);

  /// The elements under labels, which several names may share. Those of a large constant are in the
  /// written order.
  std::string text(const Labels &labels) const;

private:
  struct Dimension {
    std::string name;
    int64_t size, stride;
  };
  std::vector<Dimension> dims; ///< along which elements differ, as they are listed
  std::vector<std::string> elements;
  std::string whole; ///< instead of elements that stay in their order

  std::string inOrder(llvm::ArrayRef<unsigned> order) const;
};

} // namespace heddle

#endif // HEDDLE_ANALYSIS_LITERAL_H
