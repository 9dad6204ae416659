//===- IndexCode.h - compiled index expressions -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An `Expr` with numbered slots instead of names, since a nest evaluates its maps at every point.
// It is not simplified, so that the oracle evaluates the expression as written.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_INTERP_INDEXCODE_H
#define HEDDLE_LIB_INTERP_INDEXCODE_H

#include "heddle/Expr.h"

namespace heddle::interp {

class IndexCode {
public:
  /// Returns the slot of a name.
  using SlotOf = std::function<unsigned(const std::string &name)>;
  IndexCode(const Expr &expr, const SlotOf &slotOf);
  int64_t evaluate(const std::vector<int64_t> &slots) const;
  /// The slots that the expression reads.
  const std::vector<unsigned> &uses() const { return used; }

private:
  struct Factor {
    Expr::Atom::Kind kind;
    unsigned slot = 0;
    int64_t divisor = 1;
    std::vector<IndexCode> operands;
  };
  struct Term {
    int64_t coefficient;
    std::vector<Factor> factors;
  };
  int64_t offset;
  std::vector<Term> terms;
  std::vector<unsigned> used;
};

} // namespace heddle::interp

#endif // HEDDLE_LIB_INTERP_INDEXCODE_H
