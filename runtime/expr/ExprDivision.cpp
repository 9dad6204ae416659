//===- ExprDivision.cpp - quotients, remainders, minima and maxima --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/Error.h"
#include "heddle/Expr.h"
#include "runtime/expr/Integer.h"

#include <algorithm>
#include <numeric>

using namespace heddle;

static void requirePositive(int64_t divisor, Here here) {
  if (divisor <= 0)
    throw Error("expected a positive divisor, got " + std::to_string(divisor), here);
}

Expr Expr::floordiv(int64_t divisor, Here here) const {
  requirePositive(divisor, here);
  if (divisor == 1 || isTooLarge())
    return *this;
  // Multiples of the divisor move out of the division.
  Expr whole(floorDivide(constantPart, divisor)), rest(floorModulo(constantPart, divisor));
  for (const Term &term : termList) {
    int64_t quotient = floorDivide(term.coefficient, divisor),
            remainder = floorModulo(term.coefficient, divisor);
    if (quotient)
      whole.addTerm({quotient, term.factors});
    if (remainder)
      rest.addTerm({remainder, term.factors});
  }
  if (rest.isConstant())
    return whole;
  // A common factor cancels; rounding the constant down to its multiple does not change the
  // quotient.
  int64_t common = divisor;
  for (const Term &term : rest.termList)
    common = std::gcd(common, term.coefficient);
  if (common > 1) {
    rest.constantPart = floorDivide(rest.constantPart, common);
    for (Term &term : rest.termList)
      term.coefficient /= common;
    divisor /= common;
  }
  if (divisor == 1)
    return whole + rest;
  // (x + y floordiv a) floordiv b is (a * x + y) floordiv (a * b).
  auto division = std::find_if(rest.termList.begin(), rest.termList.end(), [&](const Term &term) {
    return term.coefficient == 1 && term.factors.size() == 1 &&
           term.factors[0]->kind == Atom::Kind::FloorDiv &&
           term.factors[0]->divisor <= INT64_MAX / divisor / divisor;
  });
  if (division != rest.termList.end()) {
    AtomRef inner = division->factors[0];
    rest.termList.erase(division);
    return whole +
           (rest * Expr(inner->divisor) + inner->operands[0]).floordiv(inner->divisor * divisor);
  }
  // (x mod (a * b)) floordiv b is (x floordiv b) mod a.
  if (rest.constantPart == 0 && rest.termList.size() == 1 && rest.termList[0].coefficient == 1 &&
      rest.termList[0].factors.size() == 1 &&
      rest.termList[0].factors[0]->kind == Atom::Kind::Mod &&
      rest.termList[0].factors[0]->divisor % divisor == 0) {
    const Atom &inner = *rest.termList[0].factors[0];
    return whole + inner.operands[0].floordiv(divisor).mod(inner.divisor / divisor);
  }
  return whole + ofAtom(Atom{Atom::Kind::FloorDiv, "", {rest}, divisor});
}

Expr Expr::mod(int64_t divisor, Here here) const {
  requirePositive(divisor, here);
  if (isTooLarge())
    return *this;
  if (divisor == 1)
    return Expr(0);
  Expr rest(floorModulo(constantPart, divisor));
  for (const Term &term : termList)
    if (int64_t remainder = floorModulo(term.coefficient, divisor))
      rest.addTerm({remainder, term.factors});
  if (rest.isConstant())
    return rest;
  int64_t common = divisor;
  for (const Term &term : rest.termList)
    common = std::gcd(common, term.coefficient);
  if (common > 1) {
    // (c * x + c * q + r) mod (c * d) with 0 <= r < c is c * ((x + q) mod d) + r.
    int64_t low = floorModulo(rest.constantPart, common);
    rest.constantPart = floorDivide(rest.constantPart, common);
    for (Term &term : rest.termList)
      term.coefficient /= common;
    return Expr(common) * rest.mod(divisor / common) + Expr(low);
  }
  // (e * (x mod m) + y) mod d is (e * x + y) mod d if d divides e * m.
  for (const Term &term : rest.termList)
    if (const Atom &inner = *term.factors[0];
        term.factors.size() == 1 && inner.kind == Atom::Kind::Mod &&
        __int128(term.coefficient) * inner.divisor % divisor == 0)
      return (rest - ofTerm(term) + inner.operands[0] * Expr(term.coefficient)).mod(divisor);
  return ofAtom(Atom{Atom::Kind::Mod, "", {rest}, divisor});
}

static Expr extremum(const Expr &a, const Expr &b, bool isMin) {
  if (auto difference = (a - b).constant())
    return (*difference <= 0) == isMin ? a : b;
  return Expr();
}

Expr Expr::min(const Expr &a, const Expr &b) {
  if ((a - b).isConstant())
    return extremum(a, b, true);
  bool swap = b < a;
  return ofAtom(
      Atom{Atom::Kind::Min, "", swap ? std::vector<Expr>{b, a} : std::vector<Expr>{a, b}});
}

Expr Expr::max(const Expr &a, const Expr &b) {
  if ((a - b).isConstant())
    return extremum(a, b, false);
  bool swap = b < a;
  return ofAtom(
      Atom{Atom::Kind::Max, "", swap ? std::vector<Expr>{b, a} : std::vector<Expr>{a, b}});
}
