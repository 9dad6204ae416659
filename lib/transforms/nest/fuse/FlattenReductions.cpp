//===- FlattenReductions.cpp - merges nested reductions -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/fuse/FlattenReductions.h"

#include "dialects/nd/Combiner.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/cost/Cost.h"
#include "lib/transforms/nest/Rewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// Looks through widening conversions, which do not round.
static Value withoutWidening(Value value) {
  while (auto wide = value.getDefiningOp<arith::ExtFOp>()) {
    if (!nd::keepsPrecision(wide))
      break;
    value = wide.getIn();
  }
  return value;
}

/// Returns true if `value` is the neutral element, in any float type.
static bool isNeutral(TypedAttr value, TypedAttr neutral) {
  if (value == neutral)
    return true;
  auto a = dyn_cast<FloatAttr>(value), b = dyn_cast<FloatAttr>(neutral);
  return a && b && a.getValueAsDouble() == b.getValueAsDouble();
}

/// Returns true if `outer` reduces the results of `inner` by the same combiner.
static bool foldsFurther(ComputeOp inner, ComputeOp outer) {
  if (!inner.isReduction() || !outer.isReduction() || !inner.getFinish().empty() ||
      inner.getNumResults() != 1 || inner.getNeutral().size() != 1 ||
      outer.getNeutral().size() != 1 || outer.getReads().size() != 1 ||
      outer.getReads()[0] != inner.getResult(0) || isFixed(inner) || isFixed(outer) ||
      inner->hasAttr(materializeAttr) || inner.getLayoutsAttr())
    return false;
  bool innerIsSigned = true, outerIsSigned = true;
  auto kind = nd::combinerKind(inner.getCombine(), &innerIsSigned);
  Block &body = outer.getBody().front();
  if (kind == nd::CombinerKind::General ||
      kind != nd::combinerKind(outer.getCombine(), &outerIsSigned) ||
      innerIsSigned != outerIsSigned || inner.getNeutral() != outer.getNeutral() ||
      withoutWidening(body.getTerminator()->getOperand(0)) != body.getArgument(0))
    return false;
  TypedAttr otherwise = outer.readGuard(0).getOtherwise();
  return !isGathered(outer.readMap(0)) &&
         (!otherwise || isNeutral(otherwise, cast<TypedAttr>(outer.getNeutral()[0])));
}

/// Adds the reads of `inner` to `nest`, at the coordinates where `outer` reads its result. If the
/// outer guard excludes points, one read gets that guard; others get it only if they would be out
/// of bounds. Returns false if no read can have the guard.
static bool addReads(NestBuilder &nest, ComputeOp inner, ComputeOp outer, const ExprMap &at,
                     const Ranges &ranges) {
  GuardAttr guard = outer.readGuard(0);
  ExprMap space = spaceOf(outer);
  space.merge(spaceOf(inner));
  SmallVector<GuardAttr> own;
  SmallVector<bool> needs;
  bool carried = guard.isTrivial();
  for (auto [i, read] : llvm::enumerate(inner.getReads())) {
    own.push_back(inner.readGuard(i).substitute(at));
    MapAttr map = simplifyMap(inner.readMap(i).substitute(at), ranges);
    needs.push_back(!own[i].isTrivial() || !staysInside(map, tensorType(read), ranges, space));
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
    TypedAttr otherwise = own[i].isTrivial() ? TypedAttr() : own[i].getOtherwise();
    nest.guards[i] =
        simplifyGuard(GuardAttr::get(outer.getContext(), conditions, otherwise), ranges);
  }
  return carried;
}

/// Writes the body of `inner` into `body`. Coordinates become expressions over the outer names.
static void writeBody(OpBuilder &b, Region &body, ComputeOp inner, Location loc, const ExprMap &at,
                      const Ranges &ranges) {
  Block *block = b.createBlock(&body);
  IRMapping mapping;
  for (BlockArgument argument : inner.getBody().getArguments())
    mapping.map(argument, block->addArgument(argument.getType(), loc));
  Block &from = inner.getBody().front();
  for (Operation &op : from.without_terminator()) {
    auto index = dyn_cast<IndexOp>(op);
    auto found = index ? at.find(index.getName().str()) : at.end();
    if (found != at.end())
      mapping.map(index.getResult(), emitIndex(b, loc, found->second.simplify(ranges)));
    else
      b.clone(op, mapping);
  }
  YieldOp::create(b, loc, ValueRange{mapping.lookupOrDefault(from.getTerminator()->getOperand(0))});
}

/// Builds the nest that would replace both, without replacing them. Returns null if that is not
/// legal.
static ComputeOp flatten(ComputeOp inner, ComputeOp outer) {
  if (!foldsFurther(inner, outer))
    return {};
  std::set<std::string> taken;
  for (const auto &[name, range] : iterationRanges(outer))
    taken.insert(name);
  ComputeOp apart = withFreshReducedNames(inner, taken);
  ExprMap at;
  for (const MapEntry &entry : outer.readMap(0).getEntries())
    at[entry.name.str()] = entry.expr();
  OpBuilder b(outer);
  NestBuilder nest(b, outer);
  nest.reads.clear(), nest.maps.clear(), nest.guards.clear();
  nest.reduced = outer.getReduced().with(apart.getReduced().getDims());
  Ranges ranges = iterationRanges(outer);
  ranges.merge(iterationRanges(apart));
  Region body, combine, finish;
  bool carried = addReads(nest, apart, outer, at, ranges);
  writeBody(b, body, apart, outer.getLoc(), at, ranges);
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
      if (cost::secondsBySizes(made) >= cost::secondsBySizes(inner) + cost::secondsBySizes(outer)) {
        made->erase();
        break;
      }
      outer->replaceAllUsesWith(made);
      outer->erase();
      inner->erase();
      assignBlockOrder(made);
      outer = made;
      any = changed = true;
    }
  }
  return any;
}
