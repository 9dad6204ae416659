//===- Expr.cpp - canonical integer expressions over names ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/Expr.h"

#include "runtime/expr/Integer.h"

#include <algorithm>

using namespace heddle;

// Out of line, because nearly every file passes expressions by value and would compile these.
Expr::Expr(int64_t constant) : constantPart(constant) {}
Expr::Expr(const Expr &other) = default;
Expr::Expr(Expr &&other) noexcept = default;
Expr &Expr::operator=(const Expr &other) = default;
Expr &Expr::operator=(Expr &&other) noexcept = default;
Expr::~Expr() = default;

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

int Expr::Atom::compare(const Atom &other) const {
  if (this == &other)
    return 0;
  if (kind != other.kind)
    return kind < other.kind ? -1 : 1;
  if (int order = name.compare(other.name))
    return order < 0 ? -1 : 1;
  if (divisor != other.divisor)
    return divisor < other.divisor ? -1 : 1;
  if (operands.size() != other.operands.size())
    return operands.size() < other.operands.size() ? -1 : 1;
  for (size_t i = 0; i < operands.size(); ++i)
    if (int order = operands[i].compare(other.operands[i]))
      return order;
  return 0;
}

static int compareFactors(const std::vector<Expr::AtomRef> &a,
                          const std::vector<Expr::AtomRef> &b) {
  if (a.size() != b.size())
    return a.size() < b.size() ? -1 : 1;
  for (size_t i = 0; i < a.size(); ++i)
    if (int order = a[i]->compare(*b[i]))
      return order;
  return 0;
}

int Expr::compare(const Expr &other) const {
  if (termList.size() != other.termList.size())
    return termList.size() < other.termList.size() ? -1 : 1;
  for (size_t i = 0; i < termList.size(); ++i) {
    if (int order = compareFactors(termList[i].factors, other.termList[i].factors))
      return order;
    if (termList[i].coefficient != other.termList[i].coefficient)
      return termList[i].coefficient < other.termList[i].coefficient ? -1 : 1;
  }
  if (constantPart != other.constantPart)
    return constantPart < other.constantPart ? -1 : 1;
  return 0;
}

static size_t mix(size_t seed, size_t value) {
  return seed ^ (value + 0x9e3779b97f4a7c15ull + (seed << 6) + (seed >> 2));
}

size_t Expr::hash() const {
  size_t seed = mix(termList.size(), size_t(constantPart));
  for (const Term &term : termList) {
    seed = mix(seed, size_t(term.coefficient));
    for (const AtomRef &atom : term.factors) {
      seed = mix(seed, size_t(atom->kind));
      seed = mix(seed, std::hash<std::string>()(atom->name));
      seed = mix(seed, size_t(atom->divisor));
      for (const Expr &operand : atom->operands)
        seed = mix(seed, operand.hash());
    }
  }
  return seed;
}

//===----------------------------------------------------------------------===//
// Sums and products
//===----------------------------------------------------------------------===//

bool heddle::isValidName(std::string_view name) {
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (name.empty() || !letter(name[0]))
    return false;
  return std::all_of(name.begin(), name.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '$' || c == '.';
  });
}

Expr Expr::ofAtom(AtomRef atom, int64_t coefficient) {
  Expr result;
  if (coefficient != 0)
    result.termList.push_back({coefficient, {std::move(atom)}});
  return result;
}

Expr Expr::ofAtom(Atom atom) {
  for (const Expr &operand : atom.operands) {
    if (operand.isTooLarge())
      return operand;
    for (const Term &term : operand.termList)
      for (const AtomRef &inner : term.factors) {
        atom.factors += inner->factors;
        atom.nested = std::max(atom.nested, inner->nested + 1);
      }
  }
  if (atom.factors > mostFactors || atom.nested > mostNested)
    return tooLarge();
  return ofAtom(std::make_shared<Atom>(std::move(atom)));
}

Expr Expr::name(std::string_view name) {
  return ofAtom(std::make_shared<Atom>(Atom{Atom::Kind::Name, std::string(name), {}}));
}

/// A spelling that no name can have.
static constexpr std::string_view tooLargeName = "<too large>";

Expr Expr::tooLarge() { return name(tooLargeName); }

bool Expr::isTooLarge() const {
  return termList.size() == 1 && termList[0].factors.size() == 1 &&
         termList[0].factors[0]->name == tooLargeName;
}

std::string Expr::limits() {
  return "an expression of at most " + std::to_string(mostTerms) + " terms, " +
         std::to_string(mostFactors) + " factors and " + std::to_string(mostNested) +
         " nested divisions, minima and maxima";
}

bool Expr::exceeds() const {
  size_t factors = 0;
  for (const Term &term : termList)
    for (const AtomRef &atom : term.factors)
      factors += atom->factors;
  return termList.size() > mostTerms || factors > mostFactors;
}

Expr Expr::finished(Expr sum) {
  if (sum.exceeds())
    return tooLarge();
  // Only the sum of a division and a remainder can be recombined.
  bool hasMod = false, hasDiv = false;
  for (const Term &term : sum.termList)
    for (const AtomRef &atom : term.factors) {
      hasMod |= atom->kind == Atom::Kind::Mod;
      hasDiv |= atom->kind == Atom::Kind::FloorDiv;
    }
  if (hasMod && hasDiv)
    while (sum.recombine()) {
    }
  return sum;
}

static bool isBefore(const Expr::Term &a, const Expr::Term &b) {
  return compareFactors(a.factors, b.factors) < 0;
}

void Expr::addTerm(Term term) {
  auto position = std::lower_bound(termList.begin(), termList.end(), term, isBefore);
  if (position == termList.end() || compareFactors(position->factors, term.factors) != 0) {
    termList.insert(position, std::move(term));
    return;
  }
  position->coefficient = wrappingAdd(position->coefficient, term.coefficient);
  if (position->coefficient == 0)
    termList.erase(position);
}

Expr Expr::ofTerm(Term term) {
  Expr result;
  if (term.coefficient != 0)
    result.termList.push_back(std::move(term));
  return result;
}

/// The factors of a product other than the one at `index`.
static std::vector<Expr::AtomRef> without(const std::vector<Expr::AtomRef> &factors, size_t index) {
  std::vector<Expr::AtomRef> result = factors;
  result.erase(result.begin() + index);
  return result;
}

static Expr product(int64_t coefficient, const std::vector<Expr::AtomRef> &factors) {
  return factors.empty() ? Expr(coefficient) : Expr::ofTerm({coefficient, factors});
}

/// c * k * (x floordiv k) * f + c * (x mod k) * f is c * x * f. Looks for the quotient in its
/// canonical form: that of `(x floordiv 4) floordiv 4` is `x floordiv 16`. Returns true if the sum
/// changed.
bool Expr::recombine() {
  for (size_t m = 0; m < termList.size(); ++m) {
    for (size_t i = 0; i < termList[m].factors.size(); ++i) {
      const Atom &remainder = *termList[m].factors[i];
      if (remainder.kind != Atom::Kind::Mod)
        continue;
      Expr operand = remainder.operands[0];
      std::vector<AtomRef> others = without(termList[m].factors, i);
      int64_t coefficient = termList[m].coefficient;
      Expr quotient = operand.floordiv(remainder.divisor) *
                      product(wrappingMultiply(coefficient, remainder.divisor), others);
      if (quotient.termList.size() != 1 || quotient.constantPart != 0)
        continue;
      const Term &wanted = quotient.termList[0];
      auto found = std::lower_bound(termList.begin(), termList.end(), wanted, isBefore);
      auto d = size_t(found - termList.begin());
      if (found == termList.end() || d == m || found->coefficient != wanted.coefficient ||
          compareFactors(found->factors, wanted.factors) != 0)
        continue;
      termList.erase(termList.begin() + std::max(m, d));
      termList.erase(termList.begin() + std::min(m, d));
      *this = *this + operand * product(coefficient, others);
      return true;
    }
  }
  return false;
}

/// Merges the terms of `a` and `times` those of `b`.
static std::vector<Expr::Term> sumOf(const std::vector<Expr::Term> &a,
                                     const std::vector<Expr::Term> &b, int64_t times) {
  std::vector<Expr::Term> sum;
  sum.reserve(a.size() + b.size());
  auto left = a.begin();
  for (const Expr::Term &term : b) {
    int order = -1;
    while (left != a.end() && (order = compareFactors(left->factors, term.factors)) < 0)
      sum.push_back(*left++);
    int64_t coefficient = wrappingMultiply(term.coefficient, times);
    if (left != a.end() && order == 0)
      coefficient = wrappingAdd(left++->coefficient, coefficient);
    if (coefficient != 0)
      sum.push_back({coefficient, term.factors});
  }
  sum.insert(sum.end(), left, a.end());
  return sum;
}

Expr Expr::operator+(const Expr &other) const {
  if (isTooLarge() || other.isTooLarge())
    return tooLarge();
  Expr result(wrappingAdd(constantPart, other.constantPart));
  result.termList = sumOf(termList, other.termList, 1);
  return other.isConstant() || isConstant() ? result : finished(std::move(result));
}

Expr Expr::operator-(const Expr &other) const {
  if (isTooLarge() || other.isTooLarge())
    return tooLarge();
  Expr result(wrappingAdd(constantPart, wrappingMultiply(other.constantPart, -1)));
  result.termList = sumOf(termList, other.termList, -1);
  return other.isConstant() || isConstant() ? result : finished(std::move(result));
}

Expr Expr::operator*(const Expr &other) const {
  if (isTooLarge() || other.isTooLarge())
    return tooLarge();
  if (auto factor = other.constant()) {
    if (*factor == 0)
      return Expr(0);
    Expr result(wrappingMultiply(constantPart, *factor));
    for (const Term &term : termList)
      if (int64_t coefficient = wrappingMultiply(term.coefficient, *factor))
        result.termList.push_back({coefficient, term.factors});
    return result;
  }
  if (isConstant())
    return other * *this;
  Expr result = *this * Expr(other.constantPart) + other * Expr(constantPart) -
                Expr(wrappingMultiply(constantPart, other.constantPart));
  for (const Term &a : termList) {
    if (result.isTooLarge() || result.exceeds())
      return tooLarge();
    for (const Term &b : other.termList) {
      Term product{wrappingMultiply(a.coefficient, b.coefficient), {}};
      std::merge(a.factors.begin(), a.factors.end(), b.factors.begin(), b.factors.end(),
                 std::back_inserter(product.factors),
                 [](const AtomRef &x, const AtomRef &y) { return x->compare(*y) < 0; });
      if (product.coefficient != 0)
        result.addTerm(std::move(product));
    }
  }
  return finished(std::move(result));
}
