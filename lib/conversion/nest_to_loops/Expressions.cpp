//===- Expressions.cpp - integer expressions as code ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Emitter.h"

#include "mlir/IR/TypeUtilities.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

namespace {
/// Emits expressions on scalars or on vectors of one integer type.
struct Writer {
  OpBuilder &b;
  Location loc;
  const Ranges &ranges;
  std::function<Value(const Expr &)> whole; ///< a cheaper value for the expression, if any
  std::function<Value(const std::string &)> leaf;
  std::function<Value(int64_t)> number;
  int64_t &emitted;

  Value write(const Expr &expr) {
    if (expr.isTooLarge())
      emitted = Emitter::mostEmitted + 1;
    if (emitted > Emitter::mostEmitted)
      return number(0);
    if (Value value = whole(expr))
      return value;
    Value sum;
    for (const Expr::Term &term : expr.terms()) {
      Value product;
      emitted += 1 + int64_t(term.factors.size());
      for (const Expr::AtomRef &atom : term.factors) {
        Value factor = write(*atom);
        product = product ? Value(arith::MulIOp::create(b, loc, product, factor)) : factor;
      }
      if (term.coefficient != 1)
        product = arith::MulIOp::create(b, loc, product, number(term.coefficient));
      sum = sum ? Value(arith::AddIOp::create(b, loc, sum, product)) : product;
    }
    if (!sum)
      return number(expr.offset());
    return expr.offset() ? Value(arith::AddIOp::create(b, loc, sum, number(expr.offset()))) : sum;
  }

  Value write(const Expr::Atom &atom) {
    using Kind = Expr::Atom::Kind;
    if (atom.kind == Kind::Name)
      return leaf(atom.name);
    if (atom.kind == Kind::Min || atom.kind == Kind::Max) {
      Value x = write(atom.operands[0]), y = write(atom.operands[1]);
      return atom.kind == Kind::Min ? Value(arith::MinSIOp::create(b, loc, x, y))
                                    : Value(arith::MaxSIOp::create(b, loc, x, y));
    }
    // Shift the operand to be non-negative, so that truncating division rounds down.
    const Expr &operand = atom.operands[0];
    auto bounds = operand.bounds(ranges);
    int64_t shift =
        bounds && bounds->low < 0 ? (-bounds->low + atom.divisor - 1) / atom.divisor : 0;
    Value x = write(operand + Expr(shift * atom.divisor)), d = number(atom.divisor);
    if (!bounds) {
      Value remainder = arith::RemSIOp::create(b, loc, x, d);
      Value negative =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, remainder, number(0));
      Value wrapped = arith::AddIOp::create(b, loc, remainder, d);
      Value mod = arith::SelectOp::create(b, loc, negative, wrapped, remainder);
      if (atom.kind == Kind::Mod)
        return mod;
      return arith::DivSIOp::create(b, loc, arith::SubIOp::create(b, loc, x, mod), d);
    }
    if (atom.kind == Kind::Mod)
      return arith::RemUIOp::create(b, loc, x, d);
    Value quotient = arith::DivUIOp::create(b, loc, x, d);
    return shift ? Value(arith::SubIOp::create(b, loc, quotient, number(shift))) : quotient;
  }
};
} // namespace

Value Emitter::emit(const Expr &expr) {
  Writer writer{b,
                loc,
                ranges,
                [](const Expr &) { return Value(); },
                [&](const std::string &name) {
                  assert(vars.count(name) && "a variable that is not bound");
                  return vars.find(name)->second;
                },
                [&](int64_t value) { return constant(value); },
                emitted};
  return writer.write(expr);
}

/// True if no intermediate value can exceed 32 bits.
static bool fitsIn32(const Expr &expr, const Ranges &ranges) {
  double sum = std::abs(double(expr.offset()));
  for (const Expr::Term &term : expr.terms()) {
    double product = std::abs(double(term.coefficient));
    for (const Expr::AtomRef &atom : term.factors) {
      Expr summand = Expr::ofTerm({1, {atom}});
      auto bounds = summand.bounds(ranges);
      if (!bounds)
        return false;
      product *= double(std::max(std::abs(bounds->low), std::abs(bounds->high)));
      for (const Expr &operand : atom->operands)
        if (!fitsIn32(operand, ranges))
          return false;
    }
    sum += product;
  }
  return sum < double(1 << 30);
}

bool Emitter::onLanes(const Expr &expr) const {
  for (const std::string &name : expr.names()) {
    if (name == laneName)
      return true;
    auto found = vars.find(name);
    if (found != vars.end() && isa<VectorType>(found->second.getType()))
      return true;
  }
  return false;
}

Value Emitter::emitLanes(const Expr &expr, int64_t lanes) {
  Type element = fitsIn32(expr, ranges) ? b.getI32Type() : b.getI64Type();
  auto type = VectorType::get({lanes}, element);
  auto literal = [&](ArrayRef<int64_t> values) -> Value {
    SmallVector<APInt> numbers;
    for (int64_t value : values)
      numbers.push_back(APInt(element.getIntOrFloatBitWidth(), value, true, true));
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, numbers));
  };
  auto resized = [&](Value value) -> Value {
    Type from = getElementTypeOrSelf(value.getType());
    if (from == element)
      return value;
    Type target = isa<VectorType>(value.getType()) ? Type(type) : element;
    return from.getIntOrFloatBitWidth() > element.getIntOrFloatBitWidth()
               ? Value(arith::TruncIOp::create(b, loc, target, value))
               : Value(arith::ExtSIOp::create(b, loc, target, value));
  };
  Writer writer{
      b,
      loc,
      ranges,
      [&](const Expr &part) -> Value {
        std::vector<std::string> names = part.names();
        if (names.empty() || (names.size() == 1 && names[0] == laneName)) {
          SmallVector<int64_t> values;
          for (int64_t lane = 0; lane < lanes; ++lane)
            values.push_back(*part.evaluate([&](const std::string &) { return lane; }));
          return literal(values);
        }
        if (!onLanes(part))
          return splat(resized(emit(part)), lanes);
        // Add the terms that are equal for all lanes as scalars.
        Expr same, different;
        for (const Expr::Term &term : part.terms()) {
          Expr summand = Expr::ofTerm(term);
          (onLanes(summand) ? different : same) = (onLanes(summand) ? different : same) + summand;
        }
        same = same + Expr(part.offset());
        if (same == Expr(0) || same.isConstant())
          return Value();
        Value scalar = splat(resized(emit(same)), lanes);
        return arith::AddIOp::create(b, loc, scalar, resized(emitLanes(different, lanes)));
      },
      [&](const std::string &name) -> Value {
        if (name != laneName)
          return resized(splat(vars.find(name)->second, lanes));
        return literal(llvm::to_vector(llvm::seq<int64_t>(0, lanes)));
      },
      [&](int64_t value) { return literal(SmallVector<int64_t>(lanes, value)); },
      emitted};
  return writer.write(expr);
}

std::optional<bool> Test::decide(const Ranges &ranges) const {
  auto bounds = expr.bounds(ranges);
  if (!bounds)
    return std::nullopt;
  if (equality ? bounds->low == 0 && bounds->high == 0 : bounds->low >= 0)
    return true;
  if (equality ? bounds->low > 0 || bounds->high < 0 : bounds->high < 0)
    return false;
  return std::nullopt;
}

bool Emitter::isKnown(const Test &test) const {
  if (test.decide(ranges) == true || facts.count(test))
    return true;
  return !test.equality && llvm::any_of(within, [&](const Expr &each) {
    auto beyond = (test.expr - each).bounds(ranges);
    return beyond && beyond->low >= 0;
  });
}

Value Emitter::emit(const Test &test) {
  Value value = emit(test.expr);
  return arith::CmpIOp::create(b, loc,
                               test.equality ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sge,
                               value, constant(0));
}

Value Emitter::holds(const Test &test, int64_t lanes) {
  if (!lanes || !onLanes(test.expr))
    return emit(test);
  Value value = emitLanes(test.expr, lanes);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(value.getType()));
  return arith::CmpIOp::create(
      b, loc, test.equality ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sge, value, zero);
}

Expr Emitter::resolve(const Expr &expr, const Point &point) const {
  return expr.substitute(bindings).substitute(point.values).simplify(ranges);
}

void Emitter::define(const std::string &name, Value value, Range range) {
  vars[name] = value;
  ranges[name] = range;
}

void Emitter::forget(const std::string &name) {
  vars.erase(name);
  ranges.erase(name);
}
