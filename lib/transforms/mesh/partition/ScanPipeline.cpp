//===- ScanPipeline.cpp - pipelines of recurrences ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/partition/ScanPipeline.h"

#include "lib/transforms/mesh/transfers/ScansToLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

using nd::tensorType;
using nest::NestBuilder;
using nest::ScanOp;

Value mesh::numbersOf(OpBuilder &b, Location loc, nd::DimsAttr dims, const Expr &number) {
  NestBuilder nest(b, loc);
  nest.produced = dims;
  auto body = [&](OpBuilder &builder, Location, ValueRange) -> SmallVector<Value> {
    Value index = nest::emitIndex(builder, loc, number);
    return {arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index)};
  };
  return nest.create({b.getI64Type()}, body).getResult(0);
}

ScanOp mesh::loopOfTurns(OpBuilder &b, Location loc, ValueRange inits, Value read,
                         function_ref<SmallVector<Value>(ValueRange, Value)> body) {
  nd::Dim turns(b.getContext(), turnName, tensorType(read).size(turnName).getExpr());
  auto loop = ScanOp::create(b, loc, inits.getTypes(), inits, read,
                             nd::DimsAttr::getSorted(b.getContext(), {turns}), false);
  SmallVector<Type> arguments(inits.getTypes());
  arguments.push_back(tensorType(read).without(turnName));
  OpBuilder::InsertionGuard restore(b);
  Block *block =
      b.createBlock(&loop.getBody(), {}, arguments, SmallVector<Location>(arguments.size(), loc));
  SmallVector<Value> next =
      body(ValueRange(block->getArguments()).drop_back(), block->getArguments().back());
  nest::YieldOp::create(b, loc, next);
  return loop;
}

namespace {
class Pipeliner {
public:
  Pipeliner(ScanOp scan, const LocalSpace &steps)
      : scan(scan), steps(steps), b(scan), loc(scan.getLoc()),
        along(scan.getAlong().begin()->name.str()), axes(steps.axes(along)),
        parts(partsOf(steps.mesh, axes)), carried(scan.getInits().size()) {}

  /// Returns the replacements of the recurrence's results.
  SmallVector<Value> run() {
    auto turns =
        nd::DimsAttr::getSorted(b.getContext(), {nd::Dim(b.getContext(), turnName, Expr(parts))});
    SmallVector<Value> inits(scan.getInits());
    for (Value output : scan.getResults().drop_front(carried))
      inits.push_back(nest::zeros(b, loc, tensorType(output)));
    Value own = stepsOf(turns);
    ScanOp outer = loopOfTurns(b, loc, inits, own,
                               [&](ValueRange now, Value steps) { return turn(now, steps); });
    SmallVector<Value> results(outer.getResults());
    auto root = b.getI64IntegerAttr(scan.getReverse() ? parts - 1 : 0);
    for (Value &result : MutableArrayRef(results).take_front(carried))
      result = BroadcastOp::create(b, loc, result.getType(), result, group(), root, ArrayAttr());
    return results;
  }

private:
  ScanOp scan;
  const LocalSpace &steps;
  OpBuilder b;
  Location loc;
  std::string along;
  ArrayRef<Axis> axes;
  int64_t parts;
  size_t carried;

  AxesAttr group() { return AxesAttr::get(b.getContext(), axes); }

  /// The steps that the device runs in each turn: their numbers, or -1.
  Value stepsOf(nd::DimsAttr turns) {
    Value numbers = numbersOf(b, loc, scan.getAlong(), Expr::name(along));
    Expr turn = partIndex(steps.mesh, axes);
    if (scan.getReverse())
      turn = Expr(parts - 1) - turn;
    SmallVector<nest::Condition> conditions{
        {b.getContext(), Expr::name(turnName) - turn, /*equality=*/true}};
    for (const Expr &inside : steps.inside())
      conditions.emplace_back(b.getContext(), inside);
    auto guard = nest::GuardAttr::get(b.getContext(), conditions, b.getI64IntegerAttr(-1));
    return nest::copyAt(b, loc, numbers, scan.getAlong().with(turns.getDims()), {}, guard);
  }

  /// A loop of steps carries its outputs and writes one slice per step; a kernel returns them.
  SmallVector<Value> turn(ValueRange now, Value numbers) {
    bool isLoop = becomesLoop(scan);
    size_t inside = isLoop ? now.size() : carried;
    SmallVector<Value> reads{numbers};
    llvm::append_range(reads, scan.getReads());
    auto own = ScanOp::create(b, loc, scan.getResultTypes(), now.take_front(inside), reads,
                              scan.getAlong(), scan.getReverse());
    own->setDiscardableAttrs(scan->getDiscardableAttrDictionary());
    if (isLoop)
      own->setAttr(skippedAttrName, b.getUnitAttr());
    own.getBody().takeBody(scan.getBody());
    fillStep(own.getBody().front(), now.take_front(inside));
    SmallVector<Value> next(own.getResults());
    auto shift = b.getI64IntegerAttr(scan.getReverse() ? 1 : -1);
    for (auto [i, each] : llvm::enumerate(next))
      if (i < carried)
        each = PermuteOp::create(b, loc, each.getType(), each, group(), shift, b.getUnitAttr(),
                                 ArrayAttr());
      else if (!isLoop)
        each = written(now[i], each, numbers);
    return next;
  }

  /// A step that the device does not run changes nothing.
  void fillStep(Block &body, ValueRange inits) {
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPoint(body.getTerminator());
    for (unsigned i = unsigned(carried); i < inits.size(); ++i)
      body.insertArgument(i, inits[i].getType(), loc);
    Value number = body.insertArgument(
        unsigned(inits.size()), nd::NdTensorType::get(b.getI64Type(), ArrayRef<nd::Dim>()), loc);
    auto select = [&](OpBuilder &builder, Location, ValueRange read) -> SmallVector<Value> {
      Value zero = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(0));
      Value runs = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, read[0], zero);
      return {arith::SelectOp::create(builder, loc, runs, read[2], read[1])};
    };
    for (auto [old, next] : llvm::zip(body.getArguments().take_front(inits.size()),
                                      body.getTerminator()->getOpOperands())) {
      if (old.getArgNumber() >= carried) {
        next.set(written(old, next.get(), number));
      } else if (!steps.ragged().empty()) {
        NestBuilder nest(b, loc);
        nest.produced = tensorType(old).getDims();
        for (Value each : {number, Value(old), next.get()})
          nest.read(each);
        next.set(nest.create({tensorType(old).getElementType()}, select).getResult(0));
      }
    }
  }

  /// `whole`, with `outputs` written at the steps `numbers`.
  Value written(Value whole, Value outputs, Value numbers) {
    return nest::writeAt(b, loc, whole, outputs, {{along, Expr::name(nest::readName(0))}}, numbers);
  }
};
} // namespace

void mesh::pipelineScan(ScanOp scan, const LocalSpace &steps, MutableArrayRef<Value> results) {
  SmallVector<Value> made = Pipeliner(scan, steps).run();
  for (auto [old, value, used] : llvm::zip_equal(scan.getResults(), made, results)) {
    if (used == old)
      used = value;
    old.replaceAllUsesWith(value);
  }
  scan.erase();
}
