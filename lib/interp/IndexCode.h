//===- IndexCode.h - index expressions, prepared ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An Expr whose names have been turned into numbered slots, because a nest evaluates its maps at
// every point. Nothing is simplified: what is evaluated is what was written.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_INTERP_INDEXCODE_H
#define HEDDLE_LIB_INTERP_INDEXCODE_H

#include "heddle/Expr.h"

namespace heddle::interp {

class IndexCode {
public:
  /// Gives the slot of a name.
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
