//===- GroupsAndScans.cpp - groups and scans ------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Loops.h"

#include "lib/analysis/GpuLanes.h"
#include "lib/analysis/Layouts.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

bool nest::isEmpty(nd::DimsAttr dims) {
  return llvm::any_of(dims, [](const nd::Dim &dim) { return dim.size().constant() == 0; });
}

Expr nest::bytesOf(const Layout &layout, nd::NdTensorType type) {
  int64_t width = std::max(8u, type.getElementType().getIntOrFloatBitWidth()) / 8;
  return layout.elementsOver(type.sizeExprs()) * Expr(width);
}

Layout nest::freeLayout(const Memory &memory) {
  Layout layout = memory.layout;
  for (Layout::Factor &factor : layout.factors)
    llvm::erase_if(factor.names, [&](const std::string &name) { return memory.fixed.count(name); });
  llvm::erase_if(layout.factors, [](const Layout::Factor &factor) { return factor.names.empty(); });
  return layout;
}

Value LoopTarget::address(OpBuilder &b, Location loc, StringRef memory, Value scratch,
                          Value offset) const {
  return LLVM::GEPOp::create(b, loc, scratch.getType(), b.getI8Type(), scratch,
                             ArrayRef<LLVM::GEPArg>{offset});
}

StringRef Emitter::memoryFor(const Expr &bytes, int64_t share) const {
  std::optional<int64_t> known = bytes.constant();
  bool fits = lanes && known && sharedTop + *known <= target.mostSharedBytes() / share;
  return fits ? "shared" : "";
}

Value Emitter::allocateScratch(Expr bytes, StringRef memory) {
  // A value without elements gets bytes too: code reads an element 0 that it does not use.
  if (bytes.constant() == 0)
    bytes = Expr(1);
  if (lanes && !memory.empty()) { // its size is known: laneFormOf
    Value address = target.address(b, loc, memory, shared, constant(sharedTop));
    sharedTop += llvm::alignTo(*bytes.constant(), 64);
    sharedBytes = std::max(sharedBytes, sharedTop);
    return address;
  }
  Value address = target.address(b, loc, memory, scratch, emit(scratchTop));
  scratchTop = (scratchTop + bytes.ceildiv(64) * Expr(64)).simplify(ranges);
  scratchBytes = Expr::max(scratchBytes, scratchTop).simplify(ranges);
  return address;
}

/// Copies a value to another buffer, in another layout if necessary.
static LogicalResult copy(Emitter &e, Value from, const Memory &target, const Schedule &schedule) {
  OpBuilder builder(e.b.getContext());
  auto type = tensorType(from);
  if (isEmpty(type.getDims()))
    return success();
  NestBuilder nest(builder, e.loc);
  nest.produced = type.getDims();
  nest.read(from, MapAttr::identity(type));
  ComputeOp op = nest.create({type.getElementType()},
                             [](OpBuilder &, Location, ValueRange read) { return Values(read); });
  e.temporaries.push_back(op);
  e.memory[op.getResult(0)] = target;
  return e.emitAddedCopy(op, schedule);
}

/// Removes the buffers of the values of a region.
static void forgetValues(Emitter &e, Block &block) {
  for (Operation &op : block)
    for (Value result : op.getResults())
      e.memory.erase(result);
  for (Value argument : block.getArguments())
    e.memory.erase(argument);
}

LogicalResult Emitter::emitMember(Operation *nest) {
  if (!lanes || laneFormOf(nest, machine))
    return emitNest(nest, scheduleOf(nest), Value());
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, lane, constant(0));
  int64_t together = std::exchange(lanes, 0);
  auto done = branch(*this, isFirst, {}, [&](ValueRange) {
    return noValues(emitNest(nest, scheduleOf(nest), Value()));
  });
  lanes = together;
  return success(succeeded(done));
}

LogicalResult Emitter::emitInner(Block &block, ArrayRef<Memory> memories, bool repeats) {
  // Each yielded value is computed in the buffer of its result.
  for (auto [value, destination] :
       llvm::zip_equal(block.getTerminator()->getOperands(), memories)) {
    Operation *maker = value.getDefiningOp();
    if (!maker || maker->getBlock() != &block || isa<UpdateOp>(maker) ||
        !memory.try_emplace(value, destination).second)
      return block.getTerminator()->emitOpError()
             << "expected values that nests of the region make, each once, and none of a "
                "'nest.update'; nest-prepare-steps copies others";
  }
  for (Operation &op : block.without_terminator()) {
    for (Value result : op.getResults()) {
      // A yielded value may have its buffer already.
      if (memory.count(result))
        continue;
      Layout layout = layoutOf(result);
      auto type = tensorType(result);
      // Half of the shared memory is for the copies and sums of the nests.
      Expr bytes = bytesOf(layout, type);
      Value address = allocateScratch(bytes, memoryFor(bytes, /*share=*/2));
      memory[result] = {address, layout, type, {}, {}};
    }
    // A lane reads what other lanes wrote, and overwrites what they have read.
    if (lanes && (repeats || &op != &block.front()))
      barrier("shared");
    if (failed(emitMember(&op)))
      return failure();
  }
  forgetValues(*this, block);
  return success();
}

LogicalResult Emitter::emitGroup(GroupOp op, const Schedule &schedule, Value chunk) {
  if (isEmpty(op.getNames()))
    return success();
  ScheduledLoops made =
      loopsOf(op.getNames(), nd::DimsAttr::get(op.getContext(), {}), schedule, /*bits=*/32);
  LoopWalker loops(*this, made, chunk);
  Block &block = op.getBody().front();
  bool repeats = !chunk || llvm::any_of(made.loops, [](const Walk &walk) {
    return !walk.thread && walk.steps != Expr(1);
  });
  return loops.walkAll([&]() -> LogicalResult {
    Expr top = scratchTop;
    int64_t topShared = sharedTop;
    SmallVector<Memory> memories;
    for (Value result : op.getResults()) {
      Memory destination = memory.find(result)->second;
      for (const nd::Dim &dim : op.getNames())
        destination.fixed[dim.name.str()] = bindings.find(dim.name.str())->second;
      memories.push_back(destination);
    }
    if (failed(emitInner(block, memories, repeats)))
      return failure();
    scratchTop = top;
    sharedTop = topShared;
    return success();
  });
}

LogicalResult Emitter::emitScan(ScanOp op) {
  nd::Dim along = *op.getAlong().begin();
  Block &block = op.getBody().front();
  size_t carried = op.getInits().size();
  Expr count = along.size().getExpr();
  Expr top = scratchTop;
  int64_t topShared = sharedTop;

  // Carried tensors are double buffered: a step reads one buffer and writes the other. The first
  // step reads the initial values in place if they have the layout of the carried ones.
  Values pointers;
  SmallVector<Memory> states;
  for (size_t i = 0; i < carried; ++i) {
    Memory init = memory.find(op.getInits()[i])->second;
    auto type = tensorType(op.getInits()[i]);
    Layout layout = freeLayout(memory.find(op.getResult(i))->second);
    Expr bytes = bytesOf(layout, type);
    StringRef place = memoryFor(bytes * Expr(2), /*share=*/4);
    Memory state{allocateScratch(bytes, place), layout, type, {}, {}};
    Value other = allocateScratch(bytes, place);
    bool alike = init.fixed.empty() && init.origin.empty() && init.layout == layout &&
                 init.base.getType() == other.getType();
    if (!alike && failed(copy(*this, op.getInits()[i], state, op.copySchedule(i))))
      return failure();
    Value first = alike ? init.base : state.base;
    pointers.append({first, alike ? state.base : other, alike ? other : state.base});
    states.push_back(state);
  }
  std::string variable = freshVariable();
  auto result =
      forLoop(*this, variable, emit(count), along.size().most(), pointers,
              [&](ValueRange current) -> FailureOr<Values> {
                Expr inner = scratchTop;
                int64_t innerShared = sharedTop;
                Expr at =
                    op.getReverse() ? count - Expr(1) - Expr::name(variable) : Expr::name(variable);
                at = at.simplify(ranges);
                for (auto [i, value] : llvm::enumerate(op.getReads())) {
                  Memory slice = memory.find(value)->second;
                  slice.fixed[along.name.str()] = at;
                  memory[block.getArgument(carried + i)] = slice;
                }
                SmallVector<Memory> memories;
                for (size_t i = 0; i < carried; ++i) {
                  Memory state = states[i];
                  state.base = current[3 * i];
                  memory[block.getArgument(i)] = state;
                  state.base = current[3 * i + 1];
                  memories.push_back(state);
                }
                for (size_t i = carried; i < op.getNumResults(); ++i) {
                  Memory slice = memory.find(op.getResult(i))->second;
                  slice.fixed[along.name.str()] = at;
                  memories.push_back(slice);
                }
                if (failed(emitInner(block, memories, /*repeats=*/true)))
                  return failure();
                scratchTop = inner;
                sharedTop = innerShared;
                Values next;
                for (size_t i = 0; i < carried; ++i)
                  next.append({current[3 * i + 1], current[3 * i + 2], current[3 * i + 1]});
                return next;
              });
  if (failed(result))
    return failure();
  if (lanes)
    barrier("shared");
  for (size_t i = 0; i < carried; ++i) {
    Memory state = states[i];
    state.base = (*result)[3 * i];
    memory[block.getArgument(i)] = state;
    if (failed(copy(*this, block.getArgument(i), memory.find(op.getResult(i))->second,
                    op.copySchedule(carried + i))))
      return failure();
    memory.erase(block.getArgument(i));
  }
  scratchTop = top;
  sharedTop = topShared;
  return success();
}
