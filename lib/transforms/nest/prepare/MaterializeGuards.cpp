//===- MaterializeGuards.cpp - padded copies instead of guards ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/prepare/MaterializeGuards.h"

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

namespace {
/// A tensor with a border, and how a read accesses it.
struct Bordered {
  SmallVector<nd::Dim> dims;
  SmallVector<MapEntry> source;      ///< coordinates in the tensor, for a point of the copy
  SmallVector<MapEntry> coordinates; ///< coordinates in the copy that the read accesses
  SmallVector<Condition> inside;     ///< conditions for `source` to be in bounds
};
} // namespace

/// Returns the border that a guarded read needs; none unless every condition bounds one coordinate,
/// and every coordinate that can be out of bounds has a condition.
static std::optional<Bordered> borderFor(nd::NdTensorType type, MapAttr map, GuardAttr guard,
                                         const Ranges &ranges) {
  Bordered result;
  MLIRContext *context = type.getContext();
  SmallVector<bool> explained(guard.getConditions().size());
  for (const nd::Dim &dim : type.getDims()) {
    Expr coordinate = *map.lookup(dim.name.getValue());
    int64_t size = *dim.size().constant();
    auto bounds = coordinate.bounds(ranges);
    if (!bounds)
      return std::nullopt;
    int64_t low = 0, high = size - 1;
    for (auto [k, condition] : llvm::enumerate(guard.getConditions())) {
      if (condition.equality)
        continue;
      if (condition.expr() == coordinate) {
        explained[k] = true;
        low = bounds->low;
      } else if (condition.expr() == Expr(size - 1) - coordinate) {
        explained[k] = true;
        high = bounds->high;
      }
    }
    if (low > bounds->low || high < bounds->high)
      return std::nullopt;
    low = bounds->low, high = bounds->high;
    Expr from = Expr::name(dim.name.str()) + Expr(low);
    result.dims.emplace_back(context, dim.name.getValue(), Expr(high - low + 1));
    result.source.emplace_back(context, dim.name.getValue(), from);
    result.coordinates.emplace_back(context, dim.name.getValue(), coordinate - Expr(low));
    if (low < 0)
      result.inside.emplace_back(context, from);
    if (high >= size)
      result.inside.emplace_back(context, Expr(size - 1) - from);
  }
  return llvm::all_of(explained, [](bool each) { return each; }) ? std::optional(result)
                                                                 : std::nullopt;
}

/// Replaces read `i` of `consumer`, which is guarded, by a read of a copy with a border.
static void readBordered(ComputeOp consumer, unsigned i, const Bordered &bordered,
                         const Ranges &ranges) {
  OpBuilder b(consumer);
  Value read = consumer.getReads()[i];
  TypedAttr otherwise =
      bordered.inside.empty() ? TypedAttr() : consumer.readGuard(i).getOtherwise();
  NestBuilder copy(b, consumer.getLoc());
  copy.produced = nd::DimsAttr::getSorted(b.getContext(), bordered.dims);
  copy.read(read, MapAttr::getSorted(b.getContext(), bordered.source),
            GuardAttr::get(b.getContext(), bordered.inside, otherwise));
  ComputeOp padded =
      copy.create({tensorType(read).getElementType()}, [](OpBuilder &, Location, ValueRange value) {
        return SmallVector<Value>(value);
      });
  padded->setAttr(materializeAttr, b.getUnitAttr());
  padded->setAttr("heddle.name", b.getStringAttr("pad"));
  consumer.getReadsMutable()[i].set(padded.getResult(0));
  SmallVector<Attribute> maps(consumer.getMaps().getValue()),
      guards(consumer.getGuards().getValue());
  maps[i] = simplifyMap(MapAttr::getSorted(b.getContext(), bordered.coordinates), ranges);
  guards[i] = GuardAttr::get(b.getContext(), {}, TypedAttr());
  consumer.setMapsAttr(b.getArrayAttr(maps));
  consumer.setGuardsAttr(b.getArrayAttr(guards));
}

void nest::materializeGuards(func::FuncOp function) {
  for (auto consumer : llvm::make_early_inc_range(function.getOps<ComputeOp>())) {
    if (!consumer.isReduction())
      continue;
    // A zero factor adds nothing: loops over sums of products are split at such guards instead.
    bool isContraction = contractionOf(consumer).has_value();
    Ranges ranges = iterationRanges(consumer);
    double count = pointsOf(consumer.getProduced()) * pointsOf(consumer.getReduced());
    for (unsigned i = 0; i < consumer.getReads().size(); ++i) {
      GuardAttr guard = consumer.readGuard(i);
      auto type = tensorType(consumer.getReads()[i]);
      if (guard.isTrivial() || !guard.getOtherwise() ||
          (isContraction && isZero(guard.getOtherwise())) || count < 8 * pointsOf(type.getDims()) ||
          type.elements() == 0 || !type.isStatic())
        continue;
      auto bordered = borderFor(type, consumer.readMap(i), guard, ranges);
      if (bordered &&
          pointsOf(nd::DimsAttr::getSorted(type.getContext(), bordered->dims)) * 8 <= count)
        readBordered(consumer, i, *bordered, ranges);
    }
  }
}
