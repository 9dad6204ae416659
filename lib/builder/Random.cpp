//===- Random.cpp - keys, and random numbers from them --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"
#include "heddle/Ops.h"
#include "lib/builder/Pointwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace heddle;
using namespace heddle::detail;
using namespace mlir;

namespace heddle {

Tensor randomBits(const Tensor &key, const std::vector<Extent> &by, Here here) {
  NodeRef keyNode = nodeOf(key, here);
  SmallVector<nd::Dim> dims = dimsOf(by, here); // in the given order
  return make(here, {keyNode}, [&](OpBuilder &builder, Location loc) {
    return nd::buildRandom(builder, loc, keyNode->value, dims);
  });
}

Tensor randomUniform(const Tensor &key, const std::vector<Extent> &by, Here here) {
  Tensor bits = randomBits(key, by, here);
  // 24 bits, the precision of f32.
  Type ui32 = toMlir(ElementType::UI32), f32 = toMlir(ElementType::F32);
  return pointwiseMixed(
      here, {bits}, f32, [&](OpBuilder &builder, Location loc, ArrayRef<Value> v) -> Value {
        Value high = arith::ShRUIOp::create(builder, loc, v[0],
                                            nd::buildNumber(builder, loc, v[0].getType(), 8));
        Value real = nd::convertScalar(builder, loc, high, ui32, f32);
        return arith::MulFOp::create(builder, loc, real,
                                     nd::buildNumber(builder, loc, f32, 1.0 / 16777216.0));
      });
}

Tensor randomNormal(const Tensor &key, const std::vector<Extent> &by, Here here) {
  // Box and Muller, Annals of Mathematical Statistics 29 (1958): from two uniform numbers.
  Tensor radius = randomUniform(fold(key, Operand(1.0, here)), by, here);
  Tensor angle = randomUniform(fold(key, Operand(2.0, here)), by, here);
  auto at = [&](const Tensor &tensor) { return Operand(tensor, here); };
  auto of = [&](double number) { return Operand(number, here); };
  Tensor length = sqrt(at(at(log(at(of(1.0) - at(radius)))) * of(-2.0)));
  return at(length) * at(cos(at(at(angle) * of(6.283185307179586))));
}

Tensor randomIntegers(const Tensor &key, int64_t low, int64_t high, const std::vector<Extent> &by,
                      Here here) {
  if (high <= low || uint64_t(high) - uint64_t(low) > uint64_t(1) << 32)
    fail(here, "expected a range of 1 to 2^32 integers, got " + std::to_string(low) + " to below " +
                   std::to_string(high));
  // The upper half of bits * range (Lemire, ACM TOMACS 29 (2019)).
  Type i64 = toMlir(ElementType::I64);
  return pointwiseMixed(here, {randomBits(key, by, here)}, i64,
                        [&](OpBuilder &builder, Location loc, ArrayRef<Value> v) -> Value {
                          auto literal = [&](int64_t n) -> Value {
                            return arith::ConstantOp::create(builder, loc,
                                                             builder.getI64IntegerAttr(n));
                          };
                          Value wide = arith::ExtUIOp::create(builder, loc, i64, v[0]);
                          wide = arith::MulIOp::create(builder, loc, wide, literal(high - low));
                          wide = arith::ShRUIOp::create(builder, loc, wide, literal(32));
                          return arith::AddIOp::create(builder, loc, wide, literal(low));
                        });
}

Tensor randomPermutation(const Tensor &key, const Extent &extent, Here here) {
  return argsort(Operand(randomBits(key, {extent}, here), here), extent.name);
}

Tensor key(uint64_t seed, Here here) {
  return Tensor::ofBytes(&seed, 1, ElementType::UI64, {}, here);
}

Tensor fold(const Tensor &key, Operand index) {
  // A step of SplitMix64 (Steele, Lea, Flood, OOPSLA'14) on the key moved by the index.
  GraphLock lock;
  Here here = index.here;
  Type ui64 = toMlir(ElementType::UI64);
  std::vector<Tensor> operands{key};
  if (!index.tensor.empty())
    operands.push_back(index.tensor);
  else
    requireNumber(index.number, toMlir(ElementType::I64), here);
  return pointwiseMixed(
      here, operands, ui64, [&](OpBuilder &builder, Location loc, ArrayRef<Value> v) -> Value {
        auto literal = [&](uint64_t n) -> Value {
          return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(int64_t(n)));
        };
        Value moved = index.tensor.empty()
                          ? literal(uint64_t(index.number))
                          : nd::convertScalar(builder, loc, v[1],
                                              index.tensor.node->type().getElementType(), ui64);
        moved = arith::AddIOp::create(builder, loc, moved, literal(1));
        Value z = arith::AddIOp::create(
            builder, loc, v[0],
            arith::MulIOp::create(builder, loc, moved, literal(0x9e3779b97f4a7c15ull)));
        auto mixed = [&](Value x, uint64_t shift, uint64_t factor) -> Value {
          Value y = arith::XOrIOp::create(builder, loc, x,
                                          arith::ShRUIOp::create(builder, loc, x, literal(shift)));
          return factor ? Value(arith::MulIOp::create(builder, loc, y, literal(factor))) : y;
        };
        return mixed(mixed(mixed(z, 30, 0xbf58476d1ce4e5b9ull), 27, 0x94d049bb133111ebull), 31, 0);
      });
}

} // namespace heddle
