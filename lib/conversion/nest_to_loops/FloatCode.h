//===- FloatCode.h - arithmetic on floats as code ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Short words for the ops that functions of floats, and conversions of their bits, are made of
// (ApproximateMath.cpp, ComposeMath.cpp, NarrowFloats.cpp):
//
//     Value y = a.fma(a.mul(x, x), 0.5, x); // x + x^2 / 2
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_FLOATCODE_H
#define HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_FLOATCODE_H

#include "lib/support/Mlir.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

namespace heddle::nest {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();
using Is = mlir::arith::CmpFPredicate;

/// Builds arithmetic on scalars or vectors of one shape. Constants take the type of the other
/// operand.
class FloatCode {
public:
  FloatCode(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  Value number(Value like, double value) {
    return constant(like.getType(),
                    b.getFloatAttr(mlir::getElementTypeOrSelf(like.getType()), value));
  }
  Value integer(Value like, int64_t value) {
    return constant(like.getType(),
                    b.getIntegerAttr(mlir::getElementTypeOrSelf(like.getType()), value));
  }
  /// The type of `like` with other elements.
  Type with(Value like, Type element) {
    auto vector = llvm::dyn_cast<mlir::VectorType>(like.getType());
    return vector ? Type(vector.clone(element)) : element;
  }

  Value add(Value x, Value y) { return mlir::arith::AddFOp::create(b, loc, x, y); }
  Value add(Value x, double y) { return add(x, number(x, y)); }
  Value sub(Value x, Value y) { return mlir::arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return mlir::arith::MulFOp::create(b, loc, x, y); }
  Value mul(Value x, double y) { return mul(x, number(x, y)); }
  Value div(Value x, Value y) { return mlir::arith::DivFOp::create(b, loc, x, y); }
  Value neg(Value x) { return mlir::arith::NegFOp::create(b, loc, x); }
  Value abs(Value x) { return mlir::math::AbsFOp::create(b, loc, x); }
  Value signLike(Value x, Value like) { return mlir::math::CopySignOp::create(b, loc, x, like); }
  /// A function of one operand.
  template <typename Op>
  Value call(Value x) {
    return Op::create(b, loc, x);
  }
  /// x * y + z, fused or not.
  Value fma(Value x, Value y, Value z) {
    return mlir::LLVM::FMulAddOp::create(b, loc, x.getType(), x, y, z);
  }
  Value fma(Value x, double y, Value z) { return fma(x, number(x, y), z); }
  /// c[0] + z * (c[1] + z * ...).
  Value polynomial(Value z, ArrayRef<double> c) {
    Value sum = number(z, c.back());
    for (double each : llvm::reverse(c.drop_back()))
      sum = fma(sum, z, number(z, each));
    return sum;
  }

  Value compare(Is how, Value x, Value y) { return mlir::arith::CmpFOp::create(b, loc, how, x, y); }
  Value compare(Is how, Value x, double y) { return compare(how, x, number(x, y)); }
  Value both(Value x, Value y) { return mlir::arith::AndIOp::create(b, loc, x, y); }
  Value either(Value x, Value y) { return mlir::arith::OrIOp::create(b, loc, x, y); }
  Value select(Value condition, Value yes, Value no) {
    return mlir::arith::SelectOp::create(b, loc, condition, yes, no);
  }
  Value select(Value condition, double yes, Value no) {
    return select(condition, number(no, yes), no);
  }
  /// Clamps x from above (below); NaN stays NaN.
  Value atMost(Value x, double most) { return select(compare(Is::OGT, x, most), most, x); }
  Value atLeast(Value x, double least) { return select(compare(Is::OLT, x, least), least, x); }

  Value bits(Value x) {
    unsigned width = mlir::getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth();
    return to<mlir::arith::BitcastOp>(b.getIntegerType(width), x);
  }
  Value real(Value bits) {
    Type i32 = b.getI32Type();
    bool isSingle = mlir::getElementTypeOrSelf(bits.getType()) == i32;
    return to<mlir::arith::BitcastOp>(isSingle ? b.getF32Type() : b.getF64Type(), bits);
  }
  /// x without the last half of its bits, so that the square is exact.
  Value leading(Value x) {
    bool isDouble = mlir::getElementTypeOrSelf(x.getType()).isF64();
    Value all = bits(x), mask = integer(all, isDouble ? -(int64_t(1) << 32) : -(1 << 12));
    return real(both(all, mask));
  }
  Value addBits(Value x, Value y) { return mlir::arith::AddIOp::create(b, loc, x, y); }
  Value addBits(Value x, int64_t y) { return addBits(x, integer(x, y)); }
  Value subBits(Value x, Value y) { return mlir::arith::SubIOp::create(b, loc, x, y); }
  Value left(Value x, int64_t n) { return mlir::arith::ShLIOp::create(b, loc, x, integer(x, n)); }
  Value right(Value x, int64_t n) { return mlir::arith::ShRSIOp::create(b, loc, x, integer(x, n)); }
  /// The bits without the last `n`, as an unsigned number.
  Value drop(Value x, int64_t n) { return mlir::arith::ShRUIOp::create(b, loc, x, integer(x, n)); }
  Value least(Value x, Value y) { return mlir::arith::MinSIOp::create(b, loc, x, y); }
  Value isEqual(Value x, int64_t y) {
    return mlir::arith::CmpIOp::create(b, loc, mlir::arith::CmpIPredicate::eq, x, integer(x, y));
  }
  Value hasBit(Value x, int64_t bit) {
    return mlir::arith::CmpIOp::create(b, loc, mlir::arith::CmpIPredicate::ne,
                                       both(x, integer(x, bit)), integer(x, 0));
  }
  /// A conversion to other elements.
  template <typename Op>
  Value to(Type element, Value x) {
    return Op::create(b, loc, with(x, element), x);
  }
  Value toFloat(Value x) { return to<mlir::arith::SIToFPOp>(b.getF32Type(), x); }
  /// Requires that x fits. (arith.fptosi saturates in this compiler, see ExpandMath.cpp.)
  Value toInteger(Value x) { return to<mlir::LLVM::FPToSIOp>(b.getI32Type(), x); }
  Value widen(Value x) { return to<mlir::arith::ExtFOp>(b.getF64Type(), x); }
  Value narrow(Value x) { return to<mlir::arith::TruncFOp>(b.getF32Type(), x); }

private:
  OpBuilder &b;
  Location loc;

  Value constant(Type type, TypedAttr value) {
    if (auto vector = llvm::dyn_cast<mlir::VectorType>(type))
      value = mlir::DenseElementsAttr::get(vector, ArrayRef<Attribute>(value));
    return mlir::arith::ConstantOp::create(b, loc, value);
  }
};

} // namespace heddle::nest

#endif // HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_FLOATCODE_H
