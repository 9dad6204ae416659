//===- KernelModule.cpp - builds kernels op by op -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/target/cpu/KernelModule.h"

using namespace heddle;
using namespace mlir;

OwningOpRef<ModuleOp> cpu::buildKernelModule(
    MLIRContext *context, const std::string &symbol,
    llvm::function_ref<void(OpBuilder &, Location, LLVM::LLVMFuncOp, ValueRange)> body) {
  context->loadDialect<LLVM::LLVMDialect>();
  OpBuilder b(context);
  Location loc = UnknownLoc::get(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  b.setInsertionPointToEnd(module->getBody());
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto function =
      LLVM::LLVMFuncOp::create(b, loc, symbol,
                               LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                                           {pointer, b.getI64Type(), pointer}));
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToEnd(entry);
  body(b, loc, function, entry->getArguments());
  LLVM::ReturnOp::create(b, loc, ValueRange{});
  return module;
}
