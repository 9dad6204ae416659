//===- Instructions.cpp - what scalar ops cost on vectors -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/Instructions.h"

#include "dialects/nest/Nest.h"
#include "lib/analysis/NestAnalysis.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace heddle;
using namespace heddle::cost;
using namespace mlir;

/// Returns the instructions of an op whose elements are not wider than lanes.
static Instructions narrowInstructionsOf(Operation &op) {
  Type type = op.getNumOperands() ? op.getOperand(0).getType() : op.getResult(0).getType();
  bool isDouble = type.isF64(), isFloat = isa<FloatType>(type);
  double wide = isDouble ? 2 : 1; // dividers take half as many lanes
  return llvm::TypeSwitch<Operation *, Instructions>(&op)
      .Case<arith::ConstantOp, nest::IndexOp>([](auto) { return Instructions{}; })
      .Case<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>([&](auto) { // part of a load
        bool isRead = isa<BlockArgument>(op.getOperand(0));
        return Instructions{.vector = isRead ? 0.4 : 1, .cycles = 3};
      })
      .Case<arith::TruncFOp>([](auto) { return Instructions{.vector = 3, .cycles = 6}; })
      .Case<arith::MaximumFOp, arith::MinimumFOp>(
          [](auto) { return Instructions{.vector = 6, .cycles = 14}; })
      .Case<arith::DivFOp, arith::RemFOp, math::SqrtOp, math::RsqrtOp>(
          [&](auto) { return Instructions{.vector = 12 * wide, .cycles = 16}; })
      .Case<arith::MulIOp>([](auto) { return Instructions{.vector = 2, .cycles = 10}; })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(
          [](auto) { return Instructions{.vector = 20, .cycles = 24}; })
      .Case<math::ExpOp, math::Exp2Op>([&](auto) {
        return isDouble ? Instructions{.calls = 1, .cycles = 100}
                        : Instructions{.vector = 22, .cycles = 50};
      })
      .Default([&](Operation *other) {
        if (isFunction(*other))
          return isDouble ? Instructions{.calls = 1, .cycles = 100}
                          : Instructions{.vector = 32, .cycles = 60};
        return Instructions{.vector = 1, .cycles = isFloat ? 4.0 : 1.0};
      });
}

Instructions cost::instructionsOf(Operation &op, unsigned laneBits) {
  if (op.getNumResults() != 1)
    return {};
  Instructions all = narrowInstructionsOf(op);
  unsigned bits = laneBits;
  auto widen = [&](Type type) {
    if (auto integer = dyn_cast<IntegerType>(type))
      bits = std::max(bits, integer.getWidth());
  };
  widen(op.getResult(0).getType());
  llvm::for_each(op.getOperandTypes(), widen);
  all.vector *= double(bits) / laneBits;
  return all;
}

Instructions cost::instructionsOf(Region &region, unsigned laneBits) {
  Instructions sum;
  llvm::DenseMap<Value, double> ready; // cycles after the operands of the region
  forEachVaryingOp(region, [&](Operation &op) {
    Instructions own = instructionsOf(op, laneBits);
    double start = 0;
    for (Value operand : op.getOperands())
      start = std::max(start, ready.lookup(operand));
    for (Value result : op.getResults())
      ready[result] = start + own.cycles;
    sum.vector += own.vector, sum.calls += own.calls;
    sum.cycles = std::max(sum.cycles, start + own.cycles);
  });
  return sum;
}
