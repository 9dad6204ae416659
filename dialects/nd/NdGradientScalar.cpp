//===- NdGradientScalar.cpp - reverse mode over scalar code ---------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"
#include "dialects/nd/NdGradient.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

void nd::eraseDeadScalars(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

namespace {
/// Differentiates scalar ops in reverse. Omits factors of one and terms of zero if that does not
/// change a bit of the result.
class ScalarReverse {
public:
  ScalarReverse(OpBuilder &builder, Location loc) : b(builder), loc(loc) {}

  void want(Value value) { active.insert(value); }
  void propagate(Operation *op) {
    if (isa<FloatType>(op->getResult(0).getType()) &&
        llvm::any_of(op->getOperands(), [&](Value v) { return active.contains(v); }))
      active.insert(op->getResult(0));
  }

  void accumulate(Value value, Value cotangent) {
    if (!cotangent || !active.contains(value))
      return;
    Value &sum = cotangents[value];
    sum = sum ? arith::AddFOp::create(b, loc, sum, cotangent).getResult() : cotangent;
  }
  Value cotangent(Value value) const { return cotangents.lookup(value); }

  LogicalResult reverse(Operation *op);

private:
  OpBuilder &b;
  Location loc;
  llvm::DenseSet<Value> active;
  DenseMap<Value, Value> cotangents;

  Value number(Value like, double value) { return buildNumber(b, loc, like.getType(), value); }
  static bool isNumber(Value value, double number) {
    FloatAttr attr;
    return matchPattern(value, m_Constant(&attr)) && attr.getValueAsDouble() == number;
  }
  /// True for a constant that is not NaN.
  static bool isNumber(Value value) {
    FloatAttr attr;
    return matchPattern(value, m_Constant(&attr)) && !attr.getValue().isNaN();
  }
  Value mul(Value x, Value y) {
    if (isNumber(x, 1))
      return y;
    return isNumber(y, 1) ? x : arith::MulFOp::create(b, loc, x, y).getResult();
  }
  Value mul(Value x, double y) { return mul(x, number(x, y)); }
  Value neg(Value x) {
    if (auto inner = x.getDefiningOp<arith::NegFOp>())
      return inner.getOperand();
    return arith::NegFOp::create(b, loc, x);
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(b, loc, condition, yes, no);
  }
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(b, loc, predicate, x, y);
  }
  /// The cotangent where `condition` holds, else zero.
  Value where(Value condition, Value g) { return select(condition, g, number(g, 0)); }
  Value whereNot(Value condition, Value g) { return select(condition, number(g, 0), g); }
  bool wants(Value value) const { return active.contains(value); }
  /// Adds the cotangent that `make` emits, if the value's gradient is wanted.
  void give(Value value, llvm::function_ref<Value()> make) {
    if (wants(value))
      accumulate(value, make());
  }

  void power(math::PowFOp op, Value g);
  Value slopeOf(Operation *op);
};
} // namespace

void ScalarReverse::power(math::PowFOp op, Value g) {
  Value x = op.getLhs(), y = op.getRhs();
  if (wants(x)) {
    FloatAttr exponent;
    if (matchPattern(y, m_Constant(&exponent))) {
      double p = exponent.getValueAsDouble();
      Value slope = p == 2   ? x
                    : p == 3 ? arith::MulFOp::create(b, loc, x, x).getResult()
                    : p == 1 ? number(x, 1)
                             : math::PowFOp::create(b, loc, x, number(y, p - 1)).getResult();
      if (p != 0)
        accumulate(x, mul(g, mul(slope, p)));
    } else {
      // x^0 is constant. Where 0 * x^-1 would be NaN, x is replaced by 1, so that no factor is
      // infinite in further derivatives.
      double least =
          llvm::APFloat::getSmallestNormalized(cast<FloatType>(x.getType()).getFloatSemantics())
              .convertToDouble();
      Value isConstant =
          arith::AndIOp::create(b, loc, compare(arith::CmpFPredicate::OEQ, y, number(y, 0)),
                                compare(arith::CmpFPredicate::ULT, math::AbsFOp::create(b, loc, x),
                                        number(x, 4 * least)));
      Value less = arith::SubFOp::create(b, loc, y, number(y, 1));
      Value base = select(isConstant, number(x, 1), x);
      Value slope = mul(y, math::PowFOp::create(b, loc, base, less));
      accumulate(x, mul(g, whereNot(isConstant, slope)));
    }
  }
  if (wants(y)) {
    // 0^y is constant for y > 0 and, by convention, at 0. A negative x has no logarithm: NaN.
    Value isConstant =
        arith::AndIOp::create(b, loc, compare(arith::CmpFPredicate::OEQ, x, number(x, 0)),
                              compare(arith::CmpFPredicate::OGE, y, number(y, 0)));
    Value base = select(isConstant, number(x, 1), x);
    accumulate(y, mul(g, mul(op.getResult(), math::LogOp::create(b, loc, base))));
  }
}

/// dy/dx of y = op(x); null for other ops.
Value ScalarReverse::slopeOf(Operation *op) {
  Value x = op->getOperand(0), y = op->getResult(0);
  auto over = [&](double a, Value d) -> Value {
    return arith::DivFOp::create(b, loc, number(x, a), d);
  };
  auto plus = [&](Value a, double c) -> Value {
    return arith::AddFOp::create(b, loc, a, number(x, c));
  };
  auto bell = [&](double height) {
    Value square = neg(arith::MulFOp::create(b, loc, x, x));
    return mul(math::ExpOp::create(b, loc, square), height);
  };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::AbsFOp) {
        Value zero = number(x, 0);
        Value down = select(compare(arith::CmpFPredicate::OLT, x, zero), number(x, -1), zero);
        return select(compare(arith::CmpFPredicate::OGT, x, zero), number(x, 1), down);
      })
      .Case([&](math::AtanOp) {
        Value square = arith::MulFOp::create(b, loc, x, x);
        return over(1, plus(square, 1));
      })
      .Case([&](math::CosOp) { return neg(math::SinOp::create(b, loc, x)); })
      .Case([&](math::SinOp) { return math::CosOp::create(b, loc, x); })
      .Case([&](math::ErfOp) { return bell(1.1283791670955126); }) // 2 / sqrt(pi)
      .Case([&](math::ErfcOp) { return bell(-1.1283791670955126); })
      .Case([&](math::ExpOp) { return y; })
      .Case([&](math::Exp2Op) { return mul(y, 0.6931471805599453); }) // ln 2
      .Case([&](math::ExpM1Op) { return math::ExpOp::create(b, loc, x); })
      .Case([&](math::LogOp) { return over(1, x); })
      .Case([&](math::Log1pOp) { return over(1, plus(x, 1)); })
      .Case([&](math::Log10Op) { return over(0.4342944819032518, x); }) // 1 / ln 10
      .Case([&](math::Log2Op) { return over(1.4426950408889634, x); })  // 1 / ln 2
      .Case([&](math::SqrtOp) { return over(0.5, y); })
      .Case([&](math::RsqrtOp) { return mul(mul(mul(y, y), y), -0.5); })
      .Case([&](math::TanhOp) {
        Value square = arith::MulFOp::create(b, loc, y, y);
        return arith::SubFOp::create(b, loc, number(x, 1), square);
      })
      .Case([&](math::SinhOp) { return math::CoshOp::create(b, loc, x); })
      .Case([&](math::CoshOp) { return math::SinhOp::create(b, loc, x); })
      .Case([&](math::AsinhOp) {
        Value square = arith::MulFOp::create(b, loc, x, x);
        return math::RsqrtOp::create(b, loc, plus(square, 1));
      })
      // Without the differences x^2 - 1 and 1 - x^2: they lose digits near 1, and their products
      // with an infinite slope there are NaN.
      .Case([&](math::AcoshOp) {
        return mul(math::RsqrtOp::create(b, loc, plus(x, -1)),
                   math::RsqrtOp::create(b, loc, plus(x, 1)).getResult());
      })
      .Case([&](math::AtanhOp) {
        Value left = over(0.5, plus(x, 1)), right = over(0.5, plus(neg(x), 1));
        return arith::AddFOp::create(b, loc, left, right);
      })
      .Default([](Operation *) { return Value(); });
}

LogicalResult ScalarReverse::reverse(Operation *op) {
  Value y = op->getResult(0), g = cotangent(y);
  if (!g)
    return success();
  // The selected operand gets the cotangent; of equal ones the second, or the constant, which
  // simplification puts there. NaN is selected, unless the op prefers numbers.
  auto choose = [&](arith::CmpFPredicate better, bool numberWins) {
    Value x = op->getOperand(0), y = op->getOperand(1);
    if (isNumber(x))
      std::swap(x, y);
    Value decides = numberWins ? y : x;
    bool atOnce = !numberWins && isNumber(y); // one comparison suffices
    if (atOnce)
      better = better == arith::CmpFPredicate::OGT ? arith::CmpFPredicate::UGT
                                                   : arith::CmpFPredicate::ULT;
    Value first = compare(better, x, y);
    if (!atOnce && !isNumber(decides))
      first =
          arith::OrIOp::create(b, loc, first, compare(arith::CmpFPredicate::UNO, decides, decides));
    give(x, [&] { return where(first, g); });
    give(y, [&] { return whereNot(first, g); });
  };
  bool known = true;
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](arith::AddFOp add) {
        accumulate(add.getLhs(), g);
        accumulate(add.getRhs(), g);
      })
      .Case([&](arith::SubFOp sub) {
        accumulate(sub.getLhs(), g);
        give(sub.getRhs(), [&] { return neg(g); });
      })
      .Case([&](arith::MulFOp product) {
        give(product.getLhs(), [&] { return mul(g, product.getRhs()); });
        give(product.getRhs(), [&] { return mul(g, product.getLhs()); });
      })
      .Case([&](math::FmaOp fma) {
        give(fma.getA(), [&] { return mul(g, fma.getB()); });
        give(fma.getB(), [&] { return mul(g, fma.getA()); });
        accumulate(fma.getC(), g);
      })
      .Case([&](arith::DivFOp quotient) {
        Value share = arith::DivFOp::create(b, loc, g, quotient.getRhs());
        accumulate(quotient.getLhs(), share);
        give(quotient.getRhs(), [&] { return neg(mul(share, y)); });
      })
      .Case([&](arith::RemFOp remainder) {
        accumulate(remainder.getLhs(), g);
        give(remainder.getRhs(), [&] {
          // How often the divisor was subtracted: the quotient of the subtracted amount is integral
          // up to rounding, whereas the quotient of the operands may round up to the next integer.
          Value taken = arith::SubFOp::create(b, loc, remainder.getLhs(), y);
          Value quotient = arith::DivFOp::create(b, loc, taken, remainder.getRhs());
          return neg(mul(g, math::RoundEvenOp::create(b, loc, quotient)));
        });
      })
      .Case([&](arith::NegFOp negated) { give(negated.getOperand(), [&] { return neg(g); }); })
      .Case([&](arith::MaximumFOp) { choose(arith::CmpFPredicate::OGT, false); })
      .Case([&](arith::MinimumFOp) { choose(arith::CmpFPredicate::OLT, false); })
      .Case([&](arith::MaxNumFOp) { choose(arith::CmpFPredicate::OGT, true); })
      .Case([&](arith::MinNumFOp) { choose(arith::CmpFPredicate::OLT, true); })
      .Case([&](arith::SelectOp choice) {
        give(choice.getTrueValue(), [&] { return where(choice.getCondition(), g); });
        give(choice.getFalseValue(), [&] { return whereNot(choice.getCondition(), g); });
      })
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto cast) {
        // The gradient of a cast is a cast, which rounds if the original does.
        give(cast.getIn(), [&] {
          Type type = cast.getIn().getType();
          return keepsPrecision(cast) ? convertFloat(b, loc, g, type)
                                      : convertScalar(b, loc, g, g.getType(), type);
        });
      })
      .Case([&](math::PowFOp power) { this->power(power, g); })
      // Step functions have derivative zero wherever it exists.
      .Case<math::CeilOp, math::FloorOp, math::RoundEvenOp, math::TruncOp>([](auto) {})
      .Default([&](Operation *) {
        Value slope = slopeOf(op);
        known = bool(slope);
        if (known)
          accumulate(op->getOperand(0), mul(g, slope));
      });
  if (known)
    return success();
  return op->emitError() << "'" << op->getName() << "' has no derivative" << ownGradientHint;
}

FailureOr<SmallVector<Value>> nd::buildScalarGradient(OpBuilder &builder, Location loc,
                                                      Block &block, ValueRange arguments,
                                                      ArrayRef<Value> cotangents,
                                                      ArrayRef<bool> wanted) {
  ScalarReverse reverse(builder, loc);
  for (auto [argument, want] : llvm::zip_equal(arguments, wanted))
    if (want && isa<FloatType>(argument.getType()))
      reverse.want(argument);
  IRMapping mapping;
  mapping.map(block.getArguments(), arguments);
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator()) {
    ops.push_back(builder.clone(op, mapping));
    reverse.propagate(ops.back());
  }
  for (auto [value, cotangent] : llvm::zip_equal(block.getTerminator()->getOperands(), cotangents))
    reverse.accumulate(mapping.lookupOrDefault(value), cotangent);
  for (Operation *op : llvm::reverse(ops))
    if (failed(reverse.reverse(op)))
      return failure();
  return llvm::map_to_vector(arguments, [&](Value value) { return reverse.cotangent(value); });
}

//===----------------------------------------------------------------------===//
// Selecting combiners
//===----------------------------------------------------------------------===//

CombinerKind nd::accumulatorKind(Block &combiner, unsigned accumulator) {
  unsigned n = combiner.getNumArguments() / 2;
  Operation *op = combiner.getTerminator()->getOperand(accumulator).getDefiningOp();
  Value old = combiner.getArgument(accumulator), element = combiner.getArgument(n + accumulator);
  if (!op || op->getNumOperands() != 2 ||
      !((op->getOperand(0) == old && op->getOperand(1) == element) ||
        (op->getOperand(0) == element && op->getOperand(1) == old)))
    return CombinerKind::General;
  return llvm::TypeSwitch<Operation *, CombinerKind>(op)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return CombinerKind::Add; })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return CombinerKind::Mul; })
      .Case([](arith::MaximumFOp) { return CombinerKind::Max; })
      .Case([](arith::MinimumFOp) { return CombinerKind::Min; })
      .Default(CombinerKind::General);
}

static bool isChoice(Operation *op) {
  return isa_and_nonnull<arith::SelectOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
                         arith::MinNumFOp>(op);
}

/// The values among which a selecting op chooses.
static ValueRange candidates(Operation *op) {
  return isa<arith::SelectOp>(op) ? op->getOperands().drop_front() : op->getOperands();
}

static bool selects(Value value, Value accumulator, Value element) {
  if (value == accumulator || value == element)
    return true;
  Operation *op = value.getDefiningOp();
  return isChoice(op) && llvm::all_of(candidates(op), [&](Value candidate) {
           return selects(candidate, accumulator, element);
         });
}

bool nd::isSelecting(Block &combiner, unsigned accumulator) {
  unsigned n = combiner.getNumArguments() / 2;
  return selects(combiner.getTerminator()->getOperand(accumulator),
                 combiner.getArgument(accumulator), combiner.getArgument(n + accumulator));
}

/// True if `a` at position `i` precedes `b` at position `j`.
static Value goesFirst(OpBuilder &b, Location loc, bool isMaximum, Value x, Value y, Value i,
                       Value j) {
  using Predicate = arith::CmpFPredicate;
  auto compare = [&](Predicate predicate, Value x, Value y) -> Value {
    return arith::CmpFOp::create(b, loc, predicate, x, y);
  };
  Value better = compare(isMaximum ? Predicate::OGT : Predicate::OLT, x, y);
  Value equal = compare(Predicate::OEQ, x, y), isNan = compare(Predicate::UNO, x, x);
  Value earlier = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, i, j);
  Value tie = arith::AndIOp::create(b, loc, equal, earlier);
  return arith::OrIOp::create(b, loc, arith::OrIOp::create(b, loc, better, tie), isNan);
}

SmallVector<Value> nd::inlineWithPositions(OpBuilder &b, Location loc, Block &combiner,
                                           ValueRange accumulators, ValueRange elements,
                                           ArrayRef<unsigned> tracked, ValueRange oldPositions,
                                           ValueRange newPositions) {
  unsigned n = accumulators.size();
  IRMapping mapping;
  mapping.map(combiner.getArguments().take_front(n), accumulators);
  mapping.map(combiner.getArguments().drop_front(n), elements);
  SmallVector<Value> results = inlineBlock(b, combiner, mapping);

  for (auto [accumulator, oldPosition, newPosition] :
       llvm::zip_equal(tracked, oldPositions, newPositions)) {
    DenseMap<Value, Value> positions{{combiner.getArgument(accumulator), oldPosition},
                                     {combiner.getArgument(n + accumulator), newPosition}};
    for (Operation &op : combiner.without_terminator()) {
      if (!isChoice(&op))
        continue;
      Value yes = positions.lookup(candidates(&op)[0]), no = positions.lookup(candidates(&op)[1]);
      if (!yes || !no)
        continue;
      Value condition = isa<arith::SelectOp>(op)
                            ? mapping.lookup(op.getOperand(0))
                            : goesFirst(b, loc, isa<arith::MaximumFOp, arith::MaxNumFOp>(op),
                                        mapping.lookup(op.getOperand(0)),
                                        mapping.lookup(op.getOperand(1)), yes, no);
      positions[op.getResult(0)] = arith::SelectOp::create(b, loc, condition, yes, no);
    }
    results.push_back(positions.lookup(combiner.getTerminator()->getOperand(accumulator)));
  }
  return results;
}
