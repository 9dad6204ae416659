//===- Partition.cpp - the program of one device --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/Partition.h"

#include "dialects/nd/FunctionAttrs.h"
#include "dialects/nd/NdBuild.h"
#include "dialects/nest/NestGradient.h"
#include "lib/transforms/mesh/LocalReads.h"
#include "lib/transforms/mesh/PartialSums.h"
#include "lib/transforms/mesh/Pipeline.h"
#include "lib/transforms/mesh/Reshard.h"
#include "lib/transforms/mesh/Ring.h"

#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

using nd::tensorType;
using nest::ComputeOp;
using nest::UpdateOp;

static Sharding shardingOf(Operation *op) {
  return mesh::shardingOf(op->getAttr(shardingAttrName));
}
/// Without the names that have axes in common with `busy`.
static Sharding without(Sharding sharding, MeshAttr mesh, ArrayRef<Axis> busy) {
  std::erase_if(sharding, [&](const auto &entry) { return overlap(mesh, entry.second, busy); });
  return sharding;
}

DenseSet<Operation *> mesh::controlled(ModuleOp module) {
  DenseSet<Operation *> functions;
  module.walk([&](nest::ControlOp op) {
    for (auto name : op.getFunctions().getAsRange<FlatSymbolRefAttr>())
      functions.insert(module.lookupSymbol(name));
  });
  return functions;
}

bool mesh::isPartitioned(func::FuncOp function) {
  MeshAttr mesh = meshOf(function);
  llvm::StringSet<> symbols = nd::sizeSymbols(function);
  return mesh &&
         (function->hasAttr(roleAttrName) || llvm::any_of(mesh.getNames(), [&](StringAttr name) {
            return symbols.contains(axisSymbol(name));
          }));
}

/// Copies the attributes of a nest that passes and users gave it.
static void inherit(Operation *made, Operation *from) {
  for (NamedAttribute attribute : from->getDiscardableAttrs())
    if (attribute.getName() != shardingAttrName && attribute.getName() != carriedAttrName)
      made->setAttr(attribute.getName(), attribute.getValue());
}

namespace {
/// Builds the program of one device beside the whole one.
class Partitioner {
public:
  Partitioner(MeshAttr mesh, MLIRContext *context, double leastRing)
      : mesh(mesh), b(context), resharder(mesh, b), leastRing(leastRing) {}

  LogicalResult run(func::FuncOp function);

private:
  MeshAttr mesh;
  OpBuilder b;
  Resharder resharder;
  double leastRing; ///< bytes of an operand that goes around
  DenseMap<Value, LocalValue> locals;
  AxisList busy; ///< axes over which the steps of the recurrences around are split

  LogicalResult convert(Block &block);
  LogicalResult convert(Operation *op);
  LogicalResult compute(ComputeOp op);
  LogicalResult ring(ComputeOp op, const Ring &ring, const LocalSpace &space);
  ComputeOp turnOf(ComputeOp op, const Ring &ring, Value block, Value number);
  LogicalResult update(UpdateOp op);
  LogicalResult scan(nest::ScanOp op);
  LogicalResult sort(nest::SortOp op);
  LogicalResult constrain(ConstrainOp op);
  LogicalResult passOn(Operation *op);
  LogicalResult whole(Operation *op);

  Sharding wantedFor(Operation *op) { return without(shardingOf(op), mesh, busy); }
  const LocalValue &local(Value value) { return locals.find(value)->second; }
  LocalValue moved(Value value, const Sharding &to, Location loc) {
    return resharder.move(local(value), to, loc);
  }
  void define(Value result, Value value, const Sharding &sharding) {
    locals[result] = {value, tensorType(result), sharding};
  }
  LocalReads readsOf(nest::LoopNestInterface op, const LocalSpace &space) {
    return LocalReads(op, space, resharder, [&](Value value) { return local(value); });
  }
  LocalReads finishReads(ComputeOp op, const LocalSpace &space);
  SmallVector<Value> applyFinish(ComputeOp op, ArrayRef<Value> accumulators,
                                 const LocalSpace &space);
  SmallVector<Value> combineOver(Operation *op, ValueRange parts, ArrayRef<Axis> axes,
                                 Region &combine, ArrayAttr neutral, Sharding &sharding);
};
} // namespace

//===----------------------------------------------------------------------===//
// Nests
//===----------------------------------------------------------------------===//

static SmallVector<Type> typesOf(ArrayRef<Type> elements, nd::DimsAttr dims) {
  return llvm::map_to_vector(elements, [&](Type element) -> Type {
    return nd::NdTensorType::get(dims.getContext(), element, dims);
  });
}

/// The types in which a reduction adds.
static SmallVector<Type> accumulatorsOf(ComputeOp op) {
  return llvm::map_to_vector(op.getNeutral().getAsRange<TypedAttr>(),
                             [](TypedAttr neutral) { return neutral.getType(); });
}

/// Clones scalar code for the device's points.
static void cloneLocal(Region &from, Region &to, const LocalSpace &space) {
  IRMapping mapping;
  from.cloneInto(&to, mapping);
  space.localize(to);
}

/// The axes that split the names of a value where it is used, if that is one device's block.
static Sharding wantedBy(OpOperand &use) {
  Sharding wanted;
  nd::DimsAttr dims = tensorType(use.get()).getDims();
  Operation *op = use.getOwner();
  if (auto end = dyn_cast<func::ReturnOp>(op)) {
    auto stated = end->getParentOfType<func::FuncOp>().getResultAttrOfType<ShardingAttr>(
        use.getOperandNumber(), shardingAttrName);
    return shardingOf(stated);
  }
  auto nest = dyn_cast<nest::LoopNestInterface>(op);
  if (!nest || use.getOperandNumber() < nest.getFirstRead())
    return wanted;
  Sharding split = shardingOf(nest);
  auto map = cast<nest::MapAttr>(nest.getMapsAttr()[use.getOperandNumber() - nest.getFirstRead()]);
  for (const nd::Dim &dim : dims)
    if (auto at = map.lookup(dim.name)->asName(); at && split.contains(*at))
      for (nd::DimsAttr names : nest.getIterationNames())
        if (names.lookup(*at) == dim.size())
          wanted[dim.name.str()] = split[*at];
  return wanted;
}

/// The names by which a use of the results wants the axes of a sum to split them: those of the use that
/// wants the most axes. Each axis of the sum is used whole or not at all, but its parts may split
/// several names. To scatter and gather again moves the bytes of an all-reduce.
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
                     llvm::is_contained(axes, Axis{axis.name}); // a part of it
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

/// Combines accumulators over devices. Adds to `sharding` the names along which they are scattered.
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

LogicalResult Partitioner::compute(ComputeOp op) {
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
  Region body, combine, finish;
  cloneLocal(op.getBody(), body, space);
  reads.addArguments(body, op.getLoc());
  cloneLocal(op.getCombine(), combine, space);
  SmallVector<Type> elements;
  if (isSplit) {
    elements = accumulatorsOf(op);
  } else {
    finishReads(op, space).giveFinish(nest);
    cloneLocal(op.getFinish(), finish, space);
    elements = nest::elementTypesOf(op.getResults());
  }
  ComputeOp made =
      nest.create(typesOf(elements, nest.produced), body, combine, finish, op.getNeutral());
  inherit(made, op);
  if (space.isWhole()) {
    if (op.getLayouts())
      made.setLayoutsAttr(op.getLayoutsAttr());
    if (op.getSchedule())
      made.setScheduleAttr(op.getScheduleAttr());
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
  return success();
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
    nest.read(value, nest::MapAttr::identity(tensorType(value)));
  finishReads(op, space).giveBody(nest);
  Region body, combine, finish;
  if (op.getFinish().empty()) {
    OpBuilder::InsertionGuard restore(b);
    Block *block = b.createBlock(&body);
    SmallVector<Value> converted;
    for (auto [value, element] : llvm::zip_equal(accumulators, elements))
      converted.push_back(nd::convertFloat(
          b, loc, block->addArgument(tensorType(value).scalarType(), loc), nd::signless(element)));
    nest::YieldOp::create(b, loc, converted);
  } else {
    cloneLocal(op.getFinish(), body, space);
  }
  ComputeOp made =
      nest.create(typesOf(elements, nest.produced), body, combine, finish, b.getArrayAttr({}));
  inherit(made, op);
  made->removeAttr(nest::orderAttrName);
  return SmallVector<Value>(made->getResults());
}

//===----------------------------------------------------------------------===//
// Rings
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
  for (auto [i, map] : llvm::enumerate(op.getMapsAttr().getAsRange<nest::MapAttr>()))
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
        cut.read(number, nest::MapAttr::identity(tensorType(number)));
        Expr at = Expr::name(nest::readName(0)) * size + Expr::name(name);
        auto identity = nest::MapAttr::identity(tensorType(value.value));
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
LogicalResult Partitioner::ring(ComputeOp op, const Ring &ring, const LocalSpace &space) {
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
    (void)compute(part);
    nest::NestBuilder sum(b, loc);
    for (Value value : before)
      sum.read(value, nest::MapAttr::identity(tensorType(value)));
    for (auto [whole, result] : llvm::zip_equal(before, part.getResults())) {
      Value value = local(result).value;
      nest::NestBuilder write(b, loc);
      sum.produced = write.produced = tensorType(value).getDims();
      write.read(number, nest::MapAttr::identity(tensorType(number)));
      for (nest::NestBuilder *nest : {&sum, &write})
        nest->read(value, nest::MapAttr::identity(tensorType(value)));
      Expr size = tensorType(block).size(ring.name).getExpr();
      Expr at = Expr::name(nest::readName(0)) * size + Expr::name(ring.at);
      if (!isReduced)
        after.push_back(write.createWrite(
            whole, nest::MapAttr::identity(tensorType(whole)).substitute({{ring.at, at}})));
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
  return success();
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

/// The neutral element of the update's combiner; null if it has no name.
static TypedAttr neutralOf(UpdateOp op) {
  bool isSigned = true;
  nd::CombinerKind kind = nd::combinerKind(op.getCombine(), &isSigned);
  if (kind == nd::CombinerKind::General)
    return {};
  return nd::neutralElement(kind, tensorType(op.getDest()).scalarType(), isSigned);
}

namespace {
/// The axes by which an update is split.
struct UpdateSplit {
  Sharding dest;  ///< by a name of the space that is its coordinate, or by that coordinate's value
  Sharding space; ///< names whose points the devices share
  AxisList partial; ///< of these, the axes of names whose points meet in one element
};
} // namespace

/// The name of the space that is the coordinate along `dim` of the destination; empty if none is.
static std::string ownerOf(UpdateOp op, const nd::Dim &dim) {
  auto at = op.getDestMap().lookup(dim.name)->asName();
  return at && op.getSpace().lookup(*at) == dim.size() ? *at : "";
}

/// A name of the destination follows the name of the space that is its coordinate. Otherwise it stays
/// split as it is held: a device then runs all points and writes those that meet its block, since
/// others are out of bounds. Points of other split names are combined over devices.
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

LogicalResult Partitioner::update(UpdateOp op) {
  UpdateSplit split = splitOf(mesh, op, wantedFor(op), local(op.getDest()).sharding);
  LocalSpace space(mesh, {op.getSpace()}, split.space);
  LocalReads reads = readsOf(op, space);
  Value dest = moved(op.getDest(), split.dest, op.getLoc()).value;
  if (!split.partial.empty() && nd::splatOf(dest) != neutralOf(op))
    dest = onFirst(b, op.getLoc(), mesh, dest, split.partial, neutralOf(op));
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
  auto made = UpdateOp::create(
      b, op.getLoc(), dest.getType(), dest, reads.values(), space.local(op.getSpace()),
      nest::MapAttr::getSorted(b.getContext(), entries), reads.maps(b), reads.guards(b),
      op.getUnique(), ArrayAttr(), nest::ScheduleAttr(), ArrayAttr());
  cloneLocal(op.getBody(), made.getBody(), space);
  reads.addArguments(made.getBody(), op.getLoc());
  cloneLocal(op.getCombine(), made.getCombine(), space);
  inherit(made, op);
  Value result = made.getResult();
  if (!split.partial.empty())
    result = combineOver(op, result, split.partial, op.getCombine(),
                         b.getArrayAttr({neutralOf(op)}), split.dest)[0];
  define(op.getResult(), result, split.dest);
  return success();
}

//===----------------------------------------------------------------------===//
// Other ops
//===----------------------------------------------------------------------===//

/// If axes split the name that it runs along, each device has a block of the steps (Pipeline.h). The
/// devices are at different steps then: no collective inside of it is over these axes.
LogicalResult Partitioner::scan(nest::ScanOp op) {
  std::string along = op.getAlong().begin()->name.str();
  auto carried = op->getAttrOfType<ArrayAttr>(carriedAttrName);
  Location loc = op.getLoc();
  LocalSpace space(mesh, {op.getAlong()}, wantedFor(op));
  Sharding steps = space.sharding(op.getAlong());
  size_t outer = busy.size();
  llvm::append_range(busy, space.axes(along));
  SmallVector<std::pair<Value, LocalValue>> captured;
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(op.getBody(), used);
  for (Value value : used) {
    captured.emplace_back(value, local(value));
    locals[value] = moved(value, without(local(value).sharding, mesh, busy), loc);
  }
  SmallVector<Value> inits, reads;
  Region body;
  Block &from = op.getBody().front();
  auto *block = new Block();
  body.push_back(block);
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    bool isRead = i >= op.getInits().size();
    BlockArgument argument = from.getArgument(unsigned(i));
    Sharding to = without(carried ? shardingOf(carried[i]) : Sharding(), mesh, busy), held = to;
    if (isRead)
      held.insert(steps.begin(), steps.end());
    (isRead ? reads : inits).push_back(moved(operand, held, loc).value);
    define(argument, block->addArgument(blockType(mesh, tensorType(argument), to), loc), to);
  }
  SmallVector<Sharding> ends;
  SmallVector<Type> types;
  {
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToEnd(block);
    if (failed(convert(from)))
      return failure();
    SmallVector<Value> yields;
    for (auto [i, value] : llvm::enumerate(from.getTerminator()->getOperands())) {
      LocalValue end =
          i < inits.size() ? moved(value, local(from.getArgument(i)).sharding, loc) : local(value);
      if (i >= inits.size())
        end.sharding.insert(steps.begin(), steps.end());
      ends.push_back(end.sharding);
      yields.push_back(end.value);
      types.push_back(blockType(mesh, tensorType(op.getResult(i)), end.sharding));
    }
    nest::YieldOp::create(b, from.getTerminator()->getLoc(), yields);
  }
  auto made = nest::ScanOp::create(b, loc, types, inits, reads, space.local(op.getAlong()),
                                   op.getReverse());
  made.getBody().takeBody(body);
  inherit(made, op);
  SmallVector<Value> results(made.getResults());
  reduceAfterSums(made.getBody().front());
  reduceOnce(made, mesh, results);
  if (partsOf(mesh, space.axes(along)) > 1)
    pipeline(made, space, results);
  busy.resize(outer);
  for (auto &[value, before] : captured)
    locals[value] = before;
  for (auto [result, value, sharding] : llvm::zip_equal(op.getResults(), results, ends))
    define(result, value, sharding);
  return success();
}

LogicalResult Partitioner::sort(nest::SortOp op) {
  Sharding lines = wantedFor(op);
  lines.erase(op.getAlong().begin()->name.str());
  SmallVector<Value> inputs;
  SmallVector<Type> types;
  for (Value input : op.getInputs())
    inputs.push_back(moved(input, lines, op.getLoc()).value);
  for (Value result : op.getResults())
    types.push_back(blockType(mesh, tensorType(result), lines));
  auto made = nest::SortOp::create(b, op.getLoc(), types, inputs, op.getAlong(), op.getDescending(),
                                   ArrayAttr(), nest::ScheduleAttr());
  inherit(made, op);
  for (auto [result, value] : llvm::zip_equal(op.getResults(), made.getResults()))
    define(result, value, lines);
  return success();
}

LogicalResult Partitioner::constrain(ConstrainOp op) {
  locals[op.getResult()] =
      moved(op.getInput(), without(op.getSharding().getSharding(), mesh, busy), op.getLoc());
  return success();
}

LogicalResult Partitioner::passOn(Operation *op) {
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, local(operand).value);
  LocalValue value = local(op->getOperand(0));
  Value made = b.clone(*op, mapping)->getResult(0);
  made.setType(value.value.getType());
  define(op->getResult(0), made, value.sharding);
  return success();
}

/// Any other op runs on every device, on whole tensors.
LogicalResult Partitioner::whole(Operation *op) {
  IRMapping mapping;
  for (Value used : usesOf(op)) {
    if (!isa<nd::NdTensorType>(used.getType()))
      return op->emitOpError() << "can't be split over a mesh: expected tensors, got "
                               << used.getType();
    mapping.map(used, moved(used, {}, op->getLoc()).value);
  }
  Operation *made = b.clone(*op, mapping);
  made->removeAttr(shardingAttrName);
  for (auto [result, value] : llvm::zip_equal(op->getResults(), made->getResults())) {
    if (!isa<nd::NdTensorType>(result.getType()))
      return op->emitOpError() << "can't be split over a mesh: expected tensors, got "
                               << result.getType();
    define(result, value, {});
  }
  return success();
}

LogicalResult Partitioner::convert(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](ComputeOp each) { return compute(each); })
      .Case([&](UpdateOp each) { return update(each); })
      .Case([&](nest::ScanOp each) { return scan(each); })
      .Case([&](nest::SortOp each) { return sort(each); })
      .Case([&](ConstrainOp each) { return constrain(each); })
      .Default([&](Operation *other) -> LogicalResult {
        if (passesOn(other))
          return passOn(other);
        if (isa<CollectiveInterface>(other))
          return other->emitOpError()
                 << "is a collective in a program that is not split yet; that of one device states "
                    "its coordinates, mesh.AXIS, in heddle.symbols";
        return whole(other);
      });
}

LogicalResult Partitioner::convert(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(convert(&op)))
      return failure();
  return success();
}

LogicalResult Partitioner::run(func::FuncOp function) {
  Block &from = function.front();
  auto *block = new Block();
  function.getBody().push_back(block);
  SmallVector<Type> arguments, results;
  SmallVector<Attribute> wholeArguments, wholeResults, shardings;
  for (auto [i, argument] : llvm::enumerate(from.getArguments())) {
    Sharding sharding =
        shardingOf(function.getArgAttrOfType<ShardingAttr>(unsigned(i), shardingAttrName));
    Type type = blockType(mesh, tensorType(argument), sharding);
    arguments.push_back(type);
    wholeArguments.push_back(TypeAttr::get(argument.getType()));
    define(argument, block->addArgument(type, argument.getLoc()), sharding);
  }
  b.setInsertionPointToEnd(block);
  if (failed(convert(from)))
    return failure();
  SmallVector<Value> returned;
  for (auto [i, value] : llvm::enumerate(from.getTerminator()->getOperands())) {
    auto stated = function.getResultAttrOfType<ShardingAttr>(unsigned(i), shardingAttrName);
    LocalValue result = stated ? moved(value, stated.getSharding(), value.getLoc()) : local(value);
    returned.push_back(result.value);
    results.push_back(result.value.getType());
    wholeResults.push_back(TypeAttr::get(value.getType()));
    shardings.push_back(ShardingAttr::get(b.getContext(), result.sharding));
  }
  func::ReturnOp::create(b, from.getTerminator()->getLoc(), returned);
  reduceAfterSums(*block);
  from.dropAllReferences();
  from.erase();
  function.setFunctionType(b.getFunctionType(arguments, results));
  nd::setArgAttrs(function, globalAttrName, [&](unsigned i) { return wholeArguments[i]; });
  nd::setResultAttrs(function, globalAttrName, [&](unsigned i) { return wholeResults[i]; });
  nd::setResultAttrs(function, shardingAttrName, [&](unsigned i) { return shardings[i]; });
  return success();
}

/// States the coordinates of devices as symbols of the function, with their ranges.
static void addSymbols(func::FuncOp function, MeshAttr mesh) {
  Builder b(function.getContext());
  SmallVector<Attribute> symbols;
  if (auto known = function->getAttrOfType<ArrayAttr>(nd::symbolsAttrName))
    llvm::append_range(symbols, known);
  NamedAttrList ranges(function->getAttrOfType<DictionaryAttr>(nd::rangesAttrName));
  for (auto [name, size] : llvm::zip_equal(mesh.getNames(), mesh.getSizes())) {
    std::string symbol = axisSymbol(name);
    symbols.push_back(b.getStringAttr(symbol));
    ranges.set(symbol, b.getI64ArrayAttr({0, size - 1}));
  }
  function->setAttr(nd::symbolsAttrName, b.getArrayAttr(symbols));
  function->setAttr(nd::rangesAttrName, ranges.getDictionary(b.getContext()));
  function->setAttr(meshAttrName, mesh);
}

LogicalResult mesh::partition(func::FuncOp function, MeshAttr mesh, double leastRing) {
  if (failed(Partitioner(mesh, function.getContext(), leastRing).run(function)))
    return failure();
  addSymbols(function, mesh);
  return success();
}
