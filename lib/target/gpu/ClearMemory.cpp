//===- ClearMemory.cpp - a kernel that zeroes memory ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/target/gpu/ClearMemory.h"

#include "lib/target/gpu/GpuLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heddle;

OwningOpRef<ModuleOp> heddle::gpu::buildClear(MLIRContext *context, const std::string &symbol,
                                              std::optional<int64_t> bytes) {
  context->loadDialect<arith::ArithDialect, scf::SCFDialect, LLVM::LLVMDialect>();
  Location loc = UnknownLoc::get(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
  GpuLoops target;
  nest::KernelFrame frame =
      target.begin(b, loc, symbol, /*bases=*/1, /*sizes=*/bytes ? 0 : 1, /*lanes=*/0);
  Block *body = b.getBlock();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, loc, value, 64);
  };
  Value start = arith::MulIOp::create(b, loc, frame.chunk, number(clearChunkBytes));
  Value whole = bytes ? number(*bytes) : frame.sizes[0];
  Value end = arith::MinSIOp::create(
      b, loc, arith::AddIOp::create(b, loc, start, number(clearChunkBytes)), whole);
  scf::ForOp::create(b, loc, start, end, number(1), ValueRange(),
                     [&](OpBuilder &b, Location loc, Value at, ValueRange) {
                       Value address =
                           LLVM::GEPOp::create(b, loc, frame.bases[0].getType(), b.getI8Type(),
                                               frame.bases[0], ArrayRef<LLVM::GEPArg>{at});
                       Value zero = arith::ConstantIntOp::create(b, loc, 0, 8);
                       LLVM::StoreOp::create(b, loc, zero, address);
                       scf::YieldOp::create(b, loc);
                     });
  b.setInsertionPointToEnd(body);
  target.end(b, loc, /*sharedBytes=*/0);
  return module;
}
