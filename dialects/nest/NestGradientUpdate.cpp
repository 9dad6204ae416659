//===- NestGradientUpdate.cpp - gradients of updates ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nest/NestGradient.h"

#include "dialects/nd/NdBuild.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// The conditions that the target of a point is inside of the destination.
static SmallVector<Condition> insideConditions(UpdateOp op) {
  SmallVector<Condition> conditions;
  Ranges ranges = iterationRanges(op);
  nd::NdTensorType type = tensorType(op.getDest());
  for (const MapEntry &entry : op.getDestMap().getEntries()) {
    Expr expr = entry.expr();
    nd::SizeAttr size = type.size(entry.name);
    // A name of the space with the size of the destination's name is in bounds.
    if (auto name = expr.asName(); name && op.getSpace().lookup(*name) == size)
      continue;
    auto bounds = expr.simplify(ranges).bounds(ranges);
    if (!bounds || bounds->low < 0)
      conditions.emplace_back(op.getContext(), expr);
    if (!bounds || !size.constant() || bounds->high >= *size.constant())
      conditions.emplace_back(op.getContext(), size.getExpr() - 1 - expr);
  }
  return conditions;
}

LogicalResult UpdateOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                      SmallVectorImpl<Value> &gradients) {
  Location loc = getLoc();
  Value cotangent = cotangents[0];
  bool adds = nd::combinerKind(getCombine()) == nd::CombinerKind::Add;
  if (!adds && !getUnique())
    return emitOpError() << "cannot be differentiated: expected a sum, or 'unique', so that the "
                            "order in which values are combined does not matter"
                         << nd::ownGradientHint;
  auto guard = GuardAttr::get(getContext(), insideConditions(*this), TypedAttr());
  unsigned n = getReads().size();
  Block &code = getBody().front(), &combiner = getCombine().front();

  // The reads, the cotangent at the target and the old value there.
  auto start = [&](Contribution &what) {
    what.space = getSpace();
    for (unsigned k = 0; k < n; ++k)
      what.read(getReads()[k], cast<MapAttr>(getMaps()[k]), cast<GuardAttr>(getGuards()[k]));
    what.carrier = what.read(cotangent, getDestMap(), guard);
    what.read(getDest(), getDestMap(), guard);
  };
  auto combinerGradient = [&](Block *block, unsigned side) -> FailureOr<Value> {
    Value g = block->getArgument(n);
    if (adds)
      return g;
    Value fresh = nd::inlineBlock(b, code, block->getArguments().take_front(n))[0];
    return gradientOf(b, loc, combiner, {block->getArgument(n + 1), fresh}, {g}, side);
  };

  if (wanted[0] && adds) {
    gradients[0] = cotangent;
  } else if (wanted[0]) {
    // Targets get the cotangent through the combiner; all other elements keep theirs.
    Contribution what;
    start(what);
    FailureOr<bool> any = fillBody(b, loc, what, [&](Block *block) -> FailureOr<Value> {
      FailureOr<Value> result = combinerGradient(block, 0);
      if (succeeded(result) && !*result)
        return nd::buildNumber(b, loc, block->getArgument(n).getType(), 0);
      return result;
    });
    if (failed(any))
      return failure();
    MapAttr map = getDestMap();
    GuardAttr everywhere = GuardAttr::get(getContext(), {}, TypedAttr());
    what.prune(map, everywhere);
    NestBuilder nest(b, loc);
    nest.produced = getSpace();
    for (auto [value, readMap, readGuard] : llvm::zip_equal(what.reads, what.maps, what.guards))
      nest.read(value, readMap, readGuard);
    UpdateOp update = nest.createUpdate(
        cotangent, map,
        [&](OpBuilder &b, Location, ValueRange s) { return nd::inlineBlock(b, what.block(), s); },
        [](OpBuilder &, Location, ValueRange s) { return SmallVector<Value>{s[1]}; },
        /*unique=*/true);
    gradients[0] = update.getResult();
  }
  for (unsigned i = 0; i < n; ++i) {
    if (!wanted[i + 1])
      continue;
    Contribution what;
    start(what);
    FailureOr<bool> any = fillBody(b, loc, what, [&](Block *block) -> FailureOr<Value> {
      FailureOr<Value> given = combinerGradient(block, 1);
      if (failed(given) || !*given)
        return given;
      return gradientOf(b, loc, code, block->getArguments().take_front(n), {*given}, i);
    });
    if (failed(any))
      return failure();
    if (*any)
      gradients[i + 1] =
          sumContributions(b, loc, what, tensorType(getReads()[i]), cast<MapAttr>(getMaps()[i]),
                           cast<GuardAttr>(getGuards()[i]));
  }
  return success();
}
