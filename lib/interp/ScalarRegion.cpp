//===- ScalarRegion.cpp - evaluation of scalar regions --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/interp/ScalarRegion.h"

#include "dialects/nest/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace heddle::interp {

using Operands = ArrayRef<Scalar>;

FailureOr<ScalarRegion> ScalarRegion::prepare(Region &region, Arithmetic &arithmetic) {
  ScalarRegion result;
  llvm::DenseMap<Value, unsigned> slotOf;
  Block &block = region.front();
  for (Value argument : block.getArguments())
    slotOf.try_emplace(argument, slotOf.size());
  for (Operation &op : block.without_terminator()) {
    Step &step = result.steps.emplace_back();
    if (auto index = dyn_cast<nest::IndexOp>(op)) {
      step.index = index.getName().str();
    } else {
      step.function = functionOf(&op, arithmetic);
      if (!step.function)
        return LogicalResult(op.emitOpError() << "has no meaning as scalar code");
    }
    for (Value operand : op.getOperands()) {
      auto slot = slotOf.find(operand);
      if (slot == slotOf.end())
        return LogicalResult(op.emitOpError() << "uses a value from outside of its region");
      step.slots.push_back(slot->second);
    }
    slotOf.try_emplace(op.getResult(0), slotOf.size());
  }
  for (Value value : block.getTerminator()->getOperands()) {
    auto slot = slotOf.find(value);
    if (slot == slotOf.end())
      return LogicalResult(block.getTerminator()->emitOpError()
                           << "uses a value from outside of its region");
    result.resultSlots.push_back(slot->second);
  }
  result.slots.resize(slotOf.size());
  result.results.resize(result.resultSlots.size());
  return result;
}

ArrayRef<Scalar> ScalarRegion::run(ArrayRef<Scalar> arguments, Coordinates coordinates) {
  std::copy(arguments.begin(), arguments.end(), slots.begin());
  size_t next = arguments.size();
  SmallVector<Scalar, 4> operands;
  for (const Step &step : steps) {
    if (!step.function) {
      slots[next++] = integer(uint64_t(coordinates(step.index)), 64);
      continue;
    }
    operands.clear();
    for (unsigned slot : step.slots)
      operands.push_back(slots[slot]);
    slots[next++] = step.function(operands);
  }
  for (size_t i = 0; i < results.size(); ++i)
    results[i] = slots[resultSlots[i]];
  return results;
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// An op on two integers of one width; `compute` returns bits, or none where the op is undefined,
/// which gives 0.
template <typename Compute>
static std::function<Scalar(Operands)> binary(unsigned width, Compute compute) {
  return [=](Operands x) {
    std::optional<uint64_t> bits = compute(x[0], x[1]);
    Scalar result = integer(bits.value_or(0), width);
    result.undecided = x[0].undecided || x[1].undecided;
    return result;
  };
}

ScalarRegion::Function ScalarRegion::integerFunction(Operation *op) {
  using Bits = std::optional<uint64_t>;
  unsigned width = widthOf(op->getOperand(0).getType());
  auto s = [width](const Scalar &x) { return signedValue(x, width); };
  // The quotient overflows only for the smallest number divided by -1.
  auto divides = [=](const Scalar &a, const Scalar &b) {
    return b.bits != 0 && !(s(b) == -1 && s(a) == llvm::minIntN(width));
  };
  using S = const Scalar &;
  return TypeSwitch<Operation *, Function>(op)
      .Case<arith::AddIOp>(
          [&](auto) { return binary(width, [](S a, S b) -> Bits { return a.bits + b.bits; }); })
      .Case<arith::SubIOp>(
          [&](auto) { return binary(width, [](S a, S b) -> Bits { return a.bits - b.bits; }); })
      .Case<arith::MulIOp>(
          [&](auto) { return binary(width, [](S a, S b) -> Bits { return a.bits * b.bits; }); })
      .Case<arith::DivUIOp>([&](auto) {
        return binary(width, [](S a, S b) { return b.bits ? Bits(a.bits / b.bits) : Bits(); });
      })
      .Case<arith::RemUIOp>([&](auto) {
        return binary(width, [](S a, S b) { return b.bits ? Bits(a.bits % b.bits) : Bits(); });
      })
      .Case<arith::DivSIOp>([&](auto) {
        return binary(width, [=](S a, S b) { return divides(a, b) ? Bits(s(a) / s(b)) : Bits(); });
      })
      .Case<arith::RemSIOp>([&](auto) {
        return binary(width, [=](S a, S b) { return divides(a, b) ? Bits(s(a) % s(b)) : Bits(); });
      })
      .Case<arith::AndIOp>([&](auto) -> Function {
        return [](Operands x) {
          Scalar result = integer(x[0].bits & x[1].bits, 64);
          bool decided = (!x[0].undecided && !x[0].bits) || (!x[1].undecided && !x[1].bits);
          result.undecided = !decided && (x[0].undecided || x[1].undecided);
          return result;
        };
      })
      .Case<arith::OrIOp>([&](auto) -> Function {
        return [width](Operands x) {
          Scalar result = integer(x[0].bits | x[1].bits, 64);
          uint64_t ones = integer(~uint64_t(0), width).bits;
          bool decided =
              (!x[0].undecided && x[0].bits == ones) || (!x[1].undecided && x[1].bits == ones);
          result.undecided = !decided && (x[0].undecided || x[1].undecided);
          return result;
        };
      })
      .Case<arith::XOrIOp>(
          [&](auto) { return binary(width, [](S a, S b) -> Bits { return a.bits ^ b.bits; }); })
      .Case<arith::ShLIOp>([&](auto) {
        return binary(width,
                      [=](S a, S b) { return b.bits < width ? Bits(a.bits << b.bits) : Bits(); });
      })
      .Case<arith::ShRUIOp>([&](auto) {
        return binary(width,
                      [=](S a, S b) { return b.bits < width ? Bits(a.bits >> b.bits) : Bits(); });
      })
      .Case<arith::ShRSIOp>([&](auto) {
        return binary(width,
                      [=](S a, S b) { return b.bits < width ? Bits(s(a) >> b.bits) : Bits(); });
      })
      .Case<arith::MaxSIOp>([&](auto) {
        return binary(width, [=](S a, S b) -> Bits { return std::max(s(a), s(b)); });
      })
      .Case<arith::MinSIOp>([&](auto) {
        return binary(width, [=](S a, S b) -> Bits { return std::min(s(a), s(b)); });
      })
      .Case<arith::MaxUIOp>([&](auto) {
        return binary(width, [](S a, S b) -> Bits { return std::max(a.bits, b.bits); });
      })
      .Case<arith::MinUIOp>([&](auto) {
        return binary(width, [](S a, S b) -> Bits { return std::min(a.bits, b.bits); });
      })
      .Case<arith::CmpIOp>([&](arith::CmpIOp cmp) {
        return binary(1, [width, predicate = cmp.getPredicate()](S a, S b) -> Bits {
          return arith::applyCmpPredicate(predicate, llvm::APInt(width, a.bits),
                                          llvm::APInt(width, b.bits));
        });
      })
      .Case<math::AbsIOp>([&](auto) -> Function {
        return [=](Operands x) {
          Scalar result = integer(s(x[0]) < 0 ? -x[0].bits : x[0].bits, width);
          result.undecided = x[0].undecided;
          return result;
        };
      })
      .Default([](Operation *) { return Function(); });
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

static double reciprocalRoot(double x) { return 1 / std::sqrt(x); }

ScalarRegion::Function ScalarRegion::floatFunction(Operation *op, Arithmetic &a) {
  auto type = dyn_cast<FloatType>(op->getResult(0).getType());
  using Binary = Scalar (Arithmetic::*)(FloatType, const Scalar &, const Scalar &);
  auto binary = [&, type](Binary method) -> Function {
    return [&a, type, method](Operands x) { return (a.*method)(type, x[0], x[1]); };
  };
  auto extremum = [&](bool larger, bool numbersWin) -> Function {
    return
        [&a, larger, numbersWin](Operands x) { return a.extremum(x[0], x[1], larger, numbersWin); };
  };
  auto monotone = [&, type](double (*function)(double), double units = functionUnits) -> Function {
    return
        [&a, type, function, units](Operands x) { return a.monotone(type, function, x[0], units); };
  };
  auto gentle = [&, type](double (*function)(double)) -> Function {
    return [&a, type, function](Operands x) { return a.gentle(type, function, x[0]); };
  };
  auto integral = [&](double (*function)(double)) -> Function {
    return [&a, function](Operands x) { return a.integral(function, x[0]); };
  };
  return TypeSwitch<Operation *, Function>(op)
      .Case<arith::AddFOp>([&](auto) { return binary(&Arithmetic::add); })
      .Case<arith::SubFOp>([&](auto) { return binary(&Arithmetic::sub); })
      .Case<arith::MulFOp>([&](auto) { return binary(&Arithmetic::mul); })
      .Case<arith::DivFOp>([&](auto) { return binary(&Arithmetic::div); })
      .Case<arith::RemFOp>([&](auto) { return binary(&Arithmetic::rem); })
      .Case<math::PowFOp>([&](auto) { return binary(&Arithmetic::pow); })
      .Case<math::FmaOp>([&](auto) -> Function {
        return [&a, type](Operands x) { return a.fma(type, x[0], x[1], x[2]); };
      })
      .Case<arith::NegFOp>(
          [&](auto) -> Function { return [&a](Operands x) { return a.neg(x[0]); }; })
      .Case<math::AbsFOp>(
          [&](auto) -> Function { return [&a](Operands x) { return a.abs(x[0]); }; })
      .Case<arith::MaximumFOp>([&](auto) { return extremum(true, false); })
      .Case<arith::MinimumFOp>([&](auto) { return extremum(false, false); })
      .Case<arith::MaxNumFOp>([&](auto) { return extremum(true, true); })
      .Case<arith::MinNumFOp>([&](auto) { return extremum(false, true); })
      .Case<arith::CmpFOp>([&](arith::CmpFOp cmp) -> Function {
        return [predicate = cmp.getPredicate()](Operands x) {
          Scalar result = integer(arith::applyCmpPredicate(predicate, llvm::APFloat(x[0].value),
                                                           llvm::APFloat(x[1].value)),
                                  1);
          result.undecided = x[0].undecided || x[1].undecided || Arithmetic::tooClose(x[0], x[1]);
          return result;
        };
      })
      .Case<math::SqrtOp>([&](auto) { return monotone(std::sqrt, 1); })
      .Case<math::RsqrtOp>([&](auto) { return monotone(reciprocalRoot); })
      .Case<math::ExpOp>([&](auto) { return monotone(std::exp); })
      .Case<math::Exp2Op>([&](auto) { return monotone(std::exp2); })
      .Case<math::ExpM1Op>([&](auto) { return monotone(std::expm1); })
      .Case<math::LogOp>([&](auto) { return monotone(std::log); })
      .Case<math::Log1pOp>([&](auto) { return monotone(std::log1p); })
      .Case<math::Log2Op>([&](auto) { return monotone(std::log2); })
      .Case<math::Log10Op>([&](auto) { return monotone(std::log10); })
      .Case<math::SinhOp>([&](auto) { return monotone(std::sinh); })
      // Not monotone, but convex and even, so that its values at the ends of an interval bound it
      // too.
      .Case<math::CoshOp>([&](auto) { return monotone(std::cosh); })
      .Case<math::TanhOp>([&](auto) { return monotone(std::tanh); })
      .Case<math::AsinhOp>([&](auto) { return monotone(std::asinh); })
      .Case<math::AcoshOp>([&](auto) { return monotone(std::acosh); })
      .Case<math::AtanhOp>([&](auto) { return monotone(std::atanh); })
      .Case<math::AtanOp>([&](auto) { return monotone(std::atan); })
      .Case<math::ErfOp>([&](auto) { return monotone(std::erf); })
      .Case<math::ErfcOp>([&](auto) { return monotone(std::erfc); })
      .Case<math::SinOp>([&](auto) { return gentle(std::sin); })
      .Case<math::CosOp>([&](auto) { return gentle(std::cos); })
      .Case<math::CeilOp>([&](auto) { return integral(std::ceil); })
      .Case<math::FloorOp>([&](auto) { return integral(std::floor); })
      .Case<math::TruncOp>([&](auto) { return integral(std::trunc); })
      .Case<math::RoundEvenOp>([&](auto) { return integral(std::nearbyint); })
      .Default([](Operation *) { return Function(); });
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// Rounds a float towards zero to an integer of `width` bits; saturates, and gives 0 for NaN.
static Scalar saturated(const Scalar &x, unsigned width, bool isSigned) {
  auto convert = [&](double value) {
    llvm::APSInt result(width, !isSigned);
    bool exact; // NaN becomes 0
    llvm::APFloat(value).convertToInteger(result, llvm::APFloat::rmTowardZero, &exact);
    return result.getZExtValue();
  };
  Scalar result = integer(convert(x.value), width);
  result.undecided =
      x.undecided || (x.error != 0 && convert(x.value - x.error) != convert(x.value + x.error));
  return result;
}

static llvm::APFloat floatOf(FloatType type, double value) {
  llvm::APFloat result(value);
  bool loses;
  result.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &loses);
  return result;
}

static Scalar bitcast(const Scalar &x, Type from, Type to) {
  uint64_t bits = x.bits;
  if (auto real = dyn_cast<FloatType>(from))
    bits = floatOf(real, x.value).bitcastToAPInt().getZExtValue();
  Scalar result = integer(bits, widthOf(to));
  if (auto real = dyn_cast<FloatType>(to)) {
    llvm::APFloat value(real.getFloatSemantics(), llvm::APInt(real.getWidth(), bits));
    bool loses;
    value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &loses);
    result = exactly(value.convertToDouble());
  }
  result.undecided = x.undecided || (isa<FloatType>(from) && x.error != 0);
  return result;
}

ScalarRegion::Function ScalarRegion::conversion(Operation *op, Arithmetic &a) {
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  auto extend = [&](bool isSigned) -> Function {
    unsigned fromWidth = widthOf(from), toWidth = widthOf(to);
    return [=](Operands x) {
      Scalar result =
          integer(isSigned ? uint64_t(signedValue(x[0], fromWidth)) : x[0].bits, toWidth);
      result.undecided = x[0].undecided;
      return result;
    };
  };
  auto toFloat = [&](bool isSigned) -> Function {
    return [&a, isSigned, width = widthOf(from), type = cast<FloatType>(to)](Operands x) {
      double value = isSigned ? double(signedValue(x[0], width)) : double(x[0].bits);
      // A double has 53 bits of precision; converting a larger integer to it rounds.
      bool exact = std::fabs(value) <= std::ldexp(1.0, 53);
      return a.forceTo(type, a.rounded(type, value, 0, exact, x[0].undecided));
    };
  };
  auto toInteger = [&](bool isSigned) -> Function {
    return [&a, isSigned, width = widthOf(to), type = cast<FloatType>(from)](Operands x) {
      return saturated(a.forceTo(type, x[0]), width, isSigned);
    };
  };
  return TypeSwitch<Operation *, Function>(op)
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) -> Function {
        if (nd::keepsPrecision(op))
          return [&a, from, to](Operands x) { return a.convert(x[0], from, to); };
        return [&a, from = cast<FloatType>(from), to = cast<FloatType>(to)](Operands x) {
          return a.cast(x[0], from, to);
        };
      })
      .Case<arith::ExtSIOp, arith::IndexCastOp>([&](auto) { return extend(true); })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp, arith::TruncIOp>(
          [&](auto) { return extend(false); })
      .Case<arith::SIToFPOp>([&](auto) { return toFloat(true); })
      .Case<arith::UIToFPOp>([&](auto) { return toFloat(false); })
      .Case<arith::FPToSIOp>([&](auto) { return toInteger(true); })
      .Case<arith::FPToUIOp>([&](auto) { return toInteger(false); })
      .Case<arith::BitcastOp>([&](auto) -> Function {
        return [from, to](Operands x) { return bitcast(x[0], from, to); };
      })
      .Default([](Operation *) { return Function(); });
}

ScalarRegion::Function ScalarRegion::functionOf(Operation *op, Arithmetic &a) {
  if (!nd::isScalarOp(op))
    return {};
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return [value = ofAttribute(constant.getValue())](Operands) { return value; };
  if (isa<arith::SelectOp>(op))
    return [&a, isFloat = isa<FloatType>(op->getResult(0).getType())](Operands x) {
      return a.choose(x[0], x[1], x[2], isFloat);
    };
  for (Function function : {integerFunction(op), floatFunction(op, a), conversion(op, a)})
    if (function)
      return function;
  return {};
}

} // namespace heddle::interp
