//===- CpuLoops.cpp - CPU parts of the loop emission ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/target/cpu/CpuLoops.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace heddle;
using namespace heddle::cpu;
using namespace mlir;

nest::KernelFrame CpuLoops::begin(OpBuilder &b, Location loc, StringRef symbol, size_t bases,
                                  size_t sizes, int64_t) const {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto function = func::FuncOp::create(b, loc, symbol,
                                       b.getFunctionType({pointer, b.getI64Type(), pointer}, {}));
  Block *entry = function.addEntryBlock();
  b.setInsertionPointToEnd(entry);
  int32_t slots = 0;
  auto next = [&](Type type) -> Value {
    Value slot = LLVM::GEPOp::create(b, loc, pointer, pointer, entry->getArgument(0),
                                     ArrayRef<LLVM::GEPArg>{slots++});
    return LLVM::LoadOp::create(b, loc, type, slot);
  };
  nest::KernelFrame frame{{}, {}, entry->getArgument(1), entry->getArgument(2)};
  for (size_t i = 0; i < bases; ++i)
    frame.bases.push_back(next(pointer));
  for (size_t i = 0; i < sizes; ++i)
    frame.sizes.push_back(next(b.getI64Type()));
  return frame;
}

void CpuLoops::prefetch(OpBuilder &b, Location loc, Value pointer, bool write, bool near) const {
  LLVM::Prefetch::create(b, loc, pointer, /*rw=*/write, /*hint=*/write || near ? 3 : 2,
                         /*cache=*/1);
}

bool CpuLoops::gathers(int64_t lanes, unsigned bytes) const {
  return machine && machine.integer("vector_bytes", 0) >= 64 && bytes >= 4 && lanes >= 8;
}

Value CpuLoops::multiply(OpBuilder &b, Location loc, nest::MatrixUnitAttr unit, Value total,
                         Value left, Value right) const {
  auto type = cast<VectorType>(total.getType());
  int64_t bits = type.getNumElements() * type.getElementTypeBitWidth();
  if (unit.getName() != "bf16_dot" || !machine.has(unit) ||
      !llvm::is_contained({128, 256, 512}, bits))
    return {};
  auto pairs = VectorType::get({2 * type.getNumElements()}, unit.getLeftType());
  auto inPairs = [&](Value value) -> Value {
    return vector::BitCastOp::create(b, loc, pairs, value);
  };
  return LLVM::CallIntrinsicOp::create(
             b, loc, type, b.getStringAttr("llvm.x86.avx512bf16.dpbf16ps." + std::to_string(bits)),
             ValueRange{total, inPairs(left), inPairs(right)})
      .getResult(0);
}
