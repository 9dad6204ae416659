//===- ExprRanges.cpp - bounds and simplification of expressions ----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Expr.h"

#include "runtime/expr/Integer.h"

#include <algorithm>
#include <numeric>
#include <set>

using namespace heddle;

static bool sameProduct(const std::vector<Expr::AtomRef> &a, const std::vector<Expr::AtomRef> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto &x, const auto &y) { return x->compare(*y) == 0; });
}

namespace {
/// Finds the bounds of one expression.
class BoundsFinder {
public:
  explicit BoundsFinder(const Ranges &ranges) : ranges(ranges) {}
  std::optional<Range> of(const Expr &sum);

private:
  const Ranges &ranges;
  /// The number of recombinations of divisions that are left. Each tightens the bounds, but the
  /// result depends on their order, and trying all orders would take too long.
  int rounds = 64;

  std::optional<Range> ofAtom(const Expr::Atom &atom);
  std::optional<Range> termwise(const Expr &sum);
};
} // namespace

std::optional<Range> BoundsFinder::ofAtom(const Expr::Atom &atom) {
  using Kind = Expr::Atom::Kind;
  if (atom.kind == Kind::Name) {
    auto found = ranges.find(atom.name);
    return found == ranges.end() ? std::nullopt : std::optional<Range>(found->second);
  }
  auto a = of(atom.operands[0]);
  if (atom.kind == Kind::Mod) {
    if (a && floorDivide(a->low, atom.divisor) == floorDivide(a->high, atom.divisor))
      return Range{floorModulo(a->low, atom.divisor), floorModulo(a->high, atom.divisor)};
    return Range{0, atom.divisor - 1};
  }
  if (!a)
    return std::nullopt;
  if (atom.kind == Kind::FloorDiv)
    return Range{floorDivide(a->low, atom.divisor), floorDivide(a->high, atom.divisor)};
  auto b = of(atom.operands[1]);
  if (!b)
    return std::nullopt;
  if (atom.kind == Kind::Min)
    return Range{std::min(a->low, b->low), std::min(a->high, b->high)};
  return Range{std::max(a->low, b->low), std::max(a->high, b->high)};
}

/// The sum of the bounds of all terms; none on overflow.
std::optional<Range> BoundsFinder::termwise(const Expr &sum) {
  __int128 low = sum.offset(), high = sum.offset();
  auto fits = [](__int128 value) { return value >= INT64_MIN && value <= INT64_MAX; };
  for (const Expr::Term &term : sum.terms()) {
    Range product{term.coefficient, term.coefficient};
    for (const Expr::AtomRef &atom : term.factors) {
      auto factor = ofAtom(*atom);
      if (!factor)
        return std::nullopt;
      __int128 corners[] = {
          __int128(product.low) * factor->low, __int128(product.low) * factor->high,
          __int128(product.high) * factor->low, __int128(product.high) * factor->high};
      auto [least, most] = std::minmax_element(corners, corners + 4);
      if (!fits(*least) || !fits(*most))
        return std::nullopt;
      product = {int64_t(*least), int64_t(*most)};
    }
    low += product.low;
    high += product.high;
  }
  if (!fits(low) || !fits(high))
    return std::nullopt;
  return Range{int64_t(low), int64_t(high)};
}

std::optional<Range> BoundsFinder::of(const Expr &sum) {
  if (sum.isTooLarge())
    return std::nullopt;
  auto best = termwise(sum);
  // The canonical form pulls multiples out of divisions: `(15 - x) floordiv 16` is
  // `(15 * x + 15) floordiv 16 - x`. The separate bounds of the two terms are loose, so recombine
  // them.
  for (const Expr::Term &division : sum.terms()) {
    const Expr::Atom &atom = *division.factors[0];
    if (division.factors.size() != 1 || atom.kind != Expr::Atom::Kind::FloorDiv ||
        sum.terms().size() == 1)
      continue;
    Expr inside, rest;
    bool absorbed = false;
    for (const Expr::Term &part : atom.operands[0].terms())
      for (const Expr::Term &outer : sum.terms()) {
        __int128 times = __int128(outer.coefficient) / division.coefficient,
                 scaled = times * atom.divisor;
        if (&outer == &division || times * division.coefficient != outer.coefficient ||
            scaled != int64_t(scaled) || !sameProduct(outer.factors, part.factors))
          continue;
        inside =
            (absorbed ? inside : atom.operands[0]) + Expr::ofTerm({int64_t(scaled), outer.factors});
        rest = (absorbed ? rest : sum - Expr::ofTerm(division)) - Expr::ofTerm(outer);
        absorbed = true;
      }
    if (!absorbed)
      continue;
    if (--rounds < 0)
      break;
    auto numerator = of(inside), others = of(rest);
    if (!numerator || !others)
      continue;
    Range quotient{floorDivide(numerator->low, atom.divisor),
                   floorDivide(numerator->high, atom.divisor)};
    if (division.coefficient < 0)
      std::swap(quotient.low, quotient.high);
    __int128 low = others->low + __int128(division.coefficient) * quotient.low,
             high = others->high + __int128(division.coefficient) * quotient.high;
    if (low < INT64_MIN || high > INT64_MAX)
      continue;
    Range whole{int64_t(low), int64_t(high)};
    best = best ? Range{std::max(best->low, whole.low), std::min(best->high, whole.high)} : whole;
  }
  return best;
}

std::optional<Range> Expr::bounds(const Ranges &ranges) const {
  return BoundsFinder(ranges).of(*this);
}

/// Splits a sum into multiples of `step` and a rest in [0, step); none if the rest may be outside.
/// The residue of a coefficient may be negative: 15 * x is also 16 * x - x.
static std::optional<std::pair<Expr, Expr>> splitSum(const Expr &sum, int64_t step,
                                                     const Ranges &ranges) {
  for (bool signedResidue : {false, true}) {
    Expr whole(floorDivide(sum.offset(), step) * step), rest(floorModulo(sum.offset(), step));
    bool flipped = false;
    for (const Expr::Term &term : sum.terms()) {
      int64_t residue = floorModulo(term.coefficient, step);
      if (signedResidue && 2 * residue > step) {
        residue -= step;
        flipped = true;
      }
      if (residue != term.coefficient)
        whole = whole + Expr::ofTerm({term.coefficient - residue, term.factors});
      if (residue)
        rest = rest + Expr::ofTerm({residue, term.factors});
    }
    if (signedResidue && !flipped)
      continue;
    auto bounds = rest.bounds(ranges);
    if (!bounds)
      continue;
    // The rest may lie in any one interval [k * step, (k + 1) * step).
    int64_t shift = floorDivide(bounds->low, step);
    if (shift == floorDivide(bounds->high, step))
      return std::pair(whole + Expr(shift * step), rest - Expr(shift * step));
  }
  return std::nullopt;
}

/// Divisors of `divisor` that are common factors of coefficients: the largest few, in descending
/// order.
static std::vector<int64_t> candidateSteps(const Expr &sum, int64_t divisor) {
  std::set<int64_t, std::greater<>> steps{divisor};
  for (const Expr::Term &term : sum.terms())
    if (int64_t common = std::gcd(term.coefficient, divisor); common > 1 && steps.size() < 32)
      steps.insert(common);
  return {steps.begin(), steps.end()};
}

static Expr simplifyDivision(const Expr &operand, int64_t divisor, bool remainder,
                             const Ranges &ranges) {
  for (int64_t step : candidateSteps(operand, divisor)) {
    auto parts = splitSum(operand, step, ranges);
    if (!parts)
      continue;
    auto &[whole, rest] = *parts;
    // operand = whole + rest, where step divides whole and divisor, and 0 <= rest < step.
    if (!remainder)
      return whole.floordiv(divisor); // (whole + rest) floordiv divisor == whole floordiv divisor
    return whole.mod(divisor) + rest;
  }
  return remainder ? operand.mod(divisor) : operand.floordiv(divisor);
}

Expr Expr::simplify(const Ranges &ranges) const {
  int rounds = 256; // far more than any terminating simplification needs
  return simplify(ranges, rounds);
}

Expr Expr::simplify(const Ranges &ranges, int &rounds) const {
  bool atomic = true;
  for (const Term &term : termList)
    for (const AtomRef &atom : term.factors)
      atomic &= atom->kind == Atom::Kind::Name;
  auto fixed = [&](const std::string &name) -> std::optional<Expr> {
    auto found = ranges.find(name);
    if (found != ranges.end() && found->second.low == found->second.high)
      return Expr(found->second.low);
    return std::nullopt;
  };
  if (atomic) {
    bool any = false;
    for (const Term &term : termList)
      for (const AtomRef &atom : term.factors) {
        auto found = ranges.find(atom->name);
        any |= found != ranges.end() && found->second.low == found->second.high;
      }
    return any ? substitute(fixed) : *this;
  }
  Expr result = replaceAtoms([&](const AtomRef &atom) -> Expr {
    auto operand = [&](size_t i) { return atom->operands[i].simplify(ranges, rounds); };
    switch (atom->kind) {
    case Atom::Kind::Name: {
      auto value = fixed(atom->name);
      return value ? *value : ofAtom(atom);
    }
    case Atom::Kind::FloorDiv:
    case Atom::Kind::Mod:
      return simplifyDivision(operand(0), atom->divisor, atom->kind == Atom::Kind::Mod, ranges);
    case Atom::Kind::Min:
    case Atom::Kind::Max: {
      Expr a = operand(0), b = operand(1);
      auto difference = (a - b).bounds(ranges);
      bool isMin = atom->kind == Atom::Kind::Min;
      if (difference && difference->high <= 0)
        return isMin ? a : b;
      if (difference && difference->low >= 0)
        return isMin ? b : a;
      return isMin ? min(a, b) : max(a, b);
    }
    }
    return {};
  });
  return result == *this || --rounds < 0 ? result : result.simplify(ranges, rounds);
}
