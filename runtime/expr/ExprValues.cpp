//===- ExprValues.cpp - names, substitution and values of expressions -----===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/Expr.h"
#include "runtime/expr/Integer.h"

#include <algorithm>

using namespace heddle;

std::optional<std::string> Expr::asName() const {
  if (constantPart == 0 && termList.size() == 1 && termList[0].coefficient == 1 &&
      termList[0].factors.size() == 1 && termList[0].factors[0]->kind == Atom::Kind::Name)
    return termList[0].factors[0]->name;
  return std::nullopt;
}

int64_t Expr::coefficient(std::string_view name) const {
  for (const Term &term : termList)
    if (term.factors.size() == 1 && term.factors[0]->kind == Atom::Kind::Name &&
        term.factors[0]->name == name)
      return term.coefficient;
  return 0;
}

static void collectNames(const Expr &expr, std::vector<std::string> &names) {
  for (const Expr::Term &term : expr.terms())
    for (const Expr::AtomRef &atom : term.factors) {
      if (atom->kind == Expr::Atom::Kind::Name)
        names.push_back(atom->name);
      for (const Expr &operand : atom->operands)
        collectNames(operand, names);
    }
}

std::vector<std::string> Expr::names() const {
  std::vector<std::string> names;
  collectNames(*this, names);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
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
    bool isName = term.factors.size() == 1 && term.factors[0]->kind == Atom::Kind::Name;
    for (const AtomRef &atom : term.factors)
      if (!isName && atomMentions(*atom, name))
        return false;
  }
  return true;
}

bool Expr::isAffine() const {
  return std::all_of(termList.begin(), termList.end(), [](const Term &term) {
    return term.factors.size() == 1 && term.factors[0]->kind == Atom::Kind::Name;
  });
}

Expr Expr::replaceAtoms(const std::function<Expr(const AtomRef &)> &replacement) const {
  if (isTooLarge())
    return *this;
  Expr result(constantPart);
  for (const Term &term : termList) {
    Expr product;
    for (size_t i = 0; i < term.factors.size(); ++i) {
      Expr factor = replacement(term.factors[i]);
      if (i > 0)
        product = product * factor;
      else
        product = term.coefficient == 1 ? std::move(factor) : factor * Expr(term.coefficient);
      if (product.isTooLarge())
        return product;
    }
    result =
        result.isConstant() && result.constantPart == 0 ? std::move(product) : result + product;
  }
  return result;
}

Expr Expr::substitute(
    const std::function<std::optional<Expr>(const std::string &)> &replacement) const {
  return replaceAtoms([&](const AtomRef &atom) -> Expr {
    auto operand = [&](size_t i) { return atom->operands[i].substitute(replacement); };
    switch (atom->kind) {
    case Atom::Kind::Name: {
      auto with = replacement(atom->name);
      return with ? *with : ofAtom(atom);
    }
    case Atom::Kind::FloorDiv:
      return operand(0).floordiv(atom->divisor);
    case Atom::Kind::Mod:
      return operand(0).mod(atom->divisor);
    case Atom::Kind::Min:
      return min(operand(0), operand(1));
    case Atom::Kind::Max:
      return max(operand(0), operand(1));
    }
    return {};
  });
}

Expr Expr::substitute(const ExprMap &replacement) const {
  return substitute([&](const std::string &name) -> std::optional<Expr> {
    auto found = replacement.find(name);
    return found == replacement.end() ? std::nullopt : std::optional<Expr>(found->second);
  });
}

std::optional<int64_t>
Expr::evaluate(const std::function<std::optional<int64_t>(const std::string &)> &lookup) const {
  if (isTooLarge())
    return std::nullopt;
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
      case Atom::Kind::Name:
        product = wrappingMultiply(product, *a);
        break;
      case Atom::Kind::FloorDiv:
        product = wrappingMultiply(product, floorDivide(*a, atom->divisor));
        break;
      case Atom::Kind::Mod:
        product = wrappingMultiply(product, floorModulo(*a, atom->divisor));
        break;
      case Atom::Kind::Min:
        product = wrappingMultiply(product, std::min(*a, *b));
        break;
      case Atom::Kind::Max:
        product = wrappingMultiply(product, std::max(*a, *b));
        break;
      }
    }
    sum = wrappingAdd(sum, product);
  }
  return sum;
}
