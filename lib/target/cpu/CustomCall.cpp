//===- CustomCall.cpp - calls of custom kernels ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/target/cpu/CustomCall.h"
#include "lib/target/cpu/KernelModule.h"

using namespace heddle;
using namespace mlir;

OwningOpRef<ModuleOp> cpu::buildCustomCall(MLIRContext *context, const std::string &symbol,
                                           const std::string &function, ArrayRef<int64_t> numbers) {
  return buildKernelModule(
      context, symbol, [&](OpBuilder &b, Location loc, LLVM::LLVMFuncOp kernel, ValueRange given) {
        auto pointer = LLVM::LLVMPointerType::get(context);
        Type i64 = b.getI64Type();
        OpBuilder before(kernel);
        auto callee =
            LLVM::LLVMFuncOp::create(before, loc, function,
                                     LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                                                 {pointer, i64, pointer, pointer}));
        // The callee is in the same block of code, so the call needs no GOT.
        callee.setVisibility_(LLVM::Visibility::Hidden);
        Value count =
            LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(int64_t(numbers.size())));
        Value list = LLVM::AllocaOp::create(b, loc, pointer, i64, count);
        for (auto [i, number] : llvm::enumerate(numbers)) {
          Value pointerTo = LLVM::GEPOp::create(b, loc, pointer, i64, list,
                                                ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(int32_t(i))});
          Value value = LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(number));
          LLVM::StoreOp::create(b, loc, value, pointerTo);
        }
        SmallVector<Value> arguments(given);
        arguments.push_back(list);
        LLVM::CallOp::create(b, loc, callee, arguments);
      });
}
