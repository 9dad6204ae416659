//===- Kernel.cpp - kernels of updates, groups and scans, and the function around ===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Kernel.h"
#include "lib/conversion/nest_to_loops/Emitter.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

SmallVector<Value> nest::kernelOperands(Operation *nest) {
  llvm::SetVector<Value> operands(nest->operand_begin(), nest->operand_end());
  nest->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (isa<nd::NdTensorType>(operand.getType()) && !nest->isAncestor(operand.getParentBlock()->getParentOp()))
        operands.insert(operand);
  });
  return operands.takeVector();
}

static bool isEmpty(nd::DimsAttr dims) {
  return llvm::any_of(dims, [](const nd::Dim &dim) { return dim.size().constant() == 0; });
}

static int64_t bytesOf(const Layout &layout, nd::NdTensorType type) {
  int64_t width = std::max(8u, type.getElementType().getIntOrFloatBitWidth()) / 8;
  return layout.elements(type.sizes()) * width;
}

static Layout sortedLayout(nd::NdTensorType type) {
  std::vector<std::string> names;
  for (const nd::Dim &dim : type.getDims())
    names.push_back(dim.name.str());
  return Layout::rowMajor(names);
}

Value Emitter::allocateScratch(int64_t bytes) {
  Value place = LLVM::GEPOp::create(b, loc, scratch.getType(), b.getI8Type(), scratch,
                                    ArrayRef<LLVM::GEPArg>{int32_t(scratchBytes)});
  scratchBytes += (bytes + 63) / 64 * 64;
  return place;
}

/// Copies all places of a layout, padding included.
static LogicalResult copyWhole(Emitter &e, const Memory &from, const Memory &to) {
  assert(from.layout == to.layout && from.fixed.empty() && to.fixed.empty());
  int64_t count = from.layout.elements(from.type.sizes());
  if (count == 0)
    return success();
  std::string name = "v" + std::to_string(e.nextVariable++) + "$";
  return forLoop(e, name, count, [&] {
    Value place = e.vars[name];
    e.storeScalar(to.base, place, to.type.getElementType(),
                  e.loadScalar(from.base, place, from.type.getElementType()));
    return success();
  });
}

/// Runs `body` for every point of `dims`, in sequential loops, with the names bound.
static LogicalResult loopOver(Emitter &e, ArrayRef<nd::Dim> dims, llvm::function_ref<LogicalResult()> body) {
  if (dims.empty())
    return body();
  std::string name = "v" + std::to_string(e.nextVariable++) + "$";
  return forLoop(e, name, *dims[0].size().constant(), [&] {
    e.bindings[dims[0].name.str()] = Expr::name(name).simplify(e.ranges);
    LogicalResult result = loopOver(e, dims.drop_front(), body);
    e.bindings.erase(dims[0].name.str());
    return result;
  });
}

LogicalResult Emitter::emitUpdate(UpdateOp op) {
  Memory from = memory.find(op.getDest())->second, to = memory.find(op.getResult())->second;
  if (from.layout != to.layout || !from.fixed.empty() || !to.fixed.empty())
    return op.emitOpError() << "expected a destination that lies as the result does, in " << to.layout.str()
                            << ", got " << from.layout.str();
  // In place when the two are one; otherwise the destination is copied first.
  Value apart = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne, from.base, to.base);
  auto branch = scf::IfOp::create(b, loc, apart, false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    if (failed(copyWhole(*this, from, to)))
      return failure();
  }
  if (isEmpty(op.getSpace()))
    return success();
  return loopOver(*this, op.getSpace().getDims(), [&]() -> LogicalResult {
    Point point;
    point.active = 1;
    Cache cache;
    LoadCache loads;
    SmallVector<Value> values;
    Value writes;
    auto both = [&](Value condition) {
      writes = writes ? Value(arith::AndIOp::create(b, loc, writes, condition)) : condition;
    };
    for (auto [i, tensor] : llvm::enumerate(op.getReads())) {
      auto value = read(tensor, cast<MapAttr>(op.getMaps()[i]), cast<GuardAttr>(op.getGuards()[i]), values, point,
                        loads);
      if (failed(value))
        return failure();
      values.push_back(value->value);
      if (value->included)
        both(value->included);
    }
    auto element = run(op.getBody(), values, point, cache);
    if (failed(element))
      return failure();
    // The target's coordinates, and whether they lie inside.
    std::map<std::string, Expr, std::less<>> places;
    SmallVector<std::string> bound;
    for (const MapEntry &entry : op.getDestMap().getEntries()) {
      Expr place = entry.expr();
      for (const std::string &name : place.names())
        if (name[0] == '@' && !vars.count(name)) {
          Value index = values[std::stoul(name.substr(1))];
          bool isUnsigned = tensorTypeOf(op.getReads()[std::stoul(name.substr(1))]).getElementType().isUnsignedInteger();
          if (!index.getType().isInteger(64))
            index = isUnsigned ? Value(arith::ExtUIOp::create(b, loc, b.getI64Type(), index))
                               : Value(arith::ExtSIOp::create(b, loc, b.getI64Type(), index));
          vars[name] = index;
          bound.push_back(name);
        }
      place = resolve(place, point);
      int64_t size = *to.type.size(entry.name.getValue()).constant();
      auto bounds = place.bounds(ranges);
      if (!bounds || bounds->low < 0 || bounds->high >= size) {
        Value at = this->emit(place);
        both(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, at, constant(size)));
      }
      places[entry.name.str()] = place;
    }
    auto combineInto = [&]() -> LogicalResult {
      Value offset = this->emit(to.layout.address(to.type.sizes()).substitute(places));
      Type type = to.type.getElementType();
      SmallVector<Value> arguments{loadScalar(to.base, offset, type), (*element)[0]};
      Cache none;
      auto combined = run(op.getCombine(), arguments, point, none);
      if (failed(combined))
        return failure();
      storeScalar(to.base, offset, type, (*combined)[0]);
      return success();
    };
    LogicalResult result = success();
    if (writes) {
      auto guarded = scf::IfOp::create(b, loc, writes, false);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(guarded.thenBlock());
      result = combineInto();
    } else {
      result = combineInto();
    }
    for (const std::string &name : bound)
      vars.erase(name);
    return result;
  });
}

/// The layouts written on an op, or the sorted row-major one.
static Layout layoutOf(Value value) {
  if (Operation *op = value.getDefiningOp())
    if (auto layouts = op->getAttrOfType<ArrayAttr>("layouts"))
      if (auto layout = dyn_cast<LayoutAttr>(layouts[cast<OpResult>(value).getResultNumber()]))
        return layout.getLayout();
  return sortedLayout(tensorTypeOf(value));
}

LogicalResult Emitter::emitInner(Block &block) {
  for (Operation &op : block.without_terminator()) {
    for (Value result : op.getResults()) {
      // A yielded value may have its place already.
      if (memory.count(result))
        continue;
      auto type = tensorTypeOf(result);
      Layout layout = layoutOf(result);
      memory[result] = {allocateScratch(bytesOf(layout, type)), layout, type, {}};
    }
    Schedule schedule;
    if (auto chosen = op.getAttrOfType<ScheduleAttr>("schedule")) {
      schedule = chosen.getSchedule();
    } else if (isa<ComputeOp>(op)) {
      SmallVector<Layout> operands, results;
      for (Value operand : op.getOperands())
        operands.push_back(memory.find(operand)->second.layout);
      for (Value result : op.getResults())
        results.push_back(memory.find(result)->second.layout);
      schedule = chooseSchedule(&op, operands, results, machine);
    }
    if (failed(emitNest(&op, schedule, Value())))
      return failure();
  }
  return success();
}

LogicalResult Emitter::emitGroup(GroupOp op, const Schedule &, Value chunk) {
  if (isEmpty(op.getNames())) {
    chunks = 0;
    return success();
  }
  auto body = [&]() -> LogicalResult {
    // Results are written in place: the inner value that is yielded is a slice of the result.
    auto yield = cast<YieldOp>(op.getBody().front().getTerminator());
    for (auto [value, result] : llvm::zip_equal(yield.getValues(), op.getResults())) {
      Memory place = memory.find(result)->second;
      for (const nd::Dim &dim : op.getNames())
        place.fixed[dim.name.str()] = bindings.find(dim.name.str())->second;
      if (value.getParentBlock() != &op.getBody().front() || memory.count(value))
        return op.emitOpError() << "expected to yield different values made in the group";
      memory[value] = place;
    }
    LogicalResult result = emitInner(op.getBody().front());
    for (Value value : yield.getValues())
      memory.erase(value);
    return result;
  };
  if (!chunk)
    return loopOver(*this, op.getNames().getDims(), body);
  // One chunk for each point of the group.
  ArrayRef<nd::Dim> dims = op.getNames().getDims();
  Value remainder = chunk;
  for (const nd::Dim &dim : llvm::reverse(dims)) {
    int64_t size = *dim.size().constant();
    std::string name = "v" + std::to_string(nextVariable++) + "$";
    vars[name] = arith::RemUIOp::create(b, loc, remainder, constant(size));
    remainder = arith::DivUIOp::create(b, loc, remainder, constant(size));
    ranges[name] = {0, size - 1};
    bindings[dim.name.str()] = Expr::name(name).simplify(ranges);
    chunks *= size;
  }
  return body();
}

LogicalResult Emitter::emitScan(ScanOp op) {
  nd::Dim along = *op.getAlong().begin();
  Block &block = op.getBody().front();
  auto yield = cast<YieldOp>(block.getTerminator());
  size_t carried = op.getInits().size();
  // The carried tensors live in the places of the results; a step computes into scratch and copies.
  for (size_t i = 0; i < carried; ++i) {
    Memory from = memory.find(op.getInits()[i])->second, to = memory.find(op.getResult(i))->second;
    if (from.layout != to.layout)
      return op.emitOpError() << "expected carried tensors to lie alike, in " << to.layout.str() << ", got "
                              << from.layout.str();
    if (failed(copyWhole(*this, from, to)))
      return failure();
    memory[block.getArgument(i)] = to;
  }
  int64_t count = *along.size().constant();
  if (count == 0)
    return success();
  std::string name = "v" + std::to_string(nextVariable++) + "$";
  return forLoop(*this, name, count, [&]() -> LogicalResult {
    Expr step = op.getReverse() ? Expr(count - 1) - Expr::name(name) : Expr::name(name);
    step = step.simplify(ranges);
    for (auto [i, readValue] : llvm::enumerate(op.getReads())) {
      Memory slice = memory.find(readValue)->second;
      slice.fixed[along.name.str()] = step;
      memory[block.getArgument(carried + i)] = slice;
    }
    for (size_t i = carried; i < op.getNumResults(); ++i) {
      Memory slice = memory.find(op.getResult(i))->second;
      slice.fixed[along.name.str()] = step;
      if (memory.count(yield.getValues()[i]) || yield.getValues()[i].getParentBlock() != &block)
        return op.emitOpError() << "expected to yield different values made in the scan";
      memory[yield.getValues()[i]] = slice;
    }
    for (size_t i = 0; i < carried; ++i) {
      Value next = yield.getValues()[i];
      if (next == block.getArgument(i) || memory.count(next))
        continue;
      auto type = tensorTypeOf(next);
      Layout layout = memory.find(op.getResult(i))->second.layout;
      memory[next] = {allocateScratch(bytesOf(layout, type)), layout, type, {}};
    }
    if (failed(emitInner(block)))
      return failure();
    for (size_t i = 0; i < carried; ++i) {
      Value next = yield.getValues()[i];
      if (next == block.getArgument(i))
        continue;
      if (!memory.find(next)->second.fixed.empty() ||
          memory.find(next)->second.layout != memory.find(op.getResult(i))->second.layout)
        return op.emitOpError() << "expected carried tensor " << i << " to be a value of its own";
      if (failed(copyWhole(*this, memory.find(next)->second, memory.find(op.getResult(i))->second)))
        return failure();
    }
    for (Value value : yield.getValues())
      if (value.getParentBlock() == &block && !isa<BlockArgument>(value))
        memory.erase(value);
    return success();
  });
}

LogicalResult Emitter::emitNest(Operation *nest, const Schedule &schedule, Value chunk) {
  loc = nest->getLoc();
  if (auto op = dyn_cast<ComputeOp>(nest))
    return emitCompute(op, schedule, chunk);
  if (auto op = dyn_cast<UpdateOp>(nest))
    return emitUpdate(op);
  if (auto op = dyn_cast<GroupOp>(nest))
    return emitGroup(op, schedule, chunk);
  if (auto op = dyn_cast<ScanOp>(nest))
    return emitScan(op);
  return nest->emitOpError() << "is not a nest that can be compiled";
}

FailureOr<KernelInfo> nest::emitKernel(const KernelRequest &request) {
  Operation *nest = request.nest;
  MLIRContext *context = nest->getContext();
  context->loadDialect<arith::ArithDialect, math::MathDialect, func::FuncDialect, scf::SCFDialect,
                       vector::VectorDialect, LLVM::LLVMDialect>();
  SmallVector<Value> operands = kernelOperands(nest);
  for (auto types : {llvm::to_vector(TypeRange(ValueRange(operands))), llvm::to_vector(nest->getResultTypes())})
    for (Type type : types)
      if (!cast<nd::NdTensorType>(type).isStatic())
        return nest->emitOpError() << "has sizes that are not numbers: " << type, failure();
  Location loc = nest->getLoc();
  KernelInfo info;
  info.module = ModuleOp::create(loc);
  OpBuilder builder = OpBuilder::atBlockEnd(info.module->getBody());
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto function = func::FuncOp::create(builder, loc, request.symbol,
                                       builder.getFunctionType({pointer, builder.getI64Type(), pointer}, {}));
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToEnd(entry);
  Emitter emitter(builder, loc, request.machine);
  emitter.scratch = entry->getArgument(2);
  unsigned position = 0;
  auto place = [&](Value value, const Layout &layout) {
    Value slot = LLVM::GEPOp::create(builder, loc, pointer, pointer, entry->getArgument(0),
                                     ArrayRef<LLVM::GEPArg>{int32_t(position++)});
    Value base = LLVM::LoadOp::create(builder, loc, pointer, slot);
    emitter.memory[value] = {base, layout, tensorTypeOf(value), {}};
  };
  for (auto [value, layout] : llvm::zip_equal(operands, request.operandLayouts))
    place(value, layout);
  for (auto [value, layout] : llvm::zip_equal(nest->getResults(), request.resultLayouts))
    place(value, layout);
  if (failed(emitter.emitNest(nest, request.schedule, entry->getArgument(1))))
    return failure();
  builder.setInsertionPointToEnd(entry);
  func::ReturnOp::create(builder, loc);
  info.chunks = emitter.chunks;
  info.scratchBytes = emitter.scratchBytes;
  return info;
}

namespace {
/// Mathematical functions as polynomials, with a stated error, on any vector width.
struct ExpandMathPass : PassWrapper<ExpandMathPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandMathPass)
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    MathPolynomialApproximationOptions options;
    options.enableAvx2 = false;
    populateMathPolynomialApproximationPatterns(patterns, options);
    populateExpansionPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
  void populateExpansionPatterns(RewritePatternSet &patterns) {
    math::populateExpansionPatterns(patterns, {"expm1", "powf", "fpowi", "rsqrt", "roundeven"});
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, math::MathDialect, vector::VectorDialect>();
  }
};
} // namespace

void nest::buildKernelLowering(OpPassManager &passes) {
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(std::make_unique<ExpandMathPass>());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(arith::createArithExpandOpsPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createConvertFuncToLLVMPass());
  passes.addPass(createUBToLLVMConversionPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
}
