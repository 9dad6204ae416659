//===- InlineProducer.cpp - inlines a producer into its reader ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/Combiner.h"
#include "dialects/nd/NdBuild.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/transforms/nest/Rewrite.h"
#include "lib/transforms/nest/fuse/FuseProducers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

namespace {
/// The reads of a region that is being built.
struct Reads {
  SmallVector<Value> values;
  SmallVector<Attribute> maps, guards;
};

/// Rebuilds regions of a consumer with the producer's body in place of reads of it.
class Inliner {
public:
  Inliner(OpBuilder &builder, ComputeOp producer, Operation *consumer, bool mayGather)
      : b(builder), loc(consumer->getLoc()), producer(producer), consumer(consumer),
        ranges(iterationRanges(consumer)), space(spaceOf(consumer)), mayGather(mayGather) {}

  /// Rebuilds `from` as `to`. The arguments of `from` are `kept` arguments that stay and one per
  /// read of `old`; `to` reads `made`.
  bool rebuild(Region &from, const Reads &old, unsigned kept, Region &to) {
    block = b.createBlock(&to);
    this->kept = kept;
    made = {};
    IRMapping mapping;
    for (unsigned i = 0; i < kept; ++i)
      mapping.map(from.getArgument(i), block->addArgument(from.getArgument(i).getType(), loc));
    positions.clear();
    for (size_t i = 0; i < old.values.size(); ++i) {
      auto map = cast<MapAttr>(old.maps[i]);
      auto guard = cast<GuardAttr>(old.guards[i]);
      for (const std::string &name : namesOf(map, guard))
        if (readIndex(name) && !positions.count(name))
          return false; // its coordinates depend on the read that is replaced
      map = map.substitute(positions);
      guard = guard.substitute(positions);
      BlockArgument argument = from.getArgument(kept + unsigned(i));
      if (old.values[i].getDefiningOp() != producer) {
        unsigned position = addRead(old.values[i], map, guard);
        positions[readName(unsigned(i))] = Expr::name(readName(position));
        mapping.map(argument, valueOf(position));
        continue;
      }
      Value value = takeIn(cast<OpResult>(old.values[i]).getResultNumber(), map, guard);
      if (!value)
        return false;
      mapping.map(argument, value);
    }
    YieldOp::create(b, loc, nd::inlineBlock(b, from.front(), mapping));
    return true;
  }

  Reads made;
  ExprMap positions; ///< new positions of the reads of `old` that stay

private:
  OpBuilder &b;
  Location loc;
  ComputeOp producer;
  Operation *consumer;
  Ranges ranges;
  ExprMap space;
  bool mayGather;
  Block *block = nullptr;
  unsigned kept = 0;

  static std::set<std::string> namesOf(MapAttr map, GuardAttr guard) {
    std::set<std::string> names;
    for (const MapEntry &entry : map.getEntries())
      for (const std::string &name : entry.expr().names())
        names.insert(name);
    for (const Condition &condition : guard.getConditions())
      for (const std::string &name : condition.expr().names())
        names.insert(name);
    return names;
  }

  Value valueOf(unsigned position) { return block->getArgument(kept + position); }

  unsigned addRead(Value value, MapAttr map, GuardAttr guard) {
    map = simplifyMap(map, ranges);
    guard = simplifyGuard(guard, ranges);
    for (unsigned k = 0; k < made.values.size(); ++k)
      if (made.values[k] == value && made.maps[k] == map && made.guards[k] == guard)
        return k;
    made.values.push_back(value);
    made.maps.push_back(map);
    made.guards.push_back(guard);
    block->addArgument(tensorType(value).scalarType(), loc);
    return made.values.size() - 1;
  }

  /// Returns the producer's value at the coordinates `map`; null if it can't be computed there.
  Value takeIn(unsigned result, MapAttr map, GuardAttr outer) {
    ExprMap at; // the producer's names, as coordinates of the consumer
    for (const MapEntry &entry : map.getEntries())
      at[entry.name.str()] = entry.expr();
    Block &body = producer.getBody().front();
    // A gathered coordinate is clamped to the size of the tensor that is read, so only a tensor
    // with the same sizes, or a scalar, can replace it.
    bool isOneNumber = producer.getReads().empty() && body.getOps<IndexOp>().empty();
    if (isGathered(map) && !isOneNumber && !isRenaming(producer))
      return {};
    std::optional<Attribute> outside = outer.getOtherwise();
    if (outer.isTrivial() || outer.excludes())
      outside.reset();
    // If a guard excludes the point, one read gets the guard; others get it only if they would be
    // out of bounds.
    SmallVector<bool> needs(producer.getReads().size(), true);
    if (!outer.isTrivial() && outer.excludes()) {
      bool carried = false;
      for (auto [k, read] : llvm::enumerate(producer.getReads())) {
        MapAttr where = producer.readMap(k).substitute(at);
        bool isTrivial = producer.readGuard(k).isTrivial();
        needs[k] = !isTrivial || !staysInside(where, tensorType(read), ranges, space);
        carried |= needs[k] && isTrivial;
      }
      for (unsigned k = 0; k < needs.size() && !carried; ++k)
        if (producer.readGuard(k).isTrivial())
          needs[k] = carried = true;
      if (!carried && !needs.empty())
        return {};
      if (!carried)
        addRead(nothing(), MapAttr::getSorted(b.getContext(), {}), outer);
    }
    IRMapping mapping;
    DenseMap<Value, Attribute> constants; // values of the producer's reads where `outer` fails
    for (auto [k, read] : llvm::enumerate(producer.getReads())) {
      MapAttr where = producer.readMap(k).substitute(at);
      if (isGathered(where) && !mayGather)
        return {};
      GuardAttr inner = producer.readGuard(k).substitute(at);
      Type scalar = tensorType(read).scalarType();
      GuardAttr both = inner;
      if (!outer.isTrivial() && needs[k]) {
        TypedAttr otherwise = inner.getOtherwise();
        if (inner.isTrivial() && outside)
          otherwise = onlyMoves(producer) ? cast<TypedAttr>(*outside)
                                          : cast<TypedAttr>(b.getZeroAttr(scalar));
        SmallVector<Condition> conditions(outer.getConditions());
        llvm::append_range(conditions, inner.getConditions());
        both = GuardAttr::get(b.getContext(), conditions, otherwise);
        constants[body.getArgument(unsigned(k))] = otherwise;
      }
      unsigned position = addRead(read, where, both);
      at[readName(unsigned(k))] = Expr::name(readName(position));
      mapping.map(body.getArgument(unsigned(k)), valueOf(position));
    }
    for (Operation &op : body.without_terminator()) {
      if (auto index = dyn_cast<IndexOp>(op)) {
        auto found = at.find(index.getName().str());
        Expr coordinate = found == at.end() ? Expr::name(index.getName().str())
                                            : found->second; // otherwise of a group
        mapping.map(index.getResult(), index_(coordinate));
      } else {
        b.clone(op, mapping);
      }
    }
    Value yielded = body.getTerminator()->getOperand(result);
    Value value = mapping.lookupOrDefault(yielded);
    value = nd::convertFloat(b, loc, value, tensorType(producer.getResult(result)).scalarType());
    if (outside && fold(body, yielded, constants) != *outside) {
      Value otherwise = arith::ConstantOp::create(b, loc, cast<TypedAttr>(*outside));
      value = arith::SelectOp::create(b, loc, holds(outer), value, otherwise);
    }
    return value;
  }

  /// A scalar constant whose read carries a guard that excludes a point where no tensor is read.
  Value nothing() {
    Operation *before = consumer;
    while (!isa<func::FuncOp>(before->getParentOp()))
      before = before->getParentOp();
    OpBuilder outside(before);
    auto type = nd::NdTensorType::get(b.getI32Type(), ArrayRef<nd::Dim>());
    return nd::buildConstant(outside, loc, type, 0.0);
  }

  Value index_(const Expr &coordinate) {
    return emitIndex(b, loc, coordinate.simplify(ranges), block->getArguments().drop_front(kept));
  }

  Value holds(GuardAttr guard) {
    Value all;
    for (const Condition &condition : simplifyGuard(guard, ranges).getConditions()) {
      auto predicate = condition.equality ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sge;
      Value one = arith::CmpIOp::create(b, loc, predicate, index_(condition.expr()),
                                        arith::ConstantIndexOp::create(b, loc, 0));
      all = all ? Value(arith::AndIOp::create(b, loc, all, one)) : one;
    }
    return all ? all : Value(arith::ConstantIntOp::create(b, loc, 1, 1));
  }

  /// Folds the body with the constants of its reads. Returns the yielded constant, or null.
  static Attribute fold(Block &body, Value yielded, DenseMap<Value, Attribute> constants) {
    nd::foldScalars(body, constants);
    return constants.lookup(yielded);
  }
};

Reads readsOfRegion(Operation *op, ValueRange values, ArrayAttr maps, ArrayAttr guards,
                    size_t first) {
  Reads reads{SmallVector<Value>(values), {}, {}};
  for (size_t i = 0; i < values.size(); ++i) {
    reads.maps.push_back(maps[first + i]);
    reads.guards.push_back(guards[first + i]);
  }
  return reads;
}
} // namespace

static Operation *inlineIntoCompute(ComputeOp producer, ComputeOp consumer) {
  OpBuilder b(consumer);
  NestBuilder nest(b, consumer.getLoc());
  nest.produced = consumer.getProduced();
  nest.reduced = consumer.getReduced();
  size_t count = consumer.getReads().size();
  Region body, combine, finish;
  Inliner inBody(b, producer, consumer, /*mayGather=*/true), inFinish(b, producer, consumer, false);
  if (!inBody.rebuild(
          consumer.getBody(),
          readsOfRegion(consumer, consumer.getReads(), consumer.getMaps(), consumer.getGuards(), 0),
          0, body))
    return nullptr;
  nest.reads = inBody.made.values, nest.maps = inBody.made.maps, nest.guards = inBody.made.guards;
  if (!consumer.getFinish().empty()) {
    unsigned kept =
        consumer.getFinish().getNumArguments() - unsigned(consumer.getFinishReads().size());
    if (!inFinish.rebuild(consumer.getFinish(),
                          readsOfRegion(consumer, consumer.getFinishReads(), consumer.getMaps(),
                                        consumer.getGuards(), count),
                          kept, finish))
      return nullptr;
    nest.finishReads = inFinish.made.values, nest.finishMaps = inFinish.made.maps,
    nest.finishGuards = inFinish.made.guards;
  }
  IRMapping mapping;
  consumer.getCombine().cloneInto(&combine, mapping);
  b.setInsertionPoint(consumer);
  ComputeOp made = nest.create(llvm::to_vector(consumer->getResultTypes()), body, combine, finish,
                               consumer.getNeutral());
  if (consumer.getLayouts())
    made.setLayoutsAttr(consumer.getLayoutsAttr());
  inheritAttributes(made, {consumer});
  return made;
}

static Operation *inlineIntoUpdate(ComputeOp producer, UpdateOp consumer) {
  if (consumer.getDest().getDefiningOp() == producer)
    return nullptr;
  for (const MapEntry &entry : consumer.getDestMap().getEntries())
    for (const std::string &name : entry.expr().names())
      if (auto read = readIndex(name);
          read && consumer.getReads()[*read].getDefiningOp() == producer)
        return nullptr; // the coordinate of the write depends on it
  OpBuilder b(consumer);
  Region body;
  Inliner inliner(b, producer, consumer, /*mayGather=*/true);
  Reads old =
      readsOfRegion(consumer, consumer.getReads(), consumer.getMaps(), consumer.getGuards(), 0);
  if (!inliner.rebuild(consumer.getBody(), old, 0, body))
    return nullptr;
  b.setInsertionPoint(consumer);
  auto made = cast<UpdateOp>(b.cloneWithoutRegions(*consumer.getOperation()));
  made.getReadsMutable().assign(inliner.made.values);
  made.setMapsAttr(b.getArrayAttr(inliner.made.maps));
  made.setGuardsAttr(b.getArrayAttr(inliner.made.guards));
  made.setDestMapAttr(consumer.getDestMap().substitute(inliner.positions));
  made.getBody().takeBody(body);
  IRMapping mapping;
  consumer.getCombine().cloneInto(&made.getCombine(), mapping);
  return made;
}

bool nest::canBeInlined(ComputeOp producer) {
  return !producer.isReduction() && producer.getFinish().empty();
}

Operation *nest::inlineProducer(ComputeOp producer, Operation *consumer) {
  if (!canBeInlined(producer) || isFixed(consumer))
    return nullptr;
  if (auto compute = dyn_cast<ComputeOp>(consumer))
    return inlineIntoCompute(producer, compute);
  if (auto update = dyn_cast<UpdateOp>(consumer))
    return inlineIntoUpdate(producer, update);
  return nullptr;
}
