//===- FlattenReductions.cpp - a reduction of reductions is one -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/FlattenReductions.h"

#include "dialects/nd/Combiner.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/transforms/nest/Rewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

using Replacement = std::map<std::string, Expr, std::less<>>;

/// The scalar below conversions that widen.
static Value withoutWidening(Value value) {
  while (auto wide = value.getDefiningOp<arith::ExtFOp>())
    value = wide.getIn();
  return value;
}

/// `zero` as the type of `neutral` is the neutral element.
static bool isNeutral(TypedAttr value, TypedAttr neutral) {
  if (value == neutral)
    return true;
  auto a = dyn_cast<FloatAttr>(value), b = dyn_cast<FloatAttr>(neutral);
  return a && b && a.getValueAsDouble() == b.getValueAsDouble();
}

/// The nest that both are as one; null if they are not of the kind described. Replaces nothing.
static ComputeOp flatten(ComputeOp inner, ComputeOp outer) {
  if (!inner.isReduction() || !outer.isReduction() || !inner.getFinish().empty() ||
      inner.getNumResults() != 1 || inner.getNeutral().size() != 1 ||
      outer.getNeutral().size() != 1 || outer.getReads().size() != 1 ||
      outer.getReads()[0] != inner.getResult(0) || isFixed(inner) || isFixed(outer) ||
      inner->hasAttr(materializeAttr) || inner->hasAttr("layouts"))
    return {};
  auto kind = nd::combinerKind(inner.getCombine());
  Block &outerBody = outer.getBody().front();
  if (kind == nd::CombinerKind::General || kind != nd::combinerKind(outer.getCombine()) ||
      inner.getNeutral() != outer.getNeutral() ||
      withoutWidening(outerBody.getTerminator()->getOperand(0)) != outerBody.getArgument(0))
    return {};
  bool innerIsSigned = true, outerIsSigned = true;
  nd::combinerKind(inner.getCombine(), &innerIsSigned),
      nd::combinerKind(outer.getCombine(), &outerIsSigned);
  GuardAttr guard = outer.readGuard(0);
  if (innerIsSigned != outerIsSigned || isGathered(outer.readMap(0)) ||
      (guard.getOtherwise() &&
       !isNeutral(guard.getOtherwise(), cast<TypedAttr>(outer.getNeutral()[0]))))
    return {};
  std::set<std::string> taken;
  for (const auto &[name, range] : iterationRanges(outer))
    taken.insert(name);
  ComputeOp apart = withReducedApart(inner, taken);
  Replacement at;
  for (const MapEntry &entry : outer.readMap(0).getEntries())
    at[entry.name.str()] = entry.expr();
  OpBuilder b(outer);
  NestBuilder nest(b, outer);
  nest.reads.clear(), nest.maps.clear(), nest.guards.clear();
  SmallVector<nd::Dim> reduced(outer.getReduced().getDims());
  llvm::append_range(reduced, apart.getReduced().getDims());
  nest.reduced = nd::DimsAttr::getSorted(b.getContext(), reduced);
  Ranges ranges = iterationRanges(outer);
  ranges.merge(iterationRanges(apart));
  SizeExprs space = spaceOf(outer);
  space.merge(spaceOf(apart));
  // The outer guard excludes points. One read has to say so; others only where they would leave
  // their tensor.
  SmallVector<GuardAttr> own;
  SmallVector<bool> needs;
  bool carried = guard.isTrivial();
  for (auto [i, read] : llvm::enumerate(apart.getReads())) {
    own.push_back(apart.readGuard(i).substitute(at));
    MapAttr map = simplifyMap(apart.readMap(i).substitute(at), ranges);
    needs.push_back(!own[i].isTrivial() || !staysInside(map, tensorTypeOf(read), ranges, space));
    carried |= needs[i] && (own[i].isTrivial() || own[i].excludes());
    nest.read(read, map);
  }
  for (unsigned i = 0; i < own.size() && !carried; ++i)
    if (own[i].isTrivial())
      needs[i] = carried = true;
  for (unsigned i = 0; i < own.size(); ++i) {
    SmallVector<Condition> conditions;
    if (needs[i])
      llvm::append_range(conditions, guard.getConditions());
    llvm::append_range(conditions, own[i].getConditions());
    nest.guards[i] =
        simplifyGuard(GuardAttr::get(b.getContext(), conditions,
                                     own[i].isTrivial() ? TypedAttr() : own[i].getOtherwise()),
                      ranges);
  }
  // Coordinates become expressions of the outer names.
  Region body, combine, finish;
  Block *block = b.createBlock(&body);
  IRMapping mapping;
  Location loc = outer.getLoc();
  for (BlockArgument argument : apart.getBody().getArguments())
    mapping.map(argument, block->addArgument(argument.getType(), loc));
  Block &innerBody = apart.getBody().front();
  for (Operation &op : innerBody.without_terminator()) {
    auto index = dyn_cast<IndexOp>(op);
    auto found = index ? at.find(index.getName().str()) : at.end();
    if (found != at.end())
      mapping.map(index.getResult(), emitIndex(b, loc, found->second.simplify(ranges)));
    else
      b.clone(op, mapping);
  }
  YieldOp::create(b, loc,
                  ValueRange{mapping.lookupOrDefault(innerBody.getTerminator()->getOperand(0))});
  apart->erase();
  if (!carried)
    return {};
  IRMapping ofCombine, ofFinish;
  outer.getCombine().cloneInto(&combine, ofCombine);
  outer.getFinish().cloneInto(&finish, ofFinish);
  b.setInsertionPoint(outer);
  ComputeOp made = nest.create(llvm::to_vector(outer->getResultTypes()), body, combine, finish,
                               outer.getNeutral());
  if (outer.getLayouts())
    made.setLayoutsAttr(outer.getLayoutsAttr());
  inheritAttributes(made, {outer});
  return made;
}

bool nest::flattenReductions(Block &block) {
  bool any = false;
  for (auto outer : llvm::make_early_inc_range(block.getOps<ComputeOp>())) {
    for (bool changed = true; changed && outer.getReads().size() == 1;) {
      changed = false;
      auto inner = outer.getReads()[0].getDefiningOp<ComputeOp>();
      if (!inner || inner->getBlock() != &block || !inner->hasOneUse())
        break;
      ComputeOp made = flatten(inner, outer);
      if (!made)
        break;
      if (secondsOf(made) >= secondsOf(inner) + secondsOf(outer)) {
        made->erase();
        break;
      }
      outer->replaceAllUsesWith(made);
      outer->erase();
      inner->erase();
      outer = made;
      any = changed = true;
    }
  }
  return any;
}
