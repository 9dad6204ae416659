//===- FloatCode.h - arithmetic on floats as code ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Short words for the ops that functions of floats, and conversions of their bits, are made of
// (Approximate.cpp, Compose.cpp, NarrowFloats.cpp):
//
//     Value y = a.fma(a.mul(x, x), 0.5, x); // x + x^2 / 2
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_FLOATCODE_H
#define HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_FLOATCODE_H

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
  FloatCode(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  mlir::Value number(mlir::Value like, double value) {
    return constant(like.getType(),
                    b.getFloatAttr(mlir::getElementTypeOrSelf(like.getType()), value));
  }
  mlir::Value integer(mlir::Value like, int64_t value) {
    return constant(like.getType(),
                    b.getIntegerAttr(mlir::getElementTypeOrSelf(like.getType()), value));
  }
  /// The type of `like` with other elements.
  mlir::Type with(mlir::Value like, mlir::Type element) {
    auto vector = llvm::dyn_cast<mlir::VectorType>(like.getType());
    return vector ? mlir::Type(vector.clone(element)) : element;
  }

  mlir::Value add(mlir::Value x, mlir::Value y) {
    return mlir::arith::AddFOp::create(b, loc, x, y);
  }
  mlir::Value add(mlir::Value x, double y) { return add(x, number(x, y)); }
  mlir::Value sub(mlir::Value x, mlir::Value y) {
    return mlir::arith::SubFOp::create(b, loc, x, y);
  }
  mlir::Value mul(mlir::Value x, mlir::Value y) {
    return mlir::arith::MulFOp::create(b, loc, x, y);
  }
  mlir::Value mul(mlir::Value x, double y) { return mul(x, number(x, y)); }
  mlir::Value div(mlir::Value x, mlir::Value y) {
    return mlir::arith::DivFOp::create(b, loc, x, y);
  }
  mlir::Value neg(mlir::Value x) { return mlir::arith::NegFOp::create(b, loc, x); }
  mlir::Value abs(mlir::Value x) { return mlir::math::AbsFOp::create(b, loc, x); }
  mlir::Value signLike(mlir::Value x, mlir::Value like) {
    return mlir::math::CopySignOp::create(b, loc, x, like);
  }
  /// A function of one operand.
  template <typename Op>
  mlir::Value call(mlir::Value x) {
    return Op::create(b, loc, x);
  }
  /// x * y + z, fused or not.
  mlir::Value fma(mlir::Value x, mlir::Value y, mlir::Value z) {
    return mlir::LLVM::FMulAddOp::create(b, loc, x.getType(), x, y, z);
  }
  mlir::Value fma(mlir::Value x, double y, mlir::Value z) { return fma(x, number(x, y), z); }
  /// c[0] + z * (c[1] + z * ...).
  mlir::Value polynomial(mlir::Value z, llvm::ArrayRef<double> c) {
    mlir::Value sum = number(z, c.back());
    for (double each : llvm::reverse(c.drop_back()))
      sum = fma(sum, z, number(z, each));
    return sum;
  }

  mlir::Value compare(Is how, mlir::Value x, mlir::Value y) {
    return mlir::arith::CmpFOp::create(b, loc, how, x, y);
  }
  mlir::Value compare(Is how, mlir::Value x, double y) { return compare(how, x, number(x, y)); }
  mlir::Value both(mlir::Value x, mlir::Value y) {
    return mlir::arith::AndIOp::create(b, loc, x, y);
  }
  mlir::Value either(mlir::Value x, mlir::Value y) {
    return mlir::arith::OrIOp::create(b, loc, x, y);
  }
  mlir::Value select(mlir::Value condition, mlir::Value yes, mlir::Value no) {
    return mlir::arith::SelectOp::create(b, loc, condition, yes, no);
  }
  mlir::Value select(mlir::Value condition, double yes, mlir::Value no) {
    return select(condition, number(no, yes), no);
  }
  /// Clamps x from above (below); NaN stays NaN.
  mlir::Value atMost(mlir::Value x, double most) {
    return select(compare(Is::OGT, x, most), most, x);
  }
  mlir::Value atLeast(mlir::Value x, double least) {
    return select(compare(Is::OLT, x, least), least, x);
  }

  mlir::Value bits(mlir::Value x) {
    unsigned width = mlir::getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth();
    return to<mlir::arith::BitcastOp>(b.getIntegerType(width), x);
  }
  mlir::Value real(mlir::Value bits) {
    mlir::Type i32 = b.getI32Type();
    bool isSingle = mlir::getElementTypeOrSelf(bits.getType()) == i32;
    return to<mlir::arith::BitcastOp>(isSingle ? b.getF32Type() : b.getF64Type(), bits);
  }
  /// x without the last half of its bits, so that the square is exact.
  mlir::Value leading(mlir::Value x) {
    bool isDouble = mlir::getElementTypeOrSelf(x.getType()).isF64();
    mlir::Value all = bits(x), mask = integer(all, isDouble ? -(int64_t(1) << 32) : -(1 << 12));
    return real(both(all, mask));
  }
  mlir::Value addBits(mlir::Value x, mlir::Value y) {
    return mlir::arith::AddIOp::create(b, loc, x, y);
  }
  mlir::Value addBits(mlir::Value x, int64_t y) { return addBits(x, integer(x, y)); }
  mlir::Value subBits(mlir::Value x, mlir::Value y) {
    return mlir::arith::SubIOp::create(b, loc, x, y);
  }
  mlir::Value left(mlir::Value x, int64_t n) {
    return mlir::arith::ShLIOp::create(b, loc, x, integer(x, n));
  }
  mlir::Value right(mlir::Value x, int64_t n) {
    return mlir::arith::ShRSIOp::create(b, loc, x, integer(x, n));
  }
  /// The bits without the last `n`, as an unsigned number.
  mlir::Value drop(mlir::Value x, int64_t n) {
    return mlir::arith::ShRUIOp::create(b, loc, x, integer(x, n));
  }
  mlir::Value least(mlir::Value x, mlir::Value y) {
    return mlir::arith::MinSIOp::create(b, loc, x, y);
  }
  mlir::Value isEqual(mlir::Value x, int64_t y) {
    return mlir::arith::CmpIOp::create(b, loc, mlir::arith::CmpIPredicate::eq, x, integer(x, y));
  }
  mlir::Value hasBit(mlir::Value x, int64_t bit) {
    return mlir::arith::CmpIOp::create(b, loc, mlir::arith::CmpIPredicate::ne,
                                       both(x, integer(x, bit)), integer(x, 0));
  }
  /// A conversion to other elements.
  template <typename Op>
  mlir::Value to(mlir::Type element, mlir::Value x) {
    return Op::create(b, loc, with(x, element), x);
  }
  mlir::Value toFloat(mlir::Value x) { return to<mlir::arith::SIToFPOp>(b.getF32Type(), x); }
  /// Requires that x fits. (arith.fptosi saturates in this compiler, see ExpandMath.cpp.)
  mlir::Value toInteger(mlir::Value x) { return to<mlir::LLVM::FPToSIOp>(b.getI32Type(), x); }
  mlir::Value widen(mlir::Value x) { return to<mlir::arith::ExtFOp>(b.getF64Type(), x); }
  mlir::Value narrow(mlir::Value x) { return to<mlir::arith::TruncFOp>(b.getF32Type(), x); }

private:
  mlir::OpBuilder &b;
  mlir::Location loc;

  mlir::Value constant(mlir::Type type, mlir::TypedAttr value) {
    if (auto vector = llvm::dyn_cast<mlir::VectorType>(type))
      value = mlir::DenseElementsAttr::get(vector, llvm::ArrayRef<mlir::Attribute>(value));
    return mlir::arith::ConstantOp::create(b, loc, value);
  }
};

} // namespace heddle::nest

#endif // HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_FLOATCODE_H
