//===- GpuLoops.cpp - GPU parts of the loop emission ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/target/gpu/GpuLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heddle;
using heddle::gpu::GpuLoops;

nest::KernelFrame GpuLoops::begin(OpBuilder &b, Location loc, StringRef symbol, size_t bases,
                                  size_t sizes) const {
  b.getContext()->loadDialect<mlir::gpu::GPUDialect>();
  auto pointer = LLVM::LLVMPointerType::get(b.getContext(), /*addressSpace=*/1);
  Type i64 = b.getI64Type();
  SmallVector<Type> types;
  for (size_t i = 0; i < bases; ++i)
    types.append({pointer, i64});
  types.append(sizes, i64);
  types.append({i64, i64, pointer, i64});
  auto module = mlir::gpu::GPUModuleOp::create(b, loc, "kernels");
  b.setInsertionPointToStart(&module.getBodyRegion().front());
  auto function = mlir::gpu::GPUFuncOp::create(b, loc, symbol, b.getFunctionType(types, {}));
  function->setAttr(mlir::gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  function.setKnownBlockSizeAttr(b.getDenseI32ArrayAttr({blockLanes, 1, 1}));
  Block *body = &function.getBody().front();
  b.setInsertionPointToEnd(body);

  auto at = [&](Value base, Value bytes) -> Value {
    return LLVM::GEPOp::create(b, loc, pointer, b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{bytes});
  };
  nest::KernelFrame frame;
  for (size_t i = 0; i < bases; ++i)
    frame.bases.push_back(at(body->getArgument(2 * i), body->getArgument(2 * i + 1)));
  ValueRange rest = body->getArguments().drop_front(2 * bases);
  llvm::append_range(frame.sizes, rest.take_front(sizes));
  rest = rest.drop_front(sizes);

  auto number = [&](Value index) -> Value {
    return arith::IndexCastOp::create(b, loc, i64, index);
  };
  Value thread = number(mlir::gpu::ThreadIdOp::create(b, loc, mlir::gpu::Dimension::x));
  Value block = number(mlir::gpu::BlockIdOp::create(b, loc, mlir::gpu::Dimension::x));
  Value width = arith::ConstantIntOp::create(b, loc, blockLanes, 64);
  Value lane = arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, block, width), thread);
  frame.chunk = arith::AddIOp::create(b, loc, rest[0], lane);
  frame.scratch = at(rest[2], arith::MulIOp::create(b, loc, lane, rest[3]));

  Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, frame.chunk, rest[1]);
  auto guard = scf::IfOp::create(b, loc, inside, /*withElseRegion=*/false);
  guard.thenBlock()->getTerminator()->erase();
  b.setInsertionPointToEnd(guard.thenBlock());
  return frame;
}

void GpuLoops::end(OpBuilder &b, Location loc) const {
  Operation *guard = b.getBlock()->getParentOp();
  scf::YieldOp::create(b, loc);
  b.setInsertionPointAfter(guard);
  mlir::gpu::ReturnOp::create(b, loc);
}
