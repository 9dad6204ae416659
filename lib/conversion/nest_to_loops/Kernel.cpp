//===- Kernel.cpp - the function around a nest ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Kernel.h"
#include "dialects/nd/NdTypical.h"
#include "lib/conversion/nest_to_loops/Emitter.h"
#include "lib/conversion/nest_to_loops/ExpandMath.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "mlir/Transforms/Passes.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

LogicalResult Emitter::emitNest(Operation *nest, const Schedule &schedule, Value chunk) {
  loc = nest->getLoc();
  for (const Loop &loop : schedule.loops)
    for (const std::string &name : llvm::drop_begin(loop.names))
      for (NamedAttribute attribute : nest->getAttrs())
        if (auto dims = dyn_cast<nd::DimsAttr>(attribute.getValue()))
          if (nd::SizeAttr size = dims.lookup(name); size && !size.constant())
            return nest->emitOpError() << "expected a number as the size of '" << name
                                       << "', which is walked together with '" << loop.names[0]
                                       << "', got " << size.getExpr().str() << "; list it first";
  if (auto op = dyn_cast<ComputeOp>(nest))
    return emitCompute(op, schedule, chunk);
  if (auto op = dyn_cast<UpdateOp>(nest))
    return emitUpdate(op, schedule, chunk);
  if (auto op = dyn_cast<GroupOp>(nest))
    return emitGroup(op, schedule, chunk);
  if (auto op = dyn_cast<ScanOp>(nest))
    return emitScan(op);
  if (auto op = dyn_cast<SortOp>(nest))
    return emitSort(op, chunk);
  return nest->emitOpError() << "is not a nest that can be compiled";
}

LogicalResult Emitter::emitAddedCopy(ComputeOp copy, const Layout &source) {
  SmallVector<Layout> sources(kernelOperands(copy).size(), source);
  Layout result = freeLayout(memory.find(copy.getResult(0))->second);
  return emitNest(copy, chooser ? chooser(copy, sources, result, machine) : Schedule(), Value());
}

FailureOr<KernelInfo> nest::emitKernel(const KernelRequest &request) {
  Operation *nest = request.nest;
  MLIRContext *context = nest->getContext();
  context->loadDialect<arith::ArithDialect, math::MathDialect, func::FuncDialect, scf::SCFDialect,
                       vector::VectorDialect, x86vector::X86VectorDialect, LLVM::LLVMDialect>();
  SmallVector<Value> operands = kernelOperands(nest);
  Location loc = nest->getLoc();
  KernelInfo info;
  info.module = ModuleOp::create(loc);
  OpBuilder builder = OpBuilder::atBlockEnd(info.module->getBody());
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto function =
      func::FuncOp::create(builder, loc, request.symbol,
                           builder.getFunctionType({pointer, builder.getI64Type(), pointer}, {}));
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToEnd(entry);
  Emitter emitter(builder, loc, request);
  emitter.scratch = entry->getArgument(2);
  unsigned position = 0;
  auto next = [&](Type type) -> Value {
    Value slot = LLVM::GEPOp::create(builder, loc, pointer, pointer, entry->getArgument(0),
                                     ArrayRef<LLVM::GEPArg>{int32_t(position++)});
    return LLVM::LoadOp::create(builder, loc, type, slot);
  };
  auto place = [&](Value value, const Layout &layout) {
    Value base = next(pointer);
    emitter.memory[value] = {base, layout, tensorTypeOf(value), {}, {}};
  };
  for (auto [value, layout] : llvm::zip_equal(operands, request.operandLayouts))
    place(value, layout);
  for (auto [value, layout] : llvm::zip_equal(nest->getResults(), request.resultLayouts))
    place(value, layout);
  for (const std::string &size : request.sizes)
    emitter.define(size, next(builder.getI64Type()),
                   nd::rangeOfNeutral(size).value_or(heddle::Range{0, largestSymbol}));
  LogicalResult emitted = emitter.emitNest(nest, scheduleOf(nest), entry->getArgument(1));
  for (Operation *op : llvm::reverse(emitter.temporaries))
    op->destroy();
  if (failed(emitted))
    return failure();
  if (emitter.emitted > Emitter::mostEmitted || emitter.chunks.isTooLarge() ||
      emitter.scratchBytes.isTooLarge())
    return nest->emitOpError()
           << "expected addresses with " << Emitter::mostEmitted
           << " terms and factors in all, each of them " << Expr::limits()
           << ", got more; fewer names with sizes that are sums have shorter ones";
  builder.setInsertionPointToEnd(entry);
  func::ReturnOp::create(builder, loc);
  info.chunks = emitter.chunks;
  info.scratchBytes = emitter.scratchBytes;
  return info;
}

void nest::buildKernelLowering(OpPassManager &passes) {
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(createExpandMathPass());
  passes.addPass(createSCFToControlFlowPass());
  ConvertVectorToLLVMPassOptions vectors;
  vectors.x86Vector = true;
  passes.addPass(createConvertVectorToLLVMPass(vectors));
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createConvertFuncToLLVMPass());
  passes.addPass(createUBToLLVMConversionPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
}
