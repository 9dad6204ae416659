//===- RingOperands.cpp - passes operands around a ring -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/partition/RingOperands.h"

#include "dialects/nd/NdBuild.h"
#include "lib/transforms/mesh/partition/Partitioner.h"
#include "lib/transforms/mesh/partition/ScanPipeline.h"
#include "lib/transforms/mesh/propagate/PropagationGraph.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

using nd::tensorType;
using nest::ComputeOp;
using nest::MapAttr;

namespace {
/// Looks for an operand of a nest that can be passed around a ring.
class Finder {
public:
  Finder(ComputeOp op, const LocalSpace &space, function_ref<LocalValue(Value)> lookup)
      : op(op), space(space), lookup(lookup) {}

  std::optional<Ring> run(double leastBytes) {
    if (!space.axes(op.getReduced()).empty()) // each turn would reduce over devices
      return std::nullopt;
    for (unsigned i = 0; i < op.getReads().size(); ++i) {
      LocalValue held = lookup(op->getOperand(i));
      if (held.sharding.empty() ||
          tensorBytes(held.value) * double(partsOf(space.mesh, held.sharding.begin()->second)) <
              leastBytes)
        continue;
      for (const auto &[name, axes] : held.sharding)
        if (auto at = nameAt(i, name); at && space.axes(*at).empty())
          if (Ring ring{i, name, *at, axes}; fits(ring))
            return ring;
    }
    return std::nullopt;
  }

private:
  ComputeOp op;
  const LocalSpace &space;
  function_ref<LocalValue(Value)> lookup;

  MapAttr map(unsigned read) { return cast<MapAttr>(op.getMapsAttr()[read]); }
  /// The iteration name at which a name of an operand is read, if it covers all coordinates.
  std::optional<std::string> nameAt(unsigned read, StringRef name) {
    auto at = map(read).lookup(name)->asName();
    bool isAll = at && space.size(*at) == tensorType(op->getOperand(read)).size(name);
    return isAll ? at : std::nullopt;
  }

  /// True if the ring's name is read at an iteration name, and the other operands are available.
  bool fits(const Ring &ring) {
    bool isUsed = partsOf(space.mesh, ring.axes) == 1;
    op.walk([&](nest::IndexOp index) {
      isUsed |= index.getName() == ring.at || op.getCombine().isAncestor(index->getParentRegion());
    });
    if (op.getReduced().contains(ring.at) &&
        !dividesEvenly(space.size(ring.at).getExpr(), partsOf(space.mesh, ring.axes)))
      return false; // would have to exclude points beyond the size
    for (auto [i, value] : llvm::enumerate(op.getMappedReads())) {
      for (const nest::Condition &each :
           cast<nest::GuardAttr>(op.getGuardsAttr()[i]).getConditions())
        isUsed |= llvm::is_contained(each.expr().names(), ring.at);
      Sharding sharding = lookup(value).sharding;
      for (const nd::Dim &dim : tensorType(value).getDims()) {
        auto here = nameAt(unsigned(i), dim.name);
        ArrayRef<Axis> axes = axesOf(sharding, dim.name);
        if (i == ring.read && dim.name == ring.name)
          continue;
        // Names read at the ring's name must be whole, so that they can be cut; others the device's
        // block.
        bool isCut = llvm::is_contained(map(unsigned(i)).lookup(dim.name)->names(), ring.at);
        if (isCut ? !here || !axes.empty() : !axes.empty() && !(here && space.axes(*here) == axes))
          return false;
        // The axes would move to this name by an all-to-all, which sends less.
        if (i == ring.read && here && axes.empty() && space.axes(*here) == ArrayRef(ring.axes))
          return false;
      }
    }
    return !isUsed;
  }
};
} // namespace

std::optional<Ring> mesh::ringOf(ComputeOp op, const LocalSpace &space,
                                 function_ref<LocalValue(Value)> lookup, double leastBytes) {
  return Finder(op, space, lookup).run(leastBytes);
}

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

/// The original nest over one block of the ring's name; other operands are cut to that part. A
/// reduction returns its accumulators.
ComputeOp Partitioner::turnOf(ComputeOp op, const Ring &ring, Value block, Value number) {
  Expr size = tensorType(block).size(ring.name).getExpr();
  nest::NestBuilder nest(b, op);
  for (auto [i, map] : llvm::enumerate(op.getMapsAttr().getAsRange<MapAttr>()))
    for (const nest::MapEntry &entry : map.getEntries()) {
      if (entry.expr().asName() != ring.at)
        continue;
      Value &read = i < nest.reads.size() ? nest.reads[i] : nest.finishReads[i - nest.reads.size()];
      LocalValue value = local(read);
      std::string name = entry.name.str();
      nd::Dim part(b.getContext(), name, size);
      if (i == ring.read) {
        value.value = block;
        value.sharding.erase(name);
      } else {
        Expr at = Expr::name(nest::readName(0)) * size + Expr::name(name);
        value.value = nest::copyAt(b, op.getLoc(), value.value,
                                   tensorType(value.value).replacing(part).getDims(), {{name, at}},
                                   {}, number);
      }
      value.whole = value.whole.replacing(part);
      read = value.value;
      locals[read] = value;
    }
  bool isReduced = op.getReduced().contains(ring.at);
  nd::DimsAttr &dims = isReduced ? nest.reduced : nest.produced;
  dims = dims.replacing(nd::Dim(b.getContext(), ring.at, size));
  if (isReduced) {
    nest.finishReads.clear();
    nest.finishMaps.clear();
    nest.finishGuards.clear();
  }
  ComputeOp made = nest.createLike(op, /*hasFinish=*/!isReduced);
  made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  made.removeLayoutsAttr();
  made.removeScheduleAttr();
  return made;
}

/// Builds the turns in which blocks of an operand are passed around (RingOperands.h).
void Partitioner::ring(ComputeOp op, const Ring &ring, const LocalSpace &space) {
  Location loc = op.getLoc();
  bool isReduced = op.getReduced().contains(ring.at);
  Sharding sharding = space.sharding(op.getProduced());
  Value own = local(op->getOperand(ring.read)).value;
  SmallVector<Value> results;
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    nd::NdTensorType type = blockType(mesh, tensorType(result), sharding);
    auto neutral = isReduced ? cast<TypedAttr>(op.getNeutral()[i]) : nest::zeroOf(type);
    if (isReduced)
      type = type.withElementType(neutral.getType());
    results.push_back(nest::filled(b, loc, type, neutral));
  }
  auto add = [&](Value block, ValueRange before, Value number) {
    ComputeOp part = turnOf(op, ring, block, number);
    compute(part);
    SmallVector<Value> after, own;
    for (Value result : part.getResults()) {
      own.push_back(local(result).value);
      locals.erase(result);
    }
    part.erase();
    Expr at = Expr::name(nest::readName(0)) * tensorType(block).size(ring.name).getExpr() +
              Expr::name(ring.at);
    if (!isReduced) {
      for (auto [whole, value] : llvm::zip_equal(before, own))
        after.push_back(nest::writeAt(b, loc, whole, value, {{ring.at, at}}, number));
      return after;
    }
    nest::NestBuilder sum(b, loc);
    sum.produced = tensorType(own[0]).getDims();
    for (ValueRange values : {before, ValueRange(own)})
      for (Value value : values)
        sum.read(value);
    auto combine = [&](OpBuilder &builder, Location, ValueRange read) {
      return nd::inlineBlock(builder, op.getCombine().front(), read);
    };
    llvm::append_range(after, sum.create(op.getAccumulatorTypes(), combine).getResults());
    return after;
  };
  // The device's own block first, and then those of the devices after it.
  Expr part = partIndex(mesh, ring.axes);
  int64_t parts = partsOf(mesh, ring.axes);
  auto none = nd::DimsAttr::getSorted(b.getContext(), {});
  auto turns = none.with(nd::Dim(b.getContext(), turnName, Expr(parts - 1)));
  SmallVector<Value> inits{own};
  llvm::append_range(inits, add(own, results, numbersOf(b, loc, none, part)));
  Value numbers = numbersOf(b, loc, turns, (part + Expr::name(turnName) + 1).mod(parts));
  auto turn = [&](ValueRange now, Value number) {
    SmallVector<Value> next{
        PermuteOp::create(b, loc, own.getType(), now[0], AxesAttr::get(b.getContext(), ring.axes),
                          b.getI64IntegerAttr(1), b.getUnitAttr(), ArrayAttr())};
    llvm::append_range(next, add(next[0], now.drop_front(), number));
    return next;
  };
  nest::ScanOp loop = loopOfTurns(b, loc, inits, numbers, turn);
  results.assign(std::next(loop->result_begin()), loop->result_end());
  if (isReduced)
    results = applyFinish(op, results, LocalSpace(mesh, {op.getProduced()}, sharding));
  for (auto [result, value] : llvm::zip_equal(op.getResults(), results))
    define(result, value, sharding);
}
