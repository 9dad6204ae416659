//===- IndexCode.cpp - compiled index expressions -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/interp/IndexCode.h"

#include <algorithm>

namespace heddle::interp {

IndexCode::IndexCode(const Expr &expr, const SlotOf &slotOf) : offset(expr.offset()) {
  for (const Expr::Term &term : expr.terms()) {
    Term &made = terms.emplace_back();
    made.coefficient = term.coefficient;
    for (const Expr::AtomRef &atom : term.factors) {
      Factor &factor = made.factors.emplace_back();
      factor.kind = atom->kind;
      factor.divisor = atom->divisor;
      if (atom->kind == Expr::Atom::Kind::Name)
        used.push_back(factor.slot = slotOf(atom->name));
      for (const Expr &operand : atom->operands) {
        factor.operands.emplace_back(operand, slotOf);
        const IndexCode &inner = factor.operands.back();
        used.insert(used.end(), inner.used.begin(), inner.used.end());
      }
    }
  }
}

int64_t IndexCode::evaluate(const std::vector<int64_t> &slots) const {
  int64_t sum = offset;
  for (const Term &term : terms) {
    int64_t product = term.coefficient;
    for (const Factor &factor : term.factors) {
      auto operand = [&](size_t i) { return factor.operands[i].evaluate(slots); };
      switch (factor.kind) {
      case Expr::Atom::Kind::Name:
        product *= slots[factor.slot];
        break;
      case Expr::Atom::Kind::FloorDiv:
      case Expr::Atom::Kind::Mod: {
        int64_t value = operand(0), remainder = value % factor.divisor;
        if (remainder < 0)
          remainder += factor.divisor;
        product *=
            factor.kind == Expr::Atom::Kind::Mod ? remainder : (value - remainder) / factor.divisor;
        break;
      }
      case Expr::Atom::Kind::Min:
        product *= std::min(operand(0), operand(1));
        break;
      case Expr::Atom::Kind::Max:
        product *= std::max(operand(0), operand(1));
        break;
      }
    }
    sum += product;
  }
  return sum;
}

} // namespace heddle::interp
