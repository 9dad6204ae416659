//===- Halo.cpp - intervals of neighbours' blocks -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/partition/Halo.h"

#include "dialects/nest/NestBuild.h"
#include "lib/transforms/mesh/partition/LocalSpace.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

using nd::tensorType;

namespace {
/// The part of an interval that is in the block of the neighbour at distance `shift`: elements
/// `first` to `last` of that block.
struct Part {
  int64_t shift, first, last;
};
} // namespace

static SmallVector<Part> partsOfInterval(const Interval &interval) {
  SmallVector<Part> parts;
  for (int64_t shift = llvm::divideFloorSigned(interval.low, interval.block);
       shift <= llvm::divideFloorSigned(interval.high, interval.block); ++shift)
    parts.push_back({shift, std::max<int64_t>(0, interval.low - shift * interval.block),
                     std::min(interval.block - 1, interval.high - shift * interval.block)});
  return parts;
}

std::optional<Interval> mesh::intervalOf(MeshAttr mesh, ArrayRef<Axis> axes, const Expr &size,
                                         const Expr &coordinate, const Ranges &ranges) {
  int64_t devices = partsOf(mesh, axes);
  auto block = blockSize(size, devices).constant();
  if (!block || *block == 0)
    return std::nullopt;
  Expr relative = (coordinate - partIndex(mesh, axes) * Expr(*block)).simplify(ranges);
  auto bounds = relative.bounds(ranges);
  if (!bounds || bounds->high - bounds->low >= (devices - 1) * *block)
    return std::nullopt;
  Interval interval{AxisList(axes), bounds->low, bounds->high, *block,
                    relative - Expr(bounds->low)};
  int64_t sent = 0;
  for (const Part &part : partsOfInterval(interval))
    if (part.shift != 0 && std::abs(part.shift) < devices)
      sent += part.last - part.first + 1;
  if (sent >= (devices - 1) * *block)
    return std::nullopt;
  return interval;
}

/// Elements `first` to `last` along a name.
static Value cutOut(OpBuilder &b, Location loc, Value value, const std::string &name,
                    const Part &part) {
  nd::NdTensorType type = tensorType(value);
  nd::Dim changed(b.getContext(), name, Expr(part.last - part.first + 1));
  return nest::copyAt(b, loc, value, type.replacing(changed).getDims(),
                      {{name, Expr::name(name) + Expr(part.first)}});
}

Value mesh::exchangeHalo(OpBuilder &b, Location loc, Value value, const std::string &name,
                         const Interval &interval) {
  MLIRContext *context = b.getContext();
  nd::NdTensorType type = tensorType(value);
  auto axes = AxesAttr::get(context, interval.axes);
  nest::NestBuilder nest(b, loc);
  nd::Dim changed(context, name, Expr(interval.high - interval.low + 1));
  nest.produced = type.replacing(changed).getDims();
  SmallVector<int64_t> starts; // of the parts, in the interval
  for (const Part &part : partsOfInterval(interval)) {
    Value piece = value;
    if (part.first != 0 || part.last != interval.block - 1)
      piece = cutOut(b, loc, value, name, part);
    if (part.shift != 0)
      piece = PermuteOp::create(b, loc, piece.getType(), piece, axes,
                                b.getI64IntegerAttr(part.shift), UnitAttr(), ArrayAttr());
    int64_t start = part.shift * interval.block + part.first - interval.low;
    Expr at = Expr::name(name) - Expr(start);
    nest.readOrZero(piece, nest::MapAttr::identity(tensorType(piece)).substitute({{name, at}}),
                    {at, Expr(part.last - part.first) - at});
    starts.push_back(start);
  }
  auto select = [&](OpBuilder &builder, Location where, ValueRange read) -> SmallVector<Value> {
    Value result = read[0];
    Value index = nest::emitIndex(builder, where, Expr::name(name));
    for (size_t i = 1; i < read.size(); ++i) {
      Value start = arith::ConstantIndexOp::create(builder, where, starts[i]);
      Value is = arith::CmpIOp::create(builder, where, arith::CmpIPredicate::sge, index, start);
      result = arith::SelectOp::create(builder, where, is, read[i], result);
    }
    return {result};
  };
  return nest.create({type.getElementType()}, select).getResult(0);
}
