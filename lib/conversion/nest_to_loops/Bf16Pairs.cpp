//===- Bf16Pairs.cpp - products of bf16 pairs -----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Some machines have a unit that adds the products of two adjacent bf16 pairs to an f32 in one
// instruction. Each of its 32-bit lanes holds two elements:
//
//     #nest.unit<"bf16_dot", (k: 2, m: 1, n: 16),
//                bf16 in [m, k] * bf16 in [n, k] + f32 in [m, n], ...>
//
// If the innermost loop of a reduction is a `unit` over such a pair (k, k + 1)
//
//     [loop k by 2, register m, register n by 16, vector n, unit k]
//
// every read of the tile loads 32-bit pairs, and the rest of the code is the same as for f32:
//
//     a[m, k], a[m, k + 1]     contiguous: one 32-bit scalar
//     b[k, n], b[k + 1, n]     copied as [n floordiv 32, k floordiv 2, n mod 32, k mod 2]:
//                              a vector of pairs
//
// A stage whose layout ends in `k mod 2` is copied as a tensor of such pairs. Pairs of an operand
// that is not staged are assembled in registers unless they are contiguous. If the size is odd, the
// last element is paired with zero, in both operands.
//
// A machine without the instruction can also run such schedules, adding the two products one after
// another. So every machine can run code that is emitted for others.
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Compute.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

namespace {
class Pairs : public Unit {
public:
  Pairs(MatrixUnitAttr unit, std::string variable) : unit(unit), variable(std::move(variable)) {}

  void visit(std::vector<Point> &steps) override {
    // Keep the first point of each pair.
    size_t all = steps.size();
    llvm::erase_if(
        steps, [&](const Point &step) { return step.values.find(variable)->second == Expr(1); });
    isWhole = steps.size() < all;
  }
  std::vector<Point> others(const Point &point) const override {
    if (!isWhole)
      return {};
    std::vector<Point> second{point};
    second[0].values[variable] = Expr(1);
    return second;
  }
  Type laneType(OpBuilder &b) const override { return b.getI32Type(); }
  Value fill(Emitter &e, Value number) const override {
    return pack(e, number, isWhole ? number : Value());
  }
  Value load(Emitter &e, const Memory &source, const Expr &offset, ArrayRef<Expr> others,
             const Point &point, Value mask, Section &section) const override;
  Value multiply(Emitter &e, Value total, Value left, Value right, int64_t lanes) const override;

private:
  MatrixUnitAttr unit;
  std::string variable; ///< of the unrolled loop over both
  bool isWhole = false; ///< false: the second element is zero

  /// Packs two bf16 numbers, which are held as f32, into 32 bits. `second` may be null, for zero.
  static Value pack(Emitter &e, Value first, Value second);
};
} // namespace

std::unique_ptr<Unit> ComputeEmitter::makeUnit() const {
  return scheduled.unit ? std::make_unique<Pairs>(scheduled.unit, scheduled.pair) : nullptr;
}

Value Pairs::pack(Emitter &e, Value first, Value second) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  int64_t lanes = 0;
  for (Value value : {first, second})
    if (auto vector = value ? dyn_cast<VectorType>(value.getType()) : VectorType())
      lanes = vector.getNumElements();
  Type i32 = b.getI32Type(), type = lanes ? Type(VectorType::get({lanes}, i32)) : i32;
  auto number = [&](int64_t n) {
    return e.splat(arith::ConstantIntOp::create(b, loc, n, 32), lanes);
  };
  auto bitsOf = [&](Value value) {
    return arith::BitcastOp::create(b, loc, type, e.splat(value, lanes));
  };
  // The upper half of an f32 is bf16.
  Value low = arith::ShRUIOp::create(b, loc, bitsOf(first), number(16));
  if (!second)
    return low;
  Value high = arith::AndIOp::create(b, loc, bitsOf(second), number(-(int64_t(1) << 16)));
  return arith::OrIOp::create(b, loc, low, high);
}

Value Pairs::load(Emitter &e, const Memory &source, const Expr &offset, ArrayRef<Expr> others,
                  const Point &point, Value mask, Section &section) const {
  if (source.type.getElementType().isInteger(32)) // a staged copy of pairs
    return e.load(source, offset, point, mask, section);
  if (!others.empty() && (others[0] - offset).simplify(e.ranges) == Expr(1) &&
      !source.layout.swizzle.bits) {
    Memory pairs = source;
    pairs.type = nd::NdTensorType::get(e.b.getContext(), e.b.getI32Type(), source.type.getDims());
    pairs.halves = true;
    return e.load(pairs, offset, point, mask, section);
  }
  Value first = e.load(source, offset, point, mask, section);
  return pack(e, first, others.empty() ? Value() : e.load(source, others[0], point, mask, section));
}

/// The first or the second elements of pairs, as f32.
static Value halfOf(Emitter &e, Value pairs, int64_t lanes, bool second) {
  Type i32 = e.b.getI32Type(), f32 = e.b.getF32Type();
  auto number = [&](int64_t n) {
    return e.splat(arith::ConstantIntOp::create(e.b, e.loc, n, 32), lanes);
  };
  if (lanes)
    i32 = VectorType::get({lanes}, i32), f32 = VectorType::get({lanes}, f32);
  pairs = e.splat(pairs, lanes);
  Value bits =
      second ? arith::AndIOp::create(e.b, e.loc, pairs, number(-(int64_t(1) << 16))).getResult()
             : arith::ShLIOp::create(e.b, e.loc, pairs, number(16)).getResult();
  return arith::BitcastOp::create(e.b, e.loc, f32, bits);
}

Value Pairs::multiply(Emitter &e, Value total, Value left, Value right, int64_t lanes) const {
  total = e.splat(total, lanes);
  left = e.splat(left, lanes);
  right = e.splat(right, lanes);
  if (Value made = e.target.multiply(e.b, e.loc, unit, total, left, right))
    return made;
  for (bool second : {false, true}) { // products of bf16 are exact in f32
    Value product = arith::MulFOp::create(e.b, e.loc, halfOf(e, left, lanes, second),
                                          halfOf(e, right, lanes, second));
    total = arith::AddFOp::create(e.b, e.loc, total, product);
  }
  return total;
}
