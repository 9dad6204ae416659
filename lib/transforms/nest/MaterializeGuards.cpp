//===- MaterializeGuards.cpp - padded copies where guards are tested too often ===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/MaterializeGuards.h"

#include "dialects/nest/NestBuild.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/transforms/nest/Rewrite.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

static bool isZero(TypedAttr value) {
  if (auto number = dyn_cast<FloatAttr>(value))
    return number.getValue().isZero();
  auto number = dyn_cast<IntegerAttr>(value);
  return number && number.getValue().isZero();
}

void nest::materializeGuards(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(function.front())) {
    auto consumer = dyn_cast<ComputeOp>(op);
    if (!consumer || !consumer.isReduction())
      continue;
    // A factor of zero adds nothing: loops over sums of products are split where such a guard is
    // decided.
    bool isContraction = contractionOf(consumer).has_value();
    Ranges ranges = iterationRanges(consumer);
    double count = pointsOf(consumer.getProduced()) * pointsOf(consumer.getReduced());
    for (unsigned i = 0; i < consumer.getReads().size(); ++i) {
      GuardAttr guard = consumer.readGuard(i);
      Value read = consumer.getReads()[i];
      auto type = tensorTypeOf(read);
      if (guard.isTrivial() || !guard.getOtherwise() ||
          (isContraction && isZero(guard.getOtherwise())) || count < 8 * pointsOf(type.getDims()) ||
          type.elements() == 0 || !type.isStatic())
        continue;
      // Every condition must be a bound of one coordinate, and every coordinate that leaves the
      // tensor be bounded.
      OpBuilder b(consumer);
      NestBuilder copy(b, consumer.getLoc());
      SmallVector<nd::Dim> dims;
      SmallVector<MapEntry> entries, source;
      SmallVector<Condition> inside;
      SmallVector<bool> explained(guard.getConditions().size());
      bool possible = true;
      for (const nd::Dim &dim : type.getDims()) {
        Expr place = *consumer.readMap(i).lookup(dim.name.getValue());
        int64_t size = *dim.size().constant();
        auto bounds = place.bounds(ranges);
        if (!bounds) {
          possible = false;
          break;
        }
        int64_t low = 0, high = size - 1;
        for (auto [k, condition] : llvm::enumerate(guard.getConditions())) {
          if (condition.equality)
            continue;
          if (condition.expr() == place) {
            explained[k] = true;
            low = bounds->low;
          } else if (condition.expr() == Expr(size - 1) - place) {
            explained[k] = true;
            high = bounds->high;
          }
        }
        low = std::max(low, bounds->low);
        high = std::min(high, bounds->high);
        possible &= low <= bounds->low && high >= bounds->high;
        if (!possible)
          break;
        dims.emplace_back(b.getContext(), dim.name.getValue(), Expr(high - low + 1));
        Expr from = Expr::name(dim.name.str()) + Expr(low);
        source.emplace_back(b.getContext(), dim.name.getValue(), from);
        entries.emplace_back(b.getContext(), dim.name.getValue(), place - Expr(low));
        if (low < 0)
          inside.emplace_back(b.getContext(), from);
        if (high >= size)
          inside.emplace_back(b.getContext(), Expr(size - 1) - from);
      }
      if (!possible || !llvm::all_of(explained, [](bool each) { return each; }))
        continue;
      copy.produced = nd::DimsAttr::getSorted(b.getContext(), dims);
      if (pointsOf(copy.produced) * 8 > count)
        continue;
      copy.read(read, MapAttr::getSorted(b.getContext(), source),
                GuardAttr::get(b.getContext(), inside,
                               inside.empty() ? TypedAttr() : guard.getOtherwise()));
      ComputeOp padded =
          copy.create({type.getElementType()}, [](OpBuilder &, Location, ValueRange value) {
            return SmallVector<Value>(value);
          });
      padded->setAttr(materializeAttr, b.getUnitAttr());
      padded->setAttr("heddle.name", b.getStringAttr("pad"));
      consumer.getReadsMutable()[i].set(padded.getResult(0));
      SmallVector<Attribute> maps(consumer.getMaps().getValue()),
          guards(consumer.getGuards().getValue());
      maps[i] = simplifyMap(MapAttr::getSorted(b.getContext(), entries), ranges);
      guards[i] = GuardAttr::get(b.getContext(), {}, TypedAttr());
      consumer.setMapsAttr(b.getArrayAttr(maps));
      consumer.setGuardsAttr(b.getArrayAttr(guards));
    }
  }
}
