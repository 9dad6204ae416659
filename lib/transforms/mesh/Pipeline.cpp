//===- Pipeline.cpp - recurrences whose steps are split -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/Pipeline.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

using nd::tensorType;
using nest::MapAttr;
using nest::NestBuilder;
using nest::ScanOp;

namespace {
class Pipeliner {
public:
  Pipeliner(ScanOp scan, const LocalSpace &steps)
      : scan(scan), steps(steps), b(scan), loc(scan.getLoc()),
        along(scan.getAlong().begin()->name.str()), axes(steps.axes(along)),
        parts(partsOf(steps.mesh, axes)), carried(scan.getInits().size()) {}

  /// Returns what replaces the results of the recurrence.
  SmallVector<Value> run() {
    auto turns =
        nd::DimsAttr::getSorted(b.getContext(), {nd::Dim(b.getContext(), turnName, Expr(parts))});
    SmallVector<Value> inits(scan.getInits());
    for (Value output : scan.getResults().drop_front(carried))
      inits.push_back(nest::zeros(b, loc, tensorType(output)));
    Value own = stepsOf(turns);
    auto outer = ScanOp::create(b, loc, scan.getResultTypes(), inits, own, turns, false);
    SmallVector<Type> arguments(scan.getResultTypes());
    arguments.push_back(tensorType(own).without(turnName));
    SmallVector<Location> places(arguments.size(), loc);
    fillTurn(*b.createBlock(&outer.getBody(), {}, arguments, places));
    b.setInsertionPointAfter(outer);
    SmallVector<Value> results(outer.getResults());
    auto root = b.getI64IntegerAttr(scan.getReverse() ? parts - 1 : 0);
    for (Value &result : MutableArrayRef(results).take_front(carried))
      result = BroadcastOp::create(b, loc, result.getType(), result, group(), root, ArrayAttr());
    return results;
  }

private:
  static constexpr const char *turnName = "mesh.turn";
  ScanOp scan;
  const LocalSpace &steps;
  OpBuilder b;
  Location loc;
  std::string along;
  ArrayRef<Axis> axes;
  int64_t parts;
  size_t carried;

  AxesAttr group() { return AxesAttr::get(b.getContext(), axes); }

  /// For each turn the steps that the device runs in it: their numbers, or -1.
  Value stepsOf(nd::DimsAttr turns) {
    NestBuilder iota(b, loc), nest(b, loc);
    iota.produced = scan.getAlong();
    auto number = [&](OpBuilder &builder, Location, ValueRange) -> SmallVector<Value> {
      Value index = nest::emitIndex(builder, loc, Expr::name(along));
      return {arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index)};
    };
    Value numbers = iota.create({b.getI64Type()}, number).getResult(0);
    Expr turn = partIndex(steps.mesh, axes);
    if (scan.getReverse())
      turn = Expr(parts - 1) - turn;
    SmallVector<nest::Condition> conditions{
        {b.getContext(), Expr::name(turnName) - turn, /*equality=*/true}};
    for (const Expr &inside : steps.inside())
      conditions.emplace_back(b.getContext(), inside);
    nest.produced = scan.getAlong().with(turns.getDims());
    nest.read(numbers, MapAttr::identity(tensorType(numbers)),
              nest::GuardAttr::get(b.getContext(), conditions, b.getI64IntegerAttr(-1)));
    return nest.createCopy();
  }

  void fillTurn(Block &turn) {
    SmallVector<Value> reads{turn.getArguments().back()};
    llvm::append_range(reads, scan.getReads());
    auto own = ScanOp::create(b, loc, scan.getResultTypes(), turn.getArguments().drop_back(), reads,
                              scan.getAlong(), scan.getReverse());
    own->setDiscardableAttrs(scan->getDiscardableAttrDictionary());
    own->setAttr(skippedAttrName, b.getUnitAttr());
    own.getBody().takeBody(scan.getBody());
    SmallVector<Value> next(own.getResults());
    auto shift = b.getI64IntegerAttr(scan.getReverse() ? 1 : -1);
    for (Value &each : MutableArrayRef(next).take_front(carried))
      each = PermuteOp::create(b, loc, each.getType(), each, group(), shift, b.getUnitAttr(),
                               ArrayAttr());
    nest::YieldOp::create(b, loc, next);
    fillStep(own.getBody().front());
  }

  /// Outputs are carried, and written at the step. A step that the device does not run changes nothing.
  void fillStep(Block &body) {
    Operation *yield = body.getTerminator();
    b.setInsertionPoint(yield);
    TypeRange outputs = TypeRange(scan.getResultTypes()).drop_front(carried);
    for (auto [i, type] : llvm::enumerate(outputs))
      body.insertArgument(unsigned(carried + i), type, loc);
    Value step =
        body.insertArgument(unsigned(scan.getNumResults()),
                            nd::NdTensorType::get(b.getI64Type(), ArrayRef<nd::Dim>()), loc);
    auto select = [&](OpBuilder &builder, Location, ValueRange read) -> SmallVector<Value> {
      Value zero = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(0));
      Value runs = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, read[0], zero);
      return {arith::SelectOp::create(builder, loc, runs, read[2], read[1])};
    };
    for (auto [i, operand] : llvm::enumerate(yield->getOpOperands())) {
      NestBuilder nest(b, loc);
      Value old = body.getArgument(unsigned(i)), value = operand.get();
      nest.produced = tensorType(value).getDims();
      auto identity = MapAttr::identity(tensorType(value));
      nest.read(step, MapAttr::identity(tensorType(step)));
      if (i < carried && !steps.ragged().empty()) {
        nest.read(old, identity);
        nest.read(value, identity);
        operand.set(nest.create({tensorType(value).getElementType()}, select).getResult(0));
      } else if (i >= carried) {
        nest.read(value, identity);
        auto to = MapAttr::identity(tensorType(old));
        operand.set(nest.createWrite(old, to.substitute({{along, Expr::name(nest::readName(0))}})));
      }
    }
  }
};
} // namespace

void mesh::pipeline(ScanOp scan, const LocalSpace &steps, MutableArrayRef<Value> results) {
  SmallVector<Value> made = Pipeliner(scan, steps).run();
  for (auto [old, value, used] : llvm::zip_equal(scan.getResults(), made, results)) {
    if (used == old)
      used = value;
    old.replaceAllUsesWith(value);
  }
  scan.erase();
}
