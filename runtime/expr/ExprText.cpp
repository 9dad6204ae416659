//===- ExprText.cpp - printing and parsing expressions --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/Expr.h"

#include <charconv>

using namespace heddle;

static std::string spell(const Expr::Atom &atom) {
  using Kind = Expr::Atom::Kind;
  auto wrapped = [](const Expr &operand) {
    std::string text = operand.str();
    return operand.asName() || (operand.isConstant() && operand.offset() >= 0) ? text
                                                                               : "(" + text + ")";
  };
  switch (atom.kind) {
  case Kind::Name:
    return atom.name[0] == '@' ? "read(" + atom.name.substr(1) + ")" : atom.name;
  case Kind::FloorDiv:
    return wrapped(atom.operands[0]) + " floordiv " + std::to_string(atom.divisor);
  case Kind::Mod:
    return wrapped(atom.operands[0]) + " mod " + std::to_string(atom.divisor);
  case Kind::Min:
    return "min(" + atom.operands[0].str() + ", " + atom.operands[1].str() + ")";
  case Kind::Max:
    return "max(" + atom.operands[0].str() + ", " + atom.operands[1].str() + ")";
  }
  return "";
}

std::string Expr::str() const {
  std::string text;
  for (const Term &term : termList) {
    std::string product;
    int64_t magnitude = term.coefficient < 0 ? -term.coefficient : term.coefficient;
    if (magnitude != 1)
      product = std::to_string(magnitude);
    // A leading minus binds closer than a division: `-(a floordiv 2)`.
    bool isWhole =
        product.empty() && term.factors.size() == 1 && !(text.empty() && term.coefficient < 0);
    for (const AtomRef &atom : term.factors) {
      bool division = atom->kind == Atom::Kind::FloorDiv || atom->kind == Atom::Kind::Mod;
      if (!product.empty())
        product += " * ";
      product += division && !isWhole ? "(" + spell(*atom) + ")" : spell(*atom);
    }
    if (text.empty())
      text = term.coefficient < 0 ? "-" + product : product;
    else
      text += (term.coefficient < 0 ? " - " : " + ") + product;
  }
  if (text.empty())
    return std::to_string(constantPart);
  if (constantPart > 0)
    text += " + " + std::to_string(constantPart);
  if (constantPart < 0)
    text += " - " + std::to_string(-constantPart);
  return text;
}

namespace {
/// sum := product (('+' | '-') product)*; product := unary ('*' unary | 'floordiv' int | 'mod'
/// int)*
class Parser {
public:
  Parser(std::string_view text) : text(text) {}
  std::string error;

  std::optional<Expr> whole() {
    auto result = sum();
    skip();
    if (result && at < text.size())
      return refuse("expected the end of the expression");
    return result;
  }

private:
  std::string_view text;
  size_t at = 0;
  int depth = 0;

  std::optional<Expr> refuse(const std::string &message) {
    if (error.empty())
      error = message + " at column " + std::to_string(at + 1) + " of '" +
              (text.size() <= 200 ? std::string(text) : std::string(text.substr(0, 200)) + "...") +
              "'";
    return std::nullopt;
  }
  void skip() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t'))
      ++at;
  }
  bool eat(char c) {
    skip();
    if (at < text.size() && text[at] == c) {
      ++at;
      return true;
    }
    return false;
  }
  std::string_view word() {
    skip();
    size_t end = at;
    auto isPart = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '_' || c == '$' || c == '.';
    };
    while (end < text.size() && isPart(text[end]))
      ++end;
    return text.substr(at, end - at);
  }
  std::optional<int64_t> integer() {
    skip();
    int64_t value = 0;
    auto [end, failure] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (failure != std::errc())
      return std::nullopt;
    at = size_t(end - text.data());
    return value;
  }

  /// Refuses an expression that is too large.
  std::optional<Expr> limited(const Expr &expr) {
    return expr.isTooLarge() ? refuse("expected " + Expr::limits()) : std::optional(expr);
  }

  std::optional<Expr> sum() {
    auto left = product();
    while (left) {
      bool plus = eat('+');
      if (!plus && !eat('-'))
        return left;
      auto right = product();
      if (!right)
        return std::nullopt;
      left = limited(plus ? *left + *right : *left - *right);
    }
    return left;
  }

  std::optional<Expr> product() {
    auto left = unary();
    while (left) {
      if (eat('*')) {
        auto right = unary();
        if (!right)
          return std::nullopt;
        left = limited(*left * *right);
        continue;
      }
      std::string_view operation = word();
      if (operation != "floordiv" && operation != "mod" && operation != "ceildiv")
        return left;
      at += operation.size();
      auto divisor = integer();
      if (!divisor || *divisor <= 0)
        return refuse("expected a positive integer after '" + std::string(operation) + "'");
      left = limited(operation == "mod"        ? left->mod(*divisor)
                     : operation == "floordiv" ? left->floordiv(*divisor)
                                               : left->ceildiv(*divisor));
    }
    return left;
  }

  std::optional<Expr> unary() {
    // User input: nesting must not overflow the stack.
    if (depth == 200)
      return refuse("expected fewer than 200 nested expressions");
    ++depth;
    auto result = unaryInside();
    --depth;
    return result;
  }

  std::optional<Expr> unaryInside() {
    if (eat('-')) {
      auto operand = unary();
      return operand ? std::optional<Expr>(-*operand) : std::nullopt;
    }
    if (eat('(')) {
      auto inside = sum();
      if (inside && !eat(')'))
        return refuse("expected ')'");
      return inside;
    }
    std::string_view name = word();
    if (name.empty())
      return refuse("expected a name, an integer or '('");
    if (name[0] >= '0' && name[0] <= '9') {
      auto value = integer();
      return value ? std::optional<Expr>(*value) : refuse("expected an integer that fits 64 bits");
    }
    at += name.size();
    if (name == "read" && eat('(')) {
      auto index = integer();
      if (!index || *index < 0 || !eat(')'))
        return refuse("expected the number of a read and ')'");
      return Expr::name("@" + std::to_string(*index));
    }
    if ((name == "min" || name == "max") && eat('(')) {
      auto a = sum();
      if (!a || !eat(','))
        return refuse("expected ','");
      auto b = sum();
      if (!b || !eat(')'))
        return refuse("expected ')'");
      return limited(name == "min" ? Expr::min(*a, *b) : Expr::max(*a, *b));
    }
    if (!isValidName(name))
      return refuse("expected a name");
    return Expr::name(name);
  }
};
} // namespace

std::optional<Expr> Expr::parse(std::string_view text, std::string *error) {
  Parser parser(text);
  auto result = parser.whole();
  if (!result && error)
    *error = parser.error;
  return result;
}
