//===- SplitReductions.cpp - splits large reductions ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/prepare/SplitReductions.h"

#include "dialects/nest/NestBuild.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/transforms/nest/Rewrite.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

namespace {
/// Splits `size` of `dim` into `parts` equal parts, each of which produces partial results.
struct Cut {
  nd::Dim dim;
  int64_t size, parts;
};
} // namespace

/// Splits the largest reduced name into at most 16 parts. None if that is not worth a second nest,
/// unless `always`.
static std::optional<Cut> cutOf(ComputeOp nest, bool always) {
  if (!nest.isReduction() || isFixed(nest) ||
      llvm::any_of(readsOf(nest), [](const NestRead &read) { return isGathered(read.map); }))
    return std::nullopt;
  double produced = pointsOf(nest.getProduced()), reduced = pointsOf(nest.getReduced());
  // There are enough results to distribute, or too little work for a second nest.
  if (!always && (produced >= 16384 || produced * reduced < (1 << 20) || reduced < 512))
    return std::nullopt;
  Cut cut{{}, 0, 0};
  for (const nd::Dim &dim : nest.getReduced())
    if (auto size = dim.size().constant(); size && *size > cut.size)
      cut.dim = dim, cut.size = *size;
  for (int64_t parts = 16; parts >= 2 && !cut.parts; --parts)
    if (cut.size % parts == 0)
      cut.parts = parts;
  if (!cut.dim.name || !cut.parts)
    return std::nullopt;
  bool usesIndex = false;
  nest.getBody().walk([&](IndexOp index) { usesIndex |= index.getName() == cut.dim.name; });
  return usesIndex ? std::nullopt : std::optional(cut);
}

/// Creates a nest that reduces each part of `nest`.
static ComputeOp reduceParts(OpBuilder &b, ComputeOp nest, const Cut &cut,
                             const std::string &part) {
  MLIRContext *context = b.getContext();
  std::string name = cut.dim.name.str();
  int64_t length = cut.size / cut.parts;
  Expr whole = Expr::name(part) * Expr(length) + Expr::name(name);
  NestBuilder partial(b, nest.getLoc());
  SmallVector<nd::Dim> withPart(nest.getProduced().getDims()), inner;
  withPart.emplace_back(context, part, Expr(cut.parts));
  for (const nd::Dim &dim : nest.getReduced())
    inner.emplace_back(context, dim.name.getValue(),
                       dim.name == cut.dim.name ? Expr(length) : dim.size().getExpr());
  partial.produced = nd::DimsAttr::getSorted(context, withPart);
  partial.reduced = nd::DimsAttr::getSorted(context, inner);
  Ranges ranges = iterationRanges(nest);
  ranges[part] = {0, cut.parts - 1};
  ranges[name] = {0, length - 1};
  for (auto [i, value] : llvm::enumerate(nest.getReads()))
    partial.read(value, simplifyMap(nest.readMap(i).substitute({{name, whole}}), ranges),
                 simplifyGuard(nest.readGuard(i).substitute({{name, whole}}), ranges));
  Region body, combine, none;
  body.takeBody(nest.getBody());
  IRMapping mapping;
  nest.getCombine().cloneInto(&combine, mapping);
  SmallVector<Type> types;
  for (Attribute neutral : nest.getNeutral())
    types.push_back(
        nd::NdTensorType::get(context, cast<TypedAttr>(neutral).getType(), partial.produced));
  ComputeOp made = partial.create(types, body, combine, none, nest.getNeutral());
  made->setAttr(materializeAttr, b.getUnitAttr());
  made->setAttr("heddle.name", b.getStringAttr("partial"));
  return made;
}

/// Creates a nest that combines the results of the parts; it has the combiner and finish of `nest`.
static ComputeOp combineParts(OpBuilder &b, ComputeOp nest, ComputeOp partial,
                              const nd::Dim &part) {
  Location loc = nest.getLoc();
  NestBuilder rest(b, loc);
  rest.produced = nest.getProduced();
  rest.reduced = nd::DimsAttr::getSorted(b.getContext(), {part});
  for (Value value : partial->getResults())
    rest.read(value, MapAttr::identity(tensorType(value)));
  for (auto [i, value] : llvm::enumerate(nest.getFinishReads()))
    rest.finishRead(value, nest.finishMap(i), nest.finishGuard(i));
  Region body, combine, finish;
  Block *block = b.createBlock(&body);
  for (Value value : partial->getResults())
    block->addArgument(tensorType(value).scalarType(), loc);
  YieldOp::create(b, loc, block->getArguments());
  b.setInsertionPoint(nest);
  combine.takeBody(nest.getCombine());
  finish.takeBody(nest.getFinish());
  ComputeOp made = rest.create(SmallVector<Type>(nest.getResultTypes()), body, combine, finish,
                               nest.getNeutral());
  if (auto label = nest->getAttr("heddle.name"))
    made->setAttr("heddle.name", label);
  return made;
}

void nest::splitReductions(func::FuncOp function, bool always) {
  for (auto nest : llvm::make_early_inc_range(function.getOps<ComputeOp>())) {
    std::optional<Cut> cut = cutOf(nest, always);
    if (!cut)
      continue;
    OpBuilder b(nest);
    std::string part = cut->dim.name.str() + "$part";
    while (iterationSpace(nest).contains(part)) // from an earlier split
      part += "$";
    ComputeOp partial = reduceParts(b, nest, *cut, part);
    ComputeOp whole =
        combineParts(b, nest, partial, nd::Dim(b.getContext(), part, Expr(cut->parts)));
    nest->replaceAllUsesWith(whole);
    nest->erase();
  }
}
