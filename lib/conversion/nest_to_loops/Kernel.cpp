//===- Kernel.cpp - the function around a nest ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Kernel.h"

#include "dialects/nd/NdTypical.h"
#include "lib/analysis/Chunks.h"
#include "lib/analysis/GpuLanes.h"
#include "lib/conversion/nest_to_loops/Emitter.h"
#include "lib/conversion/nest_to_loops/ExpandMath.h"
#include "lib/conversion/nest_to_loops/HoistLoads.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/Passes.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// Rejects a stage that needs a feature that the target lacks.
static LogicalResult verifyStages(Operation *nest, const Schedule &schedule,
                                  const LoopTarget &target) {
  auto quoted = [](ArrayRef<StringRef> words) {
    return words.empty() ? "none" : "one of '" + llvm::join(words, "', '") + "'";
  };
  for (const Stage &stage : schedule.stages) {
    auto error = [&] {
      return nest->emitOpError() << "stage of read " << stage.operand << ": the target has ";
    };
    auto memories = target.memories(), engines = target.engines();
    if (!llvm::is_contained(memories, stage.level))
      return error() << "no memory '" << stage.level << "', expected " << quoted(memories);
    if (!stage.engine.empty() && !llvm::is_contained(engines, stage.engine))
      return error() << "no engine '" << stage.engine << "', expected " << quoted(engines);
    if (stage.buffers > target.buffers())
      return error() << "at most " << target.buffers() << " buffers, got " << stage.buffers;
  }
  return success();
}

/// Rejects a block that has more lanes, registers or shared memory than the target's.
static LogicalResult verifyLanes(Operation *nest, const Emitter &emitter, int64_t registers,
                                 const LoopTarget &target) {
  if (emitter.lanes > target.mostLanes())
    return nest->emitOpError() << "expected a block of at most " << target.mostLanes()
                               << " lanes, got " << emitter.lanes;
  if (registers > target.mostRegisters() && emitter.lanes)
    return nest->emitOpError() << "expected sums and copies that fit the " << target.mostRegisters()
                               << " registers of a lane, got " << registers;
  if (emitter.sharedBytes > target.mostSharedBytes())
    return nest->emitOpError() << "expected at most " << target.mostSharedBytes()
                               << " bytes of shared memory in a block, got " << emitter.sharedBytes;
  return success();
}

LogicalResult Emitter::emitNest(Operation *nest, const Schedule &schedule, Value chunk) {
  loc = nest->getLoc();
  if (failed(verifyStages(nest, schedule, target)))
    return failure();
  if (auto op = dyn_cast<ComputeOp>(nest))
    return emitCompute(op, schedule, chunk);
  if (auto op = dyn_cast<UpdateOp>(nest))
    return emitUpdate(op, schedule, chunk);
  if (auto op = dyn_cast<GroupOp>(nest))
    return emitGroup(op, schedule, chunk);
  if (auto op = dyn_cast<ScanOp>(nest))
    return emitScan(op);
  if (auto op = dyn_cast<SortOp>(nest))
    return emitSort(op, schedule, chunk);
  return nest->emitOpError() << "is not a nest that can be compiled";
}

LogicalResult Emitter::emitAddedCopy(ComputeOp copy, const Schedule &schedule) {
  for (const Loop &loop : schedule.loops)
    for (const std::string &name : llvm::drop_begin(loop.names))
      if (nd::SizeAttr size = copy.getProduced().lookup(name); !size.constant())
        return copy->emitOpError() << "expected a number as the size that is copied of '" << name
                                   << "', which shares a loop with '" << loop.names[0] << "', got "
                                   << size.getExpr().str() << "; list it first";
  return emitNest(copy, schedule, Value());
}

FailureOr<KernelInfo> nest::emitKernel(const KernelRequest &request, const LoopTarget &target) {
  Operation *nest = request.nest;
  MLIRContext *context = nest->getContext();
  context->loadDialect<arith::ArithDialect, math::MathDialect, func::FuncDialect, scf::SCFDialect,
                       vector::VectorDialect, LLVM::LLVMDialect>();
  SmallVector<Value> operands = kernelOperands(nest);
  Location loc = nest->getLoc();
  KernelInfo info;
  info.module = ModuleOp::create(loc);
  OpBuilder builder = OpBuilder::atBlockEnd(info.module->getBody());
  LaneForm form = target.mostLanes() ? laneFormOf(nest, request.machine) : LaneForm();
  info.lanes = form.lanes;
  KernelFrame frame =
      target.begin(builder, loc, request.symbol, operands.size() + nest->getNumResults(),
                   request.sizes.size(), info.lanes);
  Emitter emitter(builder, loc, request, target);
  emitter.scratch = frame.scratch;
  emitter.lanes = info.lanes;
  emitter.lane = frame.lane;
  emitter.shared = frame.shared;
  emitter.chunks = info.chunks = chunksOf(nest);
  Block *body = builder.getBlock();
  auto values = llvm::concat<const Value>(operands, SmallVector<Value>(nest->getResults()));
  auto layouts = llvm::concat<const Layout>(request.operandLayouts, request.resultLayouts);
  for (auto [value, layout, base] : llvm::zip(values, layouts, frame.bases))
    emitter.memory[value] = {base, layout, tensorType(value), {}, {}};
  for (auto [size, value] : llvm::zip_equal(request.sizes, frame.sizes))
    emitter.define(size, value, nd::rangeOfNeutral(size).value_or(heddle::Range{0, largestSymbol}));
  LogicalResult emitted = emitter.emitNest(nest, scheduleOf(nest), frame.chunk);
  for (Operation *op : llvm::reverse(emitter.temporaries))
    op->destroy();
  if (failed(emitted))
    return failure();
  if (emitter.emitted > Emitter::mostEmitted || info.chunks.isTooLarge() ||
      emitter.scratchBytes.isTooLarge())
    return nest->emitOpError()
           << "expected addresses with " << Emitter::mostEmitted
           << " terms and factors in all, each of them " << Expr::limits()
           << ", got more; fewer names with sizes that are sums have shorter ones";
  if (failed(verifyLanes(nest, emitter, form.registers + emitter.mostHeld, target)))
    return failure();
  builder.setInsertionPointToEnd(body);
  target.end(builder, loc, emitter.sharedBytes);
  // Unroll inner loops first, because unrolling an outer loop copies them.
  for (auto [loop, factor] : llvm::reverse(emitter.unrolled))
    if (failed(loopUnrollByFactor(loop, uint64_t(factor))))
      return nest->emitOpError() << "a loop can't be unrolled by " << factor;
  // Others may store to operands.
  if (isa<ComputeOp, GroupOp>(nest))
    hoistLanes(*info.module, ArrayRef(frame.bases).take_front(operands.size()));
  info.scratchBytes = emitter.scratchBytes;
  return info;
}

void LoopTarget::end(OpBuilder &b, Location loc, int64_t) const { func::ReturnOp::create(b, loc); }

static void addLowering(OpPassManager &passes,
                        llvm::function_ref<void(OpPassManager &)> addFunctions) {
  // Only one sweep, to keep the conversions short; LLVM simplifies again.
  GreedyRewriteConfig once;
  once.setUseTopDownTraversal().setMaxIterations(1).setRegionSimplificationLevel(
      GreedySimplifyRegionLevel::Disabled);
  passes.addPass(createExpandMathPass());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createCanonicalizerPass(once));
  passes.addPass(createCSEPass());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  addFunctions(passes);
  passes.addPass(createUBToLLVMConversionPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
}

void nest::buildKernelLowering(OpPassManager &passes) {
  addLowering(passes, [](OpPassManager &passes) {
    passes.addPass(createConvertControlFlowToLLVMPass());
    passes.addPass(createConvertFuncToLLVMPass());
  });
}

void nest::buildKernelLowering(OpPassManager &passes, std::unique_ptr<Pass> functions) {
  addLowering(passes, [&](OpPassManager &passes) { passes.addPass(std::move(functions)); });
}
