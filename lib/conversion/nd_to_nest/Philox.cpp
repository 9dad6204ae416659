//===- Philox.cpp - random bits by coordinates ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nd_to_nest/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

Value nest::philox(OpBuilder &builder, Location where, Value key, ArrayAttr order,
                   nd::NdTensorType type) {
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  auto literal = [&](uint64_t n, unsigned width) -> Value {
    return arith::ConstantOp::create(
        builder, where, builder.getIntegerAttr(builder.getIntegerType(width), APInt(width, n)));
  };
  auto low = [&](Value v) -> Value { return arith::TruncIOp::create(builder, where, i32, v); };
  auto high = [&](Value v) -> Value {
    return low(arith::ShRUIOp::create(builder, where, v, literal(32, 64)));
  };
  Value position = literal(0, 64);
  for (auto name : order.getAsValueRange<StringAttr>()) {
    Expr size = type.size(name).getExpr();
    Value count = size.isConstant() ? literal(uint64_t(*size.constant()), 64)
                                    : Value(arith::IndexCastOp::create(
                                          builder, where, i64, emitIndex(builder, where, size)));
    position = arith::AddIOp::create(builder, where,
                                     arith::MulIOp::create(builder, where, position, count),
                                     Lowering::indexAs(builder, where, name, i64));
  }
  Value counter = arith::ShRUIOp::create(builder, where, position, literal(2, 64));
  Value word = low(arith::AndIOp::create(builder, where, position, literal(3, 64)));
  Value x[4] = {low(counter), high(counter), literal(0, 32), literal(0, 32)};
  Value k[2] = {low(key), high(key)};
  for (int round = 0; round < 10; ++round) {
    auto product = [&](uint64_t factor, Value v) -> Value {
      return arith::MulIOp::create(builder, where, literal(factor, 64),
                                   arith::ExtUIOp::create(builder, where, i64, v));
    };
    Value p0 = product(0xD2511F53u, x[0]), p1 = product(0xCD9E8D57u, x[2]);
    auto mix = [&](Value a, Value c, Value key) -> Value {
      return arith::XOrIOp::create(builder, where, arith::XOrIOp::create(builder, where, a, c),
                                   key);
    };
    Value next[4] = {mix(high(p1), x[1], k[0]), low(p1), mix(high(p0), x[3], k[1]), low(p0)};
    std::copy(next, next + 4, x);
    k[0] = arith::AddIOp::create(builder, where, k[0], literal(0x9E3779B9u, 32));
    k[1] = arith::AddIOp::create(builder, where, k[1], literal(0xBB67AE85u, 32));
  }
  Value result = x[3];
  for (int i = 2; i >= 0; --i) {
    Value is = arith::CmpIOp::create(builder, where, arith::CmpIPredicate::eq, word,
                                     literal(uint64_t(i), 32));
    result = arith::SelectOp::create(builder, where, is, x[i], result);
  }
  return result;
}
