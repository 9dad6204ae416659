//===- LiteralText.h - canonical texts of constants -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A constant lists its names, and its elements in that order. The order may come from a fold, and a
// splat may have any order, so canonical forms of ops do not depend on it:
//
//     dense<[[1, 2], [1, 2]]> by [row, column]        dense<[[1, 1], [2, 2]]> by [column, row]
//
// are both `1, 2 along column`: elements differ only along that name.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_ANALYSIS_LITERALTEXT_H
#define HEDDLE_LIB_ANALYSIS_LITERALTEXT_H

#include "lib/analysis/Canonical.h"

namespace heddle {

class Literal {
public:
  explicit Literal(nd::LiteralInterface constant);

  /// The text of the elements, with labels for names; several names may share a label. The elements
  /// of a large constant stay in the written order.
  std::string text(const Labels &labels) const;

private:
  struct Dimension {
    std::string name;
    int64_t size, stride;
  };
  std::vector<Dimension> dims; ///< those along which elements differ, in the listed order
  std::vector<std::string> elements;
  std::string whole; ///< replaces `elements` if these are not reordered

  std::string inOrder(ArrayRef<unsigned> order) const;
};

} // namespace heddle

#endif // HEDDLE_LIB_ANALYSIS_LITERALTEXT_H
