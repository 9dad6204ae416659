//===- PartitionNests.cpp - nests over the blocks of a device -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/partition/Partitioner.h"

#include "dialects/nd/NdBuild.h"
#include "dialects/nest/NestGradient.h"
#include "lib/transforms/mesh/partition/PartialSums.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

using nd::tensorType;
using nest::ComputeOp;
using nest::UpdateOp;

void mesh::inherit(Operation *made, Operation *from) {
  for (NamedAttribute attribute : from->getDiscardableAttrs())
    if (attribute.getName() != shardingAttrName && attribute.getName() != carriedAttrName)
      made->setAttr(attribute.getName(), attribute.getValue());
}

/// Clones scalar code for the device's points.
static void cloneLocal(Region &from, Region &to, const LocalSpace &space) {
  IRMapping mapping;
  from.cloneInto(&to, mapping);
  space.localize(to);
}

//===----------------------------------------------------------------------===//
// Computations
//===----------------------------------------------------------------------===//

/// The axes that split a value's names at a use, if the use reads one device's block.
static Sharding wantedBy(OpOperand &use) {
  Sharding wanted;
  nd::DimsAttr dims = tensorType(use.get()).getDims();
  Operation *op = use.getOwner();
  if (isa<func::ReturnOp>(op))
    return shardingOf(op->getParentOfType<func::FuncOp>().getResultAttr(use.getOperandNumber(),
                                                                        shardingAttrName));
  auto nest = dyn_cast<nest::LoopNestInterface>(op);
  if (!nest || use.getOperandNumber() < nest.getFirstRead())
    return wanted;
  Sharding split = shardingOf(nest->getAttr(shardingAttrName));
  auto map = cast<nest::MapAttr>(nest.getMapsAttr()[use.getOperandNumber() - nest.getFirstRead()]);
  for (const nd::Dim &dim : dims)
    if (auto at = map.lookup(dim.name)->asName(); at && split.contains(*at))
      for (nd::DimsAttr names : nest.getIterationNames())
        if (names.lookup(*at) == dim.size())
          wanted[dim.name.str()] = split[*at];
  return wanted;
}

/// The sharding to which the axes of a sum are scattered: the one of the use with the most axes. An
/// axis of the sum is used completely or not at all, but its parts may split several names. (A
/// scatter and a later gather move as many bytes as an all-reduce.)
static Sharding scattered(MeshAttr mesh, Operation *op, ArrayRef<Axis> axes, const Sharding &held) {
  Sharding chosen;
  int64_t most = 1;
  for (Value result : op->getResults())
    for (OpOperand &use : result.getUses()) {
      Sharding split;
      int64_t parts = 1, covered = 1;
      for (const auto &[name, list] : wantedBy(use))
        if (axesOf(held, name).empty() && llvm::all_of(list, [&](const Axis &axis) {
              return llvm::is_contained(axes, axis) ||
                     llvm::is_contained(axes, Axis{axis.name}); // a part of an axis
            })) {
          split[name] = list;
          parts *= partsOf(mesh, list);
        }
      for (const Axis &axis : axes)
        if (llvm::any_of(split, [&](const auto &each) { return overlap(mesh, each.second, axis); }))
          covered *= partsOf(mesh, axis);
      if (parts == covered && parts > most) {
        most = parts;
        chosen = split;
      }
    }
  return chosen;
}

/// Combines accumulators over devices. Adds the names along which they are scattered to `sharding`.
SmallVector<Value> Partitioner::combineOver(Operation *op, ValueRange parts, ArrayRef<Axis> axes,
                                            Region &combine, ArrayAttr neutral,
                                            Sharding &sharding) {
  SmallVector<Value> values(parts);
  AxisList left(axes);
  for (const auto &[name, list] : scattered(mesh, op, axes, sharding)) {
    values = resharder.reduce(values, list, combine, neutral, name, op->getLoc());
    sharding[name] = list;
    llvm::erase_if(left, [&](const Axis &axis) { return overlap(mesh, list, axis); });
  }
  return left.empty() ? values : resharder.reduce(values, left, combine, neutral, "", op->getLoc());
}

void Partitioner::compute(ComputeOp op) {
  LocalSpace space(mesh, {op.getProduced(), op.getReduced()}, wantedFor(op));
  auto lookup = [&](Value value) { return local(value); };
  if (auto found = ringOf(op, space, lookup, leastRing))
    return ring(op, *found, space);
  LocalReads reads = readsOf(op, space);
  for (unsigned i = 0; i < op.getReads().size(); ++i)
    reads.add(b, i, op.isReduction());
  if (op.isReduction())
    reads.exclude(b, op.getReduced());

  bool isSplit = !space.axes(op.getReduced()).empty();
  nest::NestBuilder nest(b, op.getLoc());
  nest.produced = space.local(op.getProduced());
  nest.reduced = space.local(op.getReduced());
  reads.giveBody(nest);
  if (!isSplit)
    finishReads(op, space).giveFinish(nest);
  ComputeOp made = nest.createLike(op, /*hasFinish=*/!isSplit);
  for (Region &region : made->getRegions())
    space.localize(region);
  reads.addArguments(made.getBody(), op.getLoc());
  inherit(made, op);
  if (!space.isWhole()) {
    made.removeLayoutsAttr();
    made.removeScheduleAttr();
  }
  Sharding sharding = space.sharding(op.getProduced());
  SmallVector<Value> values(made.getResults());
  if (isSplit) {
    values = combineOver(op, values, space.axes(op.getReduced()), op.getCombine(), op.getNeutral(),
                         sharding);
    values = applyFinish(op, values, LocalSpace(mesh, {op.getProduced()}, sharding));
  }
  for (auto [result, value] : llvm::zip_equal(op.getResults(), values))
    define(result, value, sharding);
}

LocalReads Partitioner::finishReads(ComputeOp op, const LocalSpace &space) {
  LocalReads reads = readsOf(op, space);
  for (unsigned i = unsigned(op.getReads().size()); i < op->getNumOperands(); ++i)
    reads.add(b, i, /*mayExclude=*/false);
  return reads;
}

/// The epilogue of a reduction as a nest over its accumulators; none if they are the results.
SmallVector<Value> Partitioner::applyFinish(ComputeOp op, ArrayRef<Value> accumulators,
                                            const LocalSpace &space) {
  Location loc = op.getLoc();
  SmallVector<Type> elements = nest::elementTypesOf(op.getResults());
  if (op.getFinish().empty() && elements == nest::elementTypesOf(accumulators))
    return SmallVector<Value>(accumulators);
  nest::NestBuilder nest(b, loc);
  nest.produced = space.local(op.getProduced());
  for (Value value : accumulators)
    nest.read(value);
  finishReads(op, space).giveBody(nest);
  auto body = [&](OpBuilder &builder, Location, ValueRange read) -> SmallVector<Value> {
    if (!op.getFinish().empty())
      return nd::inlineBlock(builder, op.getFinish().front(), read);
    return llvm::map_to_vector(llvm::zip_equal(read, elements), [&](auto each) {
      return nd::convertFloat(builder, loc, std::get<0>(each), nd::signless(std::get<1>(each)));
    });
  };
  ComputeOp made = nest.create(elements, body);
  space.localize(made.getBody());
  inherit(made, op);
  made->removeAttr(nest::orderAttrName);
  return SmallVector<Value>(made->getResults());
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

/// The neutral element of the update's combiner; null if it is not a named combiner.
static TypedAttr neutralOf(UpdateOp op) {
  bool isSigned = true;
  nd::CombinerKind kind = nd::combinerKind(op.getCombine(), &isSigned);
  return nd::neutralElement(kind, tensorType(op.getDest()).scalarType(), isSigned);
}

namespace {
/// How an update is sharded.
struct UpdateSplit {
  Sharding dest;    ///< of the destination
  Sharding space;   ///< of the iteration names
  AxisList partial; ///< axes of `space` along which results are combined
};
} // namespace

/// The iteration name that is the coordinate along `dim` of the destination; empty if there is
/// none.
static std::string ownerOf(UpdateOp op, const nd::Dim &dim) {
  auto at = op.getDestMap().lookup(dim.name)->asName();
  return at && op.getSpace().lookup(*at) == dim.size() ? *at : "";
}

/// A destination name has the axes of the iteration name that is its coordinate. Otherwise it keeps
/// its sharding: each device then runs all points and writes those within its block; others are out
/// of bounds. Points of other split names are combined over devices.
static UpdateSplit splitOf(MeshAttr mesh, UpdateOp op, const Sharding &wanted,
                           const Sharding &held) {
  UpdateSplit split;
  AxisList used;
  auto take = [&](Sharding &into, const std::string &name, ArrayRef<Axis> axes) {
    if (axes.empty() || overlap(mesh, used, axes))
      return false;
    llvm::append_range(used, axes);
    into[name] = AxisList(axes);
    return true;
  };
  nd::DimsAttr dims = tensorType(op.getDest()).getDims();
  for (const nd::Dim &dim : dims)
    if (std::string owner = ownerOf(op, dim); !owner.empty())
      if (ArrayRef<Axis> axes = axesOf(wanted, owner); take(split.dest, dim.name.str(), axes))
        split.space[owner] = AxisList(axes);
  for (const nd::Dim &dim : dims)
    if (!split.dest.contains(dim.name.getValue()))
      take(split.dest, dim.name.str(), axesOf(held, dim.name));
  if (op.getUnique() || !neutralOf(op))
    return split;
  for (const auto &[name, axes] : wanted)
    if (op.getSpace().contains(name) && !split.space.contains(name) &&
        take(split.space, name, axes))
      llvm::append_range(split.partial, axes);
  return split;
}

void Partitioner::update(UpdateOp op) {
  UpdateSplit split = splitOf(mesh, op, wantedFor(op), local(op.getDest()).sharding);
  LocalSpace space(mesh, {op.getSpace()}, split.space);
  LocalReads reads = readsOf(op, space);
  Value dest = moved(op.getDest(), split.dest, op.getLoc()).value;
  TypedAttr neutral = neutralOf(op);
  if (!split.partial.empty() && nd::splatOf(dest) != neutral) {
    // 0.0 would change a -0.0 of the destination.
    if (auto real = dyn_cast<FloatAttr>(neutral); real && real.getValue().isZero())
      neutral = FloatAttr::get(real.getType(), -0.0);
    dest = keepOnFirstPart(b, op.getLoc(), mesh, dest, split.partial, neutral);
  }
  for (unsigned i = 0; i < op.getReads().size(); ++i)
    reads.add(b, i, /*mayExclude=*/true);
  reads.exclude(b, op.getSpace());
  SmallVector<nest::MapEntry> entries;
  for (const nd::Dim &dim : tensorType(op.getDest()).getDims()) {
    Expr at = op.getDestMap().lookup(dim.name)->substitute(space.globals());
    if (ArrayRef<Axis> axes = axesOf(split.dest, dim.name); !axes.empty())
      at = at - blockOffset(mesh, axes, dim.size().getExpr());
    entries.emplace_back(b.getContext(), dim.name.getValue(), at.simplify(space.ranges()));
  }
  nest::NestBuilder nest(b, op.getLoc());
  reads.giveBody(nest);
  auto made = UpdateOp::create(
      b, op.getLoc(), dest.getType(), dest, nest.reads, space.local(op.getSpace()),
      nest::MapAttr::getSorted(b.getContext(), entries), b.getArrayAttr(nest.maps),
      b.getArrayAttr(nest.guards), op.getUnique(), ArrayAttr(), nest::ScheduleAttr(), ArrayAttr());
  cloneLocal(op.getBody(), made.getBody(), space);
  reads.addArguments(made.getBody(), op.getLoc());
  cloneLocal(op.getCombine(), made.getCombine(), space);
  inherit(made, op);
  Value result = made.getResult();
  if (!split.partial.empty())
    result = combineOver(op, result, split.partial, op.getCombine(), b.getArrayAttr({neutral}),
                         split.dest)[0];
  define(op.getResult(), result, split.dest);
}
