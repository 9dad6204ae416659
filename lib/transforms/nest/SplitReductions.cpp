//===- SplitReductions.cpp - large reductions to few results in parts -----===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/SplitReductions.h"

#include "dialects/nest/NestBuild.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/transforms/nest/Rewrite.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

void nest::splitReductions(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(function.front())) {
    auto nest = dyn_cast<ComputeOp>(op);
    if (!nest || !nest.isReduction() ||
        llvm::any_of(readsOf(nest), [](const NestRead &read) { return isGathered(read.map); }) ||
        isFixed(nest))
      continue;
    double produced = pointsOf(nest.getProduced()), reduced = pointsOf(nest.getReduced());
    // Enough results to share, or too little work to be worth a second nest.
    if (produced >= 16384 || produced * reduced < (1 << 20) || reduced < 512)
      continue;
    // The largest reduced name that some read does not leave unused is cut in up to 16 parts.
    nd::Dim chosen;
    for (const nd::Dim &dim : nest.getReduced())
      if (dim.size().constant() &&
          (!chosen.name || *dim.size().constant() > *chosen.size().constant()))
        chosen = dim;
    if (!chosen.name)
      continue;
    int64_t size = *chosen.size().constant(), parts = 1;
    for (int64_t candidate = 16; candidate >= 2; --candidate)
      if (size % candidate == 0) {
        parts = candidate;
        break;
      }
    if (parts == 1)
      continue;
    OpBuilder b(nest);
    Location loc = nest.getLoc();
    std::string name = chosen.name.str(), part = name + "$part";
    Expr whole = Expr::name(part) * Expr(size / parts) + Expr::name(name);
    NestBuilder partial(b, loc);
    SmallVector<nd::Dim> withPart(nest.getProduced().getDims()), inner;
    withPart.emplace_back(b.getContext(), part, Expr(parts));
    for (const nd::Dim &dim : nest.getReduced())
      inner.emplace_back(b.getContext(), dim.name.getValue(),
                         dim.name == chosen.name ? Expr(size / parts) : dim.size().getExpr());
    partial.produced = nd::DimsAttr::getSorted(b.getContext(), withPart);
    partial.reduced = nd::DimsAttr::getSorted(b.getContext(), inner);
    bool usesIndex = false;
    nest.getBody().walk([&](IndexOp index) { usesIndex |= index.getName() == name; });
    if (usesIndex)
      continue;
    Ranges ranges = iterationRanges(nest);
    ranges[part] = {0, parts - 1};
    ranges[name] = {0, size / parts - 1};
    for (auto [i, value] : llvm::enumerate(nest.getReads()))
      partial.read(value, simplifyMap(nest.readMap(i).substitute({{name, whole}}), ranges),
                   simplifyGuard(nest.readGuard(i).substitute({{name, whole}}), ranges));
    Region body, combine, none;
    body.takeBody(nest.getBody());
    IRMapping mapping;
    nest.getCombine().cloneInto(&combine, mapping);
    SmallVector<Type> types;
    for (Attribute neutral : nest.getNeutral())
      types.push_back(nd::NdTensorType::get(b.getContext(), cast<TypedAttr>(neutral).getType(),
                                            partial.produced));
    ComputeOp first = partial.create(types, body, combine, none, nest.getNeutral());
    first->setAttr(materializeAttr, b.getUnitAttr());
    first->setAttr("heddle.name", b.getStringAttr("partial"));
    NestBuilder rest(b, loc);
    rest.produced = nest.getProduced();
    rest.reduced =
        nd::DimsAttr::getSorted(b.getContext(), {nd::Dim(b.getContext(), part, Expr(parts))});
    for (Value value : first->getResults())
      rest.read(value, MapAttr::identity(tensorTypeOf(value)));
    for (auto [i, value] : llvm::enumerate(nest.getFinishReads()))
      rest.finishRead(value, nest.finishMap(i), nest.finishGuard(i));
    Region sumBody, sumCombine, finish;
    Block *block = b.createBlock(&sumBody);
    for (Value value : first->getResults())
      block->addArgument(tensorTypeOf(value).scalarType(), loc);
    YieldOp::create(b, loc, block->getArguments());
    b.setInsertionPoint(nest);
    sumCombine.takeBody(nest.getCombine());
    finish.takeBody(nest.getFinish());
    ComputeOp second = rest.create(SmallVector<Type>(nest.getResultTypes()), sumBody, sumCombine,
                                   finish, nest.getNeutral());
    if (auto label = nest->getAttr("heddle.name"))
      second->setAttr("heddle.name", label);
    nest->replaceAllUsesWith(second);
    nest->erase();
  }
}
