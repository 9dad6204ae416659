//===- Ring.cpp - operands of which one block is there at a time ----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/Ring.h"

#include "dialects/nd/NdBuild.h"
#include "lib/transforms/mesh/Links.h"
#include "lib/transforms/mesh/Partitioner.h"
#include "lib/transforms/mesh/Pipeline.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

using nd::tensorType;
using nest::ComputeOp;
using nest::MapAttr;

namespace {
/// A nest, as it looks for an operand that goes around.
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
          bytesOf(held.value) * double(partsOf(space.mesh, held.sharding.begin()->second)) <
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
  /// The iteration name at which a name of an operand is read, if it has all of its coordinates.
  std::optional<std::string> nameAt(unsigned read, StringRef name) {
    auto at = map(read).lookup(name)->asName();
    bool isAll = at && space.size(*at) == tensorType(op->getOperand(read)).size(name);
    return isAll ? at : std::nullopt;
  }

  /// True if the ring's name is read as it is, and everything else is there.
  bool fits(const Ring &ring) {
    bool isUsed = partsOf(space.mesh, ring.axes) == 1;
    op.walk([&](nest::IndexOp index) {
      isUsed |= index.getName() == ring.at || op.getCombine().isAncestor(index->getParentRegion());
    });
    if (op.getReduced().contains(ring.at) &&
        !dividesEvenly(space.size(ring.at).getExpr(), partsOf(space.mesh, ring.axes)))
      return false; // points beyond the size would have to be excluded
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
        // At the ring's name everything is there to be cut; at other names, the device's own block.
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

/// The whole nest over one block of the ring's name; of its other operands it reads copies of that part. A
/// reduction ends with its accumulators.
ComputeOp Partitioner::turnOf(ComputeOp op, const Ring &ring, Value block, Value number) {
  Location loc = op.getLoc();
  Expr size = tensorType(block).size(ring.name).getExpr();
  auto shrunk = [&](nd::DimsAttr dims, StringRef name) {
    return nd::DimsAttr::getSorted(b.getContext(), {nd::Dim(b.getContext(), name, size)})
        .with(dims.getDims());
  };
  nest::NestBuilder nest(b, op);
  for (auto [i, map] : llvm::enumerate(op.getMapsAttr().getAsRange<MapAttr>()))
    for (const nest::MapEntry &entry : map.getEntries()) {
      if (entry.expr().asName() != ring.at)
        continue;
      Value &read = i < nest.reads.size() ? nest.reads[i] : nest.finishReads[i - nest.reads.size()];
      LocalValue value = local(read);
      std::string name = entry.name.str();
      if (i == ring.read) {
        value.value = block;
        value.sharding.erase(name);
      } else {
        nest::NestBuilder cut(b, loc);
        cut.produced = shrunk(tensorType(value.value).getDims(), name);
        cut.read(number, MapAttr::identity(tensorType(number)));
        Expr at = Expr::name(nest::readName(0)) * size + Expr::name(name);
        auto identity = MapAttr::identity(tensorType(value.value));
        cut.read(value.value, identity.substitute({{name, at}}));
        value.value = cut.createCopy();
      }
      value.whole = value.whole.withDims(shrunk(value.whole.getDims(), name).getDims());
      read = value.value;
      locals[read] = value;
    }
  bool isReduced = op.getReduced().contains(ring.at);
  nd::DimsAttr &dims = isReduced ? nest.reduced : nest.produced;
  dims = shrunk(dims, ring.at);
  ComputeOp made;
  if (isReduced) {
    Region body, combine, finish;
    IRMapping mapping;
    op.getBody().cloneInto(&body, mapping);
    op.getCombine().cloneInto(&combine, mapping);
    nest.finishReads.clear();
    nest.finishMaps.clear();
    nest.finishGuards.clear();
    made = nest.create(typesOf(accumulatorsOf(op), nest.produced), body, combine, finish,
                       op.getNeutral());
  } else {
    made = nest.createLike(op);
    made.removeLayoutsAttr();
    made.removeScheduleAttr();
  }
  inherit(made, op);
  if (Attribute sharding = op->getAttr(shardingAttrName))
    made->setAttr(shardingAttrName, sharding);
  return made;
}

/// One block of an operand at a time: they go around (Ring.h).
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
    SmallVector<Value> after;
    ComputeOp part = turnOf(op, ring, block, number);
    compute(part);
    nest::NestBuilder sum(b, loc);
    for (Value value : before)
      sum.read(value, MapAttr::identity(tensorType(value)));
    for (auto [whole, result] : llvm::zip_equal(before, part.getResults())) {
      Value value = local(result).value;
      nest::NestBuilder write(b, loc);
      sum.produced = write.produced = tensorType(value).getDims();
      write.read(number, MapAttr::identity(tensorType(number)));
      for (nest::NestBuilder *nest : {&sum, &write})
        nest->read(value, MapAttr::identity(tensorType(value)));
      Expr size = tensorType(block).size(ring.name).getExpr();
      Expr at = Expr::name(nest::readName(0)) * size + Expr::name(ring.at);
      if (!isReduced)
        after.push_back(write.createWrite(
            whole, MapAttr::identity(tensorType(whole)).substitute({{ring.at, at}})));
      locals.erase(result);
    }
    part.erase();
    auto combine = [&](OpBuilder &builder, Location, ValueRange read) {
      return nd::inlineBlock(builder, op.getCombine().front(), read);
    };
    if (isReduced)
      llvm::append_range(after, sum.create(accumulatorsOf(op), combine).getResults());
    return after;
  };
  // Its own block, and then those of the devices that follow.
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
