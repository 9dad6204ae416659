//===- Pairs.cpp - products of bf16, two at once --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Some machines add products of two neighbours of bf16 to a number of f32 at once: `vdpbf16ps` has
// lanes of 32 bits, in each of which lie two elements. Where the innermost loop of a reduction
// walks such a pair (k, k + 1) as a `unit`
//
//     [loop k by 2, register m, register n by 16, vector n, unit k]
//
// every read of the tile gives 32 bits, and all else is as it is with f32:
//
//     a[m, k], a[m, k + 1]     side by side: one scalar of 32 bits
//     b[k, n], b[k + 1, n]     copied as [n floordiv 32, k floordiv 2, n mod 32, k mod 2]:
//                              a vector of them
//
// A stage whose layout ends in `k mod 2` is copied as a tensor of such pairs; what is read where it
// lies and not side by side is put together in registers. The last element of an odd size has a
// zero beside it, in both operands.
//
// A machine that lacks the instruction may be told to walk pairs all the same: then a product of
// each half is added by itself. So every machine can run what is emitted for others.
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Compute.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

Value Emitter::pairOf(Value first, Value second) {
  int64_t lanes = 0;
  for (Value value : {first, second})
    if (auto vector = value ? dyn_cast<VectorType>(value.getType()) : VectorType())
      lanes = vector.getNumElements();
  Type i32 = b.getI32Type(), type = lanes ? Type(VectorType::get({lanes}, i32)) : i32;
  auto number = [&](int64_t n) {
    return splat(arith::ConstantIntOp::create(b, loc, n, 32), lanes);
  };
  auto bitsOf = [&](Value value) {
    return arith::BitcastOp::create(b, loc, type, splat(value, lanes));
  };
  // Of f32 the upper half is bf16.
  Value low = arith::ShRUIOp::create(b, loc, bitsOf(first), number(16));
  if (!second)
    return low;
  Value high = arith::AndIOp::create(b, loc, bitsOf(second), number(-(int64_t(1) << 16)));
  return arith::OrIOp::create(b, loc, low, high);
}

Value Emitter::loadPair(const Memory &source, const Expr &offset, const std::optional<Expr> &next,
                        const Point &point, Value mask, Section &section) {
  if (source.type.getElementType().isInteger(32)) // a copy of pairs
    return load(source, offset, point, mask, section);
  if (next && (*next - offset).simplify(ranges) == Expr(1) && !source.layout.swizzle.bits) {
    Memory pairs = source;
    pairs.type = nd::NdTensorType::get(b.getContext(), b.getI32Type(), source.type.getDims());
    pairs.halves = true;
    return load(pairs, offset, point, mask, section);
  }
  return pairOf(load(source, offset, point, mask, section),
                next ? load(source, *next, point, mask, section) : Value());
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

Value Emitter::dot(Value total, Value x, Value y, int64_t lanes) {
  if (!machine.integer("has_bf16_dot", 0)) {
    total = splat(total, lanes);
    for (bool second : {false, true}) { // products of bf16 are exact in f32
      Value product = arith::MulFOp::create(b, loc, halfOf(*this, x, lanes, second),
                                            halfOf(*this, y, lanes, second));
      total = arith::AddFOp::create(b, loc, total, product);
    }
    return total;
  }
  auto type = VectorType::get({2 * lanes}, b.getBF16Type());
  auto pairs = [&](Value value) -> Value {
    return vector::BitCastOp::create(b, loc, type, splat(value, lanes));
  };
  return x86vector::DotBF16Op::create(b, loc, splat(total, lanes), pairs(x), pairs(y));
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

const Group &ComputeEmitter::pairGroup() const {
  return llvm::find_if(plan.tile, [&](const Walk &walk) { return walk.variable == plan.pair; })
      ->group;
}

std::string ComputeEmitter::pairedPlace(MapAttr map, const Layout &layout) const {
  if (plan.pair.empty() || layout.factors.empty() || layout.swizzle.bits)
    return "";
  const Layout::Factor &last = layout.factors.back();
  if (last.names.size() != 1 || last.divisor != 1 || last.modulus != 2)
    return "";
  const std::string &place = last.names[0];
  for (const Layout::Factor &factor : ArrayRef<Layout::Factor>(layout.factors).drop_back())
    if (llvm::is_contained(factor.names, place) &&
        (factor.names.size() > 1 || factor.divisor % 2 || factor.low % 2 || factor.high % 2))
      return "";
  return map.lookup(place)->asName() == pairGroup()[0] ? place : "";
}

/// A layout of two places of `name` each, as one of single places.
static Layout halved(Layout layout, StringRef name) {
  for (Layout::Factor &factor : layout.factors)
    if (factor.names.size() == 1 && factor.names[0] == name)
      factor = {factor.names, factor.divisor / 2, factor.modulus, factor.low / 2, factor.high / 2};
  return layout;
}

/// Whether neighbours along `name`, the first one even, lie side by side.
static bool isInnermost(const Layout &layout, StringRef name) {
  if (layout.factors.empty() || layout.swizzle.bits)
    return false;
  const Layout::Factor &last = layout.factors.back();
  return last.names.size() == 1 && last.names[0] == name && last.divisor == 1 &&
         last.modulus % 2 == 0 && last.low % 2 == 0;
}

FailureOr<Value> ComputeEmitter::copyPairs(const Box &box, const Layout &layout, StringRef pairs) {
  MLIRContext *context = op.getContext();
  OpBuilder builder(context);
  NestBuilder copy(builder, op.getLoc());
  auto inPairs = [&](ArrayRef<nd::Dim> dims) {
    SmallVector<nd::Dim> result(dims);
    for (nd::Dim &dim : result)
      if (dim.name.getValue() == pairs)
        dim = nd::Dim(context, pairs, dim.size().getExpr().ceildiv(2));
    return result;
  };
  copy.produced = nd::DimsAttr::getSorted(context, inPairs(box.dims));
  const Memory source = e.memory.find(box.tensor)->second;
  Layout from = freeLayout(source), to = layout;
  to.factors.pop_back();
  const Expr &end = plan.sizes.find(pairGroup())->second;
  Type i32 = builder.getI32Type();
  bool isPaired = source.type.getElementType() == i32;
  ComputeOp copied;
  if (isPaired || (isInnermost(from, pairs) && end.mod(2).constant() == 0)) {
    // Both at once, as a tensor of pairs.
    Value both = box.tensor;
    if (!isPaired) {
      auto type = nd::NdTensorType::get(context, i32, tensorTypeOf(box.tensor).getDims());
      auto seen = UnrealizedConversionCastOp::create(builder, op.getLoc(), type, box.tensor);
      e.temporaries.push_back(seen);
      both = seen.getResult(0);
      Memory halves = source;
      halves.type = nd::NdTensorType::get(context, i32, source.type.getDims());
      halves.halves = true;
      e.memory[both] = halves;
      from.factors.back().divisor = 2;
      from.factors.back().modulus /= 2;
    }
    box.read(copy, both, pairs, 0, end);
    copied =
        copy.create({i32}, [](OpBuilder &, Location, ValueRange read) { return Values(read); });
  } else {
    box.read(copy, box.tensor, pairs, 0, end);
    box.read(copy, box.tensor, pairs, 1, end);
    copied = copy.create({i32}, [&](OpBuilder &b, Location loc, ValueRange read) {
      auto bitsOf = [&](Value value) -> Value {
        value = arith::ExtFOp::create(b, loc, b.getF32Type(), value);
        return arith::BitcastOp::create(b, loc, i32, value);
      };
      Value places = arith::ConstantIntOp::create(b, loc, 16, 32),
            upper = arith::ConstantIntOp::create(b, loc, -(int64_t(1) << 16), 32);
      Value low = arith::ShRUIOp::create(b, loc, bitsOf(read[0]), places),
            high = arith::AndIOp::create(b, loc, bitsOf(read[1]), upper);
      return Values{arith::OrIOp::create(b, loc, low, high)};
    });
  }
  FailureOr<Value> result = emitCopy(copied, inPairs(box.whole), halved(to, pairs), from);
  // Both places of a pair are read where it lies.
  if (succeeded(result)) {
    Memory &memory = e.memory[*result];
    memory.layout = to;
    memory.type = memory.type.withDims(box.whole);
  }
  return result;
}
