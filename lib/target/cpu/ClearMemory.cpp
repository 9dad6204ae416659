//===- ClearMemory.cpp - a kernel that zeroes memory ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/target/cpu/ClearMemory.h"
#include "lib/target/cpu/KernelModule.h"

using namespace heddle;
using namespace mlir;

OwningOpRef<ModuleOp> cpu::buildClear(MLIRContext *context, const std::string &symbol,
                                      std::optional<int64_t> bytes) {
  return buildKernelModule(
      context, symbol, [&](OpBuilder &b, Location loc, LLVM::LLVMFuncOp, ValueRange arguments) {
        auto pointer = LLVM::LLVMPointerType::get(context);
        auto number = [&](int64_t value) -> Value {
          return LLVM::ConstantOp::create(b, loc, b.getI64Type(), b.getI64IntegerAttr(value));
        };
        Value start = LLVM::MulOp::create(b, loc, arguments[1], number(zeroChunkBytes));
        Value whole;
        if (bytes) {
          whole = number(*bytes);
        } else {
          Value slot = LLVM::GEPOp::create(b, loc, pointer, pointer, arguments[0],
                                           ArrayRef<LLVM::GEPArg>{1});
          whole = LLVM::LoadOp::create(b, loc, b.getI64Type(), slot);
        }
        Value rest = LLVM::SubOp::create(b, loc, whole, start);
        Value isLast =
            LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::slt, rest, number(zeroChunkBytes));
        Value length = LLVM::SelectOp::create(b, loc, isLast, rest, number(zeroChunkBytes));
        Value base = LLVM::LoadOp::create(b, loc, pointer, arguments[0]);
        Value first = LLVM::GEPOp::create(b, loc, pointer, b.getI8Type(), base,
                                          ArrayRef<LLVM::GEPArg>{start});
        Value zero = LLVM::ConstantOp::create(b, loc, b.getI8Type(), b.getI8IntegerAttr(0));
        LLVM::MemsetOp::create(b, loc, first, zero, length, /*isVolatile=*/false);
      });
}
