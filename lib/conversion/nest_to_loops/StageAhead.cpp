//===- StageAhead.cpp - copies of the next step of a loop -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lanes of a block fill a stage with two buffers in turns: while they use one, they load the
// next box into registers, and then store it into the other one. One barrier a step is enough, and
// nobody waits for loads from distant memory:
//
//     fill buffer 0; barrier
//     for k by 16 {
//       registers = box of the next step, if there is one
//       multiply what is in buffer k mod 2
//       buffer (k + 1) mod 2 = registers
//       barrier
//     }
//
// If a lane has many elements of the box, or loops over them that are not unrolled, they are stored
// before the multiplications.
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Compute.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// The most registers of 32 bits in which a lane holds its elements of one box.
static constexpr int64_t mostRegisters = 32;

scf::ForOp ComputeEmitter::loopOfTurns(const Walk *at) {
  if (!at || !e.vars.count(at->variable) || e.ranges[at->variable].high < 1)
    return {};
  auto loop = dyn_cast_or_null<scf::ForOp>(e.b.getBlock()->getParentOp());
  bool isLoop = loop && loop.getInductionVar() == e.vars[at->variable] &&
                getConstantIntValue(loop.getLowerBound()) == int64_t(0);
  return isLoop ? loop : scf::ForOp();
}

FailureOr<Value> ComputeEmitter::emitFirstCopy(const Stage &stage, const Box &box, const Walk &at,
                                               scf::ForOp loop) {
  auto atStep = [&](const Expr &step) {
    Box other = box;
    for (auto &[name, start] : other.origin)
      start = start.substitute(Replacement{{at.variable, step}}).simplify(e.ranges);
    return other;
  };
  StagedCopy first = makeCopy(stage, atStep(Expr(0)));
  Value result = first.op.getResult(0);
  int64_t bytes = llvm::alignTo(*bytesOf(e.memory[result].layout, e.memory[result].type).constant(),
                                /*of a buffer*/ 64);
  Value buffers;
  {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPoint(loop);
    if (operandOf[stage.operand] != op.getReads()[stage.operand])
      e.barrier(stage.level); // a copy of a copy, which has to be complete
    buffers = e.memory[result].base = e.allocateScratch(Expr(2 * bytes), stage.level);
    if (failed(e.emitAddedCopy(first.op, {stage.copy, {}})))
      return failure();
  }
  Value step = e.vars[at.variable], one = e.constant(1);
  auto bufferOf = [&](Value number) {
    Value offset = arith::MulIOp::create(e.b, e.loc, arith::AndIOp::create(e.b, e.loc, number, one),
                                         e.constant(bytes));
    return e.target.address(e.b, e.loc, stage.level, buffers, offset);
  };
  e.memory[result].base = bufferOf(step);

  std::string variable = e.freshVariable();
  Value next = arith::AddIOp::create(e.b, e.loc, step, one);
  e.define(variable, next, {1, e.ranges[at.variable].high});
  StagedCopy copy = makeCopy(stage, atStep(Expr::name(variable)));
  e.memory[copy.op.getResult(0)].base = bufferOf(next);
  auto made = std::make_unique<NextCopy>();
  made->schedule.loops = stage.copy;
  made->scheduled =
      e.loopsOf(copy.op.getProduced(), copy.op.getReduced(), made->schedule, laneBits(copy.op));
  made->copy =
      std::make_unique<ComputeEmitter>(e, copy.op, made->schedule, made->scheduled, Value());
  made->exists =
      arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::slt, next, loop.getUpperBound());
  nextCopies.push_back(std::move(made));
  return readCopy(first, box);
}

//===----------------------------------------------------------------------===//
// Loads and stores apart
//===----------------------------------------------------------------------===//

LogicalResult ComputeEmitter::loadNext(NextCopy &next) {
  ComputeEmitter &copy = *next.copy;
  std::optional<int64_t> registers = copy.heldRegisters();
  if (!registers)
    return success(
        succeeded(branch(e, next.exists, {}, [&](ValueRange) { return noValues(copy.emit()); })));
  Values zeros;
  if (failed(copy.eachTile(0, [&] {
        llvm::append_range(zeros, copy.zerosOfTile());
        return success();
      })))
    return failure();
  auto loaded = branch(e, next.exists, zeros, [&](ValueRange) -> FailureOr<Values> {
    Values all;
    auto load = [&]() -> LogicalResult {
      auto tile =
          copy.decideGuards(copy.zerosOfTile(), [&](ValueRange) { return copy.loadTile(); });
      if (succeeded(tile))
        llvm::append_range(all, *tile);
      return success(succeeded(tile));
    };
    if (failed(copy.eachTile(0, load)))
      return failure();
    return all;
  });
  if (failed(loaded))
    return failure();
  next.loaded = *loaded;
  next.registers = *registers;
  e.held += next.registers;
  e.mostHeld = std::max(e.mostHeld, e.held);
  return success();
}

LogicalResult ComputeEmitter::storeNext(NextCopy &next) {
  if (next.loaded.empty())
    return success();
  ComputeEmitter &copy = *next.copy;
  size_t at = 0;
  auto storeTile = [&]() -> LogicalResult {
    std::vector<Point> points = copy.loops.points(false);
    ValueRange values = ValueRange(next.loaded).slice(at, points.size());
    at += points.size();
    return copy.loops.onActive([&] {
      LoopWalker::Saved saved = copy.loops.bindTile();
      Section section;
      for (auto [point, value] : llvm::zip_equal(points, values))
        if (failed(copy.storePoint(point, value, section)))
          return failure();
      copy.loops.unbind(std::move(saved));
      return success();
    });
  };
  e.held -= next.registers;
  return success(succeeded(branch(
      e, next.exists, {}, [&](ValueRange) { return noValues(copy.eachTile(0, storeTile)); })));
}

std::optional<int64_t> ComputeEmitter::heldRegisters() {
  int64_t points = std::max<int64_t>(scheduled.lanes, 1);
  for (const auto &[names, size] : scheduled.sizes)
    if (!size.isConstant())
      return std::nullopt;
  for (const Walk &walk : scheduled.loops) {
    bool isWhole = walk.lane || walk.tile % walk.step == 0 || scheduled.isBound(walk.names);
    if (walk.thread || !isWhole)
      return std::nullopt;
    points *= walk.lane ? 1 : std::min(walk.count(), mostRegisters + 1);
  }
  for (const Walk &walk : scheduled.tile)
    points *= walk.count();
  unsigned bits = 8;
  for (Value result : op.getResults())
    bits = std::max(bits, tensorType(result).getElementType().getIntOrFloatBitWidth());
  int64_t registers = points * llvm::divideCeil(bits, 32);
  return registers <= mostRegisters ? std::optional(registers) : std::nullopt;
}

LogicalResult ComputeEmitter::eachTile(size_t position, llvm::function_ref<LogicalResult()> tile) {
  if (position == scheduled.loops.size())
    return tile();
  return loops.walkApart(position, [&] { return eachTile(position + 1, tile); });
}

Values ComputeEmitter::zerosOfTile() {
  Type type = e.computeType(tensorType(op.getResult(0)).getElementType());
  Value zero = e.constantOf(cast<TypedAttr>(e.b.getZeroAttr(type)));
  Values zeros;
  for (const Point &point : loops.points(false))
    zeros.push_back(e.splat(zero, point.lanes));
  return zeros;
}

FailureOr<Values> ComputeEmitter::loadTile() {
  LoopWalker::Saved saved = loops.bindTile();
  Type type = e.computeType(tensorType(op.getResult(0)).getElementType());
  Section section;
  Values values;
  for (const Point &point : loops.points(false)) {
    Value included;
    FailureOr<Values> elements = body(point, section, included);
    if (failed(elements))
      return failure();
    values.push_back(e.splat(e.convert(elements->front(), type), point.lanes));
  }
  loops.unbind(std::move(saved));
  return values;
}
