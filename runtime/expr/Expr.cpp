//===- Expr.cpp - canonical integer expressions over names ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/expr/Expr.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <set>

using namespace heddle;

static int64_t floorDivide(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return (a % b != 0 && (a % b < 0) != (b < 0)) ? quotient - 1 : quotient;
}
static int64_t floorModulo(int64_t a, int64_t b) { return a - floorDivide(a, b) * b; }

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

static int compareFactors(const std::vector<Expr::AtomRef> &a, const std::vector<Expr::AtomRef> &b) {
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

Expr Expr::name(std::string_view name) {
  return ofAtom(std::make_shared<Atom>(Atom{Atom::Kind::Name, std::string(name), {}, 0}));
}

void Expr::addTerm(Term term) {
  auto place = std::lower_bound(termList.begin(), termList.end(), term, [](const Term &a, const Term &b) {
    return compareFactors(a.factors, b.factors) < 0;
  });
  if (place == termList.end() || compareFactors(place->factors, term.factors) != 0) {
    termList.insert(place, std::move(term));
    return;
  }
  place->coefficient += term.coefficient;
  if (place->coefficient == 0)
    termList.erase(place);
}

Expr Expr::ofTerm(Term term) {
  Expr result;
  if (term.coefficient != 0)
    result.termList.push_back(std::move(term));
  return result;
}

/// c * k * (x floordiv k) + c * (x mod k) is c * x. Returns true if it changed the sum.
static bool recombine(Expr &sum) {
  auto soleAtom = [](const Expr::Term &term) { return term.factors.size() == 1 ? term.factors[0].get() : nullptr; };
  for (const Expr::Term &mod : sum.terms()) {
    const Expr::Atom *remainder = soleAtom(mod);
    if (!remainder || remainder->kind != Expr::Atom::Kind::Mod)
      continue;
    for (const Expr::Term &div : sum.terms()) {
      const Expr::Atom *quotient = soleAtom(div);
      if (!quotient || quotient->kind != Expr::Atom::Kind::FloorDiv || quotient->divisor != remainder->divisor ||
          div.coefficient != mod.coefficient * remainder->divisor ||
          quotient->operands[0].compare(remainder->operands[0]) != 0)
        continue;
      Expr rest(sum.offset());
      for (const Expr::Term &term : sum.terms())
        if (&term != &mod && &term != &div)
          rest = rest + Expr::ofTerm(term);
      sum = rest + Expr(mod.coefficient) * remainder->operands[0];
      return true;
    }
  }
  return false;
}

Expr Expr::operator+(const Expr &other) const {
  Expr result = *this;
  result.constantPart += other.constantPart;
  for (const Term &term : other.termList)
    result.addTerm(term);
  // Only a sum of a division and a remainder can recombine.
  bool hasMod = false, hasDiv = false;
  for (const Term &term : result.termList)
    for (const AtomRef &atom : term.factors) {
      hasMod |= atom->kind == Atom::Kind::Mod;
      hasDiv |= atom->kind == Atom::Kind::FloorDiv;
    }
  if (hasMod && hasDiv)
    while (recombine(result)) {
    }
  return result;
}

Expr Expr::operator-(const Expr &other) const { return *this + (-other); }

Expr Expr::operator*(const Expr &other) const {
  if (auto factor = other.constant()) {
    if (*factor == 0)
      return Expr(0);
    Expr result = *this;
    result.constantPart *= *factor;
    for (Term &term : result.termList)
      term.coefficient *= *factor;
    return result;
  }
  if (isConstant())
    return other * *this;
  Expr result = *this * Expr(other.constantPart) + other * Expr(constantPart) - Expr(constantPart * other.constantPart);
  for (const Term &a : termList)
    for (const Term &b : other.termList) {
      Term product{a.coefficient * b.coefficient, a.factors};
      product.factors.insert(product.factors.end(), b.factors.begin(), b.factors.end());
      std::sort(product.factors.begin(), product.factors.end(),
                [](const AtomRef &x, const AtomRef &y) { return x->compare(*y) < 0; });
      result.addTerm(std::move(product));
    }
  return result;
}

Expr Expr::floordiv(int64_t divisor) const {
  assert(divisor > 0 && "expected a positive divisor");
  if (divisor == 1)
    return *this;
  // Multiples of the divisor come out.
  Expr whole(floorDivide(constantPart, divisor)), rest(floorModulo(constantPart, divisor));
  for (const Term &term : termList) {
    int64_t quotient = floorDivide(term.coefficient, divisor), remainder = floorModulo(term.coefficient, divisor);
    if (quotient)
      whole.addTerm({quotient, term.factors});
    if (remainder)
      rest.addTerm({remainder, term.factors});
  }
  if (rest.isConstant())
    return whole;
  // A common factor cancels; what the constant has beyond it can't matter.
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
  // (x floordiv a) floordiv b is x floordiv (a * b).
  if (rest.termList.size() == 1 && rest.termList[0].coefficient == 1 && rest.termList[0].factors.size() == 1 &&
      rest.termList[0].factors[0]->kind == Atom::Kind::FloorDiv) {
    const Atom &inner = *rest.termList[0].factors[0];
    return whole + (inner.operands[0] + Expr(rest.constantPart * inner.divisor)).floordiv(inner.divisor * divisor);
  }
  // (x mod (a * b)) floordiv b keeps its form; constants inside are normalised above.
  return whole + ofAtom(std::make_shared<Atom>(Atom{Atom::Kind::FloorDiv, "", {rest}, divisor}));
}

Expr Expr::mod(int64_t divisor) const {
  assert(divisor > 0 && "expected a positive divisor");
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
  // (x mod (d * m)) mod d is x mod d.
  if (rest.termList.size() == 1 && rest.termList[0].coefficient == 1 && rest.termList[0].factors.size() == 1 &&
      rest.termList[0].factors[0]->kind == Atom::Kind::Mod && rest.termList[0].factors[0]->divisor % divisor == 0)
    return (rest.termList[0].factors[0]->operands[0] + Expr(rest.constantPart)).mod(divisor);
  return ofAtom(std::make_shared<Atom>(Atom{Atom::Kind::Mod, "", {rest}, divisor}));
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
  return ofAtom(std::make_shared<Atom>(
      Atom{Atom::Kind::Min, "", swap ? std::vector<Expr>{b, a} : std::vector<Expr>{a, b}, 0}));
}

Expr Expr::max(const Expr &a, const Expr &b) {
  if ((a - b).isConstant())
    return extremum(a, b, false);
  bool swap = b < a;
  return ofAtom(std::make_shared<Atom>(
      Atom{Atom::Kind::Max, "", swap ? std::vector<Expr>{b, a} : std::vector<Expr>{a, b}, 0}));
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

std::optional<std::string> Expr::asName() const {
  if (constantPart == 0 && termList.size() == 1 && termList[0].coefficient == 1 &&
      termList[0].factors.size() == 1 && termList[0].factors[0]->kind == Atom::Kind::Name)
    return termList[0].factors[0]->name;
  return std::nullopt;
}

int64_t Expr::coefficient(std::string_view name) const {
  for (const Term &term : termList)
    if (term.factors.size() == 1 && term.factors[0]->kind == Atom::Kind::Name && term.factors[0]->name == name)
      return term.coefficient;
  return 0;
}

static void collectNames(const Expr &expr, std::set<std::string> &names) {
  for (const Expr::Term &term : expr.terms())
    for (const Expr::AtomRef &atom : term.factors) {
      if (atom->kind == Expr::Atom::Kind::Name)
        names.insert(atom->name);
      for (const Expr &operand : atom->operands)
        collectNames(operand, names);
    }
}

std::vector<std::string> Expr::names() const {
  std::set<std::string> names;
  collectNames(*this, names);
  return {names.begin(), names.end()};
}

static bool atomMentions(const Expr::Atom &atom, std::string_view name) {
  if (atom.kind == Expr::Atom::Kind::Name)
    return atom.name == name;
  return std::any_of(atom.operands.begin(), atom.operands.end(),
                     [&](const Expr &operand) { return operand.mentions(name); });
}

bool Expr::mentions(std::string_view name) const {
  for (const Term &term : termList)
    for (const AtomRef &atom : term.factors)
      if (atomMentions(*atom, name))
        return true;
  return false;
}

bool Expr::isLinearIn(std::string_view name) const {
  for (const Term &term : termList) {
    bool alone = term.factors.size() == 1 && term.factors[0]->kind == Atom::Kind::Name;
    for (const AtomRef &atom : term.factors)
      if (!alone && atomMentions(*atom, name))
        return false;
  }
  return true;
}

bool Expr::isAffine() const {
  return std::all_of(termList.begin(), termList.end(), [](const Term &term) {
    return term.factors.size() == 1 && term.factors[0]->kind == Atom::Kind::Name;
  });
}

Expr Expr::substitute(const std::function<std::optional<Expr>(const std::string &)> &replacement) const {
  Expr result(constantPart);
  for (const Term &term : termList) {
    Expr product(term.coefficient);
    for (const AtomRef &atom : term.factors) {
      Expr factor;
      switch (atom->kind) {
      case Atom::Kind::Name: {
        auto with = replacement(atom->name);
        factor = with ? *with : ofAtom(atom);
        break;
      }
      case Atom::Kind::FloorDiv:
        factor = atom->operands[0].substitute(replacement).floordiv(atom->divisor);
        break;
      case Atom::Kind::Mod:
        factor = atom->operands[0].substitute(replacement).mod(atom->divisor);
        break;
      case Atom::Kind::Min:
        factor = min(atom->operands[0].substitute(replacement), atom->operands[1].substitute(replacement));
        break;
      case Atom::Kind::Max:
        factor = max(atom->operands[0].substitute(replacement), atom->operands[1].substitute(replacement));
        break;
      }
      product = product * factor;
    }
    result = result + product;
  }
  return result;
}

Expr Expr::substitute(const std::map<std::string, Expr, std::less<>> &replacement) const {
  return substitute([&](const std::string &name) -> std::optional<Expr> {
    auto found = replacement.find(name);
    return found == replacement.end() ? std::nullopt : std::optional<Expr>(found->second);
  });
}

std::optional<int64_t>
Expr::evaluate(const std::function<std::optional<int64_t>(const std::string &)> &lookup) const {
  int64_t sum = constantPart;
  for (const Term &term : termList) {
    int64_t product = term.coefficient;
    for (const AtomRef &atom : term.factors) {
      std::optional<int64_t> a, b;
      if (atom->kind == Atom::Kind::Name)
        a = lookup(atom->name);
      else
        a = atom->operands[0].evaluate(lookup);
      if (atom->operands.size() > 1)
        b = atom->operands[1].evaluate(lookup);
      if (!a || (atom->operands.size() > 1 && !b))
        return std::nullopt;
      switch (atom->kind) {
      case Atom::Kind::Name: product *= *a; break;
      case Atom::Kind::FloorDiv: product *= floorDivide(*a, atom->divisor); break;
      case Atom::Kind::Mod: product *= floorModulo(*a, atom->divisor); break;
      case Atom::Kind::Min: product *= std::min(*a, *b); break;
      case Atom::Kind::Max: product *= std::max(*a, *b); break;
      }
    }
    sum += product;
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

static std::optional<Range> atomBounds(const Expr::Atom &atom, const Ranges &ranges) {
  using Kind = Expr::Atom::Kind;
  if (atom.kind == Kind::Name) {
    auto found = ranges.find(atom.name);
    return found == ranges.end() ? std::nullopt : std::optional<Range>(found->second);
  }
  auto a = atom.operands[0].bounds(ranges);
  if (atom.kind == Kind::Mod) {
    if (a && floorDivide(a->low, atom.divisor) == floorDivide(a->high, atom.divisor))
      return Range{floorModulo(a->low, atom.divisor), floorModulo(a->high, atom.divisor)};
    return Range{0, atom.divisor - 1};
  }
  if (!a)
    return std::nullopt;
  if (atom.kind == Kind::FloorDiv)
    return Range{floorDivide(a->low, atom.divisor), floorDivide(a->high, atom.divisor)};
  auto b = atom.operands[1].bounds(ranges);
  if (!b)
    return std::nullopt;
  if (atom.kind == Kind::Min)
    return Range{std::min(a->low, b->low), std::min(a->high, b->high)};
  return Range{std::max(a->low, b->low), std::max(a->high, b->high)};
}

std::optional<Range> Expr::bounds(const Ranges &ranges) const {
  Range sum{constantPart, constantPart};
  for (const Term &term : termList) {
    Range product{1, 1};
    for (const AtomRef &atom : term.factors) {
      auto factor = atomBounds(*atom, ranges);
      if (!factor)
        return std::nullopt;
      int64_t corners[] = {product.low * factor->low, product.low * factor->high, product.high * factor->low,
                           product.high * factor->high};
      product = {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
    }
    if (term.coefficient < 0)
      std::swap(product.low, product.high);
    sum.low += product.low * term.coefficient;
    sum.high += product.high * term.coefficient;
  }
  return sum;
}

/// Splits a sum into terms divisible by `step` and a rest in [0, step); nothing if the rest may leave it.
static std::optional<std::pair<Expr, Expr>> splitSum(const Expr &sum, int64_t step, const Ranges &ranges) {
  Expr whole(floorDivide(sum.offset(), step) * step), rest(floorModulo(sum.offset(), step));
  for (const Expr::Term &term : sum.terms())
    if (term.coefficient % step == 0)
      whole = whole + Expr::ofTerm(term);
    else
      rest = rest + Expr::ofTerm(term);
  auto bounds = rest.bounds(ranges);
  if (!bounds)
    return std::nullopt;
  // The rest may lie in any one interval [k * step, (k + 1) * step).
  int64_t shift = floorDivide(bounds->low, step);
  if (shift != floorDivide(bounds->high, step))
    return std::nullopt;
  return std::pair(whole + Expr(shift * step), rest - Expr(shift * step));
}

/// Divisors of `divisor` that occur as common factors of coefficients, largest first.
static std::vector<int64_t> candidateSteps(const Expr &sum, int64_t divisor) {
  std::set<int64_t, std::greater<>> steps{divisor};
  for (const Expr::Term &term : sum.terms())
    if (int64_t common = std::gcd(term.coefficient, divisor); common > 1)
      steps.insert(common);
  return {steps.begin(), steps.end()};
}

static Expr simplifyDivision(const Expr &operand, int64_t divisor, bool remainder, const Ranges &ranges) {
  for (int64_t step : candidateSteps(operand, divisor)) {
    auto parts = splitSum(operand, step, ranges);
    if (!parts)
      continue;
    auto &[whole, rest] = *parts;
    // operand = whole + rest with step | whole and 0 <= rest < step, step | divisor.
    if (!remainder)
      return whole.floordiv(divisor); // (whole + rest) floordiv divisor == whole floordiv divisor
    return whole.mod(divisor) + rest;
  }
  return remainder ? operand.mod(divisor) : operand.floordiv(divisor);
}

Expr Expr::simplify(const Ranges &ranges) const {
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
  if (atomic)
    return substitute(fixed);
  Expr result(constantPart);
  for (const Term &term : termList) {
    Expr product(term.coefficient);
    for (const AtomRef &atom : term.factors) {
      Expr factor;
      switch (atom->kind) {
      case Atom::Kind::Name: {
        auto value = fixed(atom->name);
        factor = value ? *value : ofAtom(atom);
        break;
      }
      case Atom::Kind::FloorDiv:
      case Atom::Kind::Mod:
        factor = simplifyDivision(atom->operands[0].simplify(ranges), atom->divisor, atom->kind == Atom::Kind::Mod,
                                  ranges);
        break;
      case Atom::Kind::Min:
      case Atom::Kind::Max: {
        Expr a = atom->operands[0].simplify(ranges), b = atom->operands[1].simplify(ranges);
        auto difference = (a - b).bounds(ranges);
        bool isMin = atom->kind == Atom::Kind::Min;
        if (difference && difference->high <= 0)
          factor = isMin ? a : b;
        else if (difference && difference->low >= 0)
          factor = isMin ? b : a;
        else
          factor = isMin ? min(a, b) : max(a, b);
        break;
      }
      }
      product = product * factor;
    }
    result = result + product;
  }
  return result == *this ? result : result.simplify(ranges);
}
