//===- FuseEpilogues.cpp - fuses pointwise readers into nests -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/fuse/FuseEpilogues.h"

#include "dialects/nd/NdBuild.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/transforms/nest/Rewrite.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// Returns the consumer's names for the producer's names, if it reads every result of the producer
/// pointwise.
static std::optional<Renaming> pointwiseNames(ComputeOp producer, ComputeOp consumer) {
  if (producer.getProduced().size() != consumer.getProduced().size())
    return std::nullopt;
  std::optional<Renaming> names;
  for (auto [i, read] : llvm::enumerate(consumer.getReads())) {
    if (isGathered(consumer.readMap(i)))
      return std::nullopt;
    if (read.getDefiningOp() != producer)
      continue;
    if (!consumer.readGuard(i).isTrivial())
      return std::nullopt;
    Renaming own;
    std::set<std::string> used;
    SmallVector<std::string> ones; // names of size 1, which are read at 0
    for (const MapEntry &entry : consumer.readMap(i).getEntries()) {
      std::string name = entry.name.str();
      nd::SizeAttr size = tensorType(read).size(name);
      auto at = entry.expr().asName();
      if (!at && size.constant() == 1 && entry.expr().constant() == 0) {
        ones.push_back(name);
      } else if (!at || readIndex(*at) || !used.insert(*at).second ||
                 !consumer.getProduced().contains(*at) ||
                 tensorType(consumer.getResult(0)).size(*at) != size) {
        return std::nullopt;
      } else {
        own[name] = *at;
      }
    }
    for (const std::string &name : ones) {
      std::string found;
      for (const nd::Dim &dim : consumer.getProduced())
        if (dim.size().constant() == 1 && !used.count(dim.name.str()) &&
            (found.empty() || dim.name == name))
          found = dim.name.str();
      if (found.empty())
        return std::nullopt;
      used.insert(found);
      own[name] = found;
    }
    if (names && *names != own)
      return std::nullopt;
    names = own;
  }
  return names;
}

static bool allReadersAreNests(Value value, Operation *except) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    return user == except ||
           (isa<LoopNestInterface>(user) && user->getBlock() == except->getBlock());
  });
}

namespace {
/// Fuses the two nests under common names.
class Fusion {
public:
  Fusion(ComputeOp producer, ComputeOp consumer, ArrayRef<unsigned> kept)
      : producer(producer), consumer(consumer), kept(kept), b(consumer), loc(consumer.getLoc()) {}

  /// `producerResults`: the values by which the consumer refers to the producer's results.
  ComputeOp build(ResultRange producerResults, Operation *insertBefore) {
    NestBuilder nest(b, producer);
    nest.loc = loc;
    Region body, combine, finish;
    IRMapping ofCombine;
    producer.getCombine().cloneInto(&combine, ofCombine);
    bool reduces = producer.isReduction();
    Block *block = b.createBlock(reduces ? &finish : &body);
    IRMapping mapping;
    SmallVector<Value> values; // the producer's results as scalars
    if (reduces) {
      IRMapping ofBody;
      producer.getBody().cloneInto(&body, ofBody);
      b.setInsertionPointToEnd(block);
      for (Attribute neutral : producer.getNeutral())
        values.push_back(block->addArgument(cast<TypedAttr>(neutral).getType(), loc));
    }
    Region &last = reduces ? producer.getFinish() : producer.getBody();
    if (!last.empty()) {
      for (BlockArgument argument : last.getArguments())
        mapping.map(argument, argument.getArgNumber() < values.size()
                                  ? values[argument.getArgNumber()]
                                  : Value(block->addArgument(argument.getType(), loc)));
      values = nd::inlineBlock(b, last.front(), mapping);
    }
    for (auto [value, result] : llvm::zip_equal(values, producer.getResults()))
      value = nd::convertFloat(b, loc, value, tensorType(result).scalarType());
    for (auto [i, read] : llvm::enumerate(consumer.getReads())) {
      BlockArgument argument = consumer.getBody().getArgument(unsigned(i));
      if (auto result = dyn_cast<OpResult>(read);
          result && llvm::is_contained(producerResults, result)) {
        mapping.map(argument, values[result.getResultNumber()]);
        continue;
      }
      if (reduces)
        nest.finishRead(read, consumer.readMap(i), consumer.readGuard(i));
      else
        nest.read(read, consumer.readMap(i), consumer.readGuard(i));
      mapping.map(argument, block->addArgument(argument.getType(), loc));
    }
    SmallVector<Value> made = nd::inlineBlock(b, consumer.getBody().front(), mapping), yields;
    SmallVector<Type> types;
    for (unsigned i : kept) {
      yields.push_back(values[i]);
      types.push_back(producer.getResult(i).getType());
    }
    for (auto [value, result] : llvm::zip_equal(made, consumer.getResults())) {
      yields.push_back(nd::convertFloat(b, loc, value, tensorType(result).scalarType()));
      types.push_back(result.getType());
    }
    YieldOp::create(b, loc, yields);
    b.setInsertionPoint(insertBefore);
    ComputeOp fused = nest.create(types, body, combine, finish, producer.getNeutral());
    inheritAttributes(fused, {consumer, producer});
    setLayouts(fused);
    return fused;
  }

private:
  ComputeOp producer, consumer;
  ArrayRef<unsigned> kept;
  OpBuilder b;
  Location loc;

  void setLayouts(ComputeOp fused) {
    if (!producer.getLayouts() && !consumer.getLayouts())
      return;
    SmallVector<Attribute> layouts;
    for (unsigned i : kept)
      layouts.push_back(producer.getLayouts() ? (*producer.getLayouts())[i] : b.getUnitAttr());
    for (unsigned i = 0; i < consumer.getNumResults(); ++i)
      layouts.push_back(consumer.getLayouts() ? (*consumer.getLayouts())[i] : b.getUnitAttr());
    fused.setLayoutsAttr(b.getArrayAttr(layouts));
  }
};
} // namespace

/// Fuses `consumer` into `producer` and returns the fused nest. Returns null and changes nothing if
/// that is not legal.
static ComputeOp fuseEpilogue(ComputeOp producer, ComputeOp consumer) {
  if (consumer.isReduction() || !consumer.getFinish().empty() || isFixed(producer) ||
      isFixed(consumer) || consumer->hasAttr(recomputeAttr) || producer->hasAttr(recomputeAttr))
    return {};
  if (!producer.isReduction() && !producer.getFinish().empty())
    return {};
  auto names = pointwiseNames(producer, consumer);
  if (!names || areTooLargeTogether(producer, consumer))
    return {};
  Operation *insertBefore = insertionPoint(producer, consumer);
  if (!insertBefore)
    return {};
  SmallVector<unsigned> kept;
  bool othersAreNests = true;
  for (OpResult result : producer->getResults()) {
    if (llvm::any_of(result.getUsers(), [&](Operation *user) { return user != consumer; }) ||
        producer->hasAttr(materializeAttr))
      kept.push_back(result.getResultNumber());
    othersAreNests &= allReadersAreNests(result, consumer);
  }
  // Computing the same elements twice is not profitable.
  if ((onlyMoves(consumer) || isRenaming(producer)) && !kept.empty())
    return {};
  // Decides whose names change: a result with users other than nests keeps its names.
  bool renamesConsumer = false;
  if (!isIdentity(*names) && !kept.empty()) {
    bool consumersReadersAreNests = llvm::all_of(
        consumer.getResults(), [&](Value result) { return allReadersAreNests(result, consumer); });
    if (!othersAreNests && !consumersReadersAreNests)
      return {};
    renamesConsumer = !othersAreNests;
  }
  moveDependentsAfter(producer, consumer, insertBefore);
  ComputeOp first = producer, second = consumer;
  if (renamesConsumer) {
    second = withNames(consumer, inverse(*names));
  } else {
    std::set<std::string> taken;
    for (const nd::Dim &dim : consumer.getProduced())
      taken.insert(dim.name.str());
    bool meets = llvm::any_of(producer.getReduced(),
                              [&](const nd::Dim &dim) { return taken.count(dim.name.str()); });
    if (meets || !isIdentity(*names)) {
      ComputeOp apart = withFreshReducedNames(producer, taken);
      first = withNames(apart, *names);
      apart->erase();
    }
  }
  ComputeOp fused = Fusion(first, second, kept).build(producer->getResults(), insertBefore);
  OpBuilder b(fused->getContext());
  b.setInsertionPointAfter(fused);
  bool renames = !isIdentity(*names);
  for (auto [i, result] : llvm::enumerate(kept)) {
    Value value = fused.getResult(unsigned(i));
    if (renames && !renamesConsumer && !producer.getResult(result).use_empty())
      value = renameDims(b, value.getLoc(), value, inverse(*names));
    producer.getResult(result).replaceAllUsesWith(value);
  }
  for (auto [i, result] : llvm::enumerate(consumer.getResults())) {
    Value value = fused.getResult(unsigned(kept.size() + i));
    if (renames && renamesConsumer)
      value = renameDims(b, value.getLoc(), value, *names);
    result.replaceAllUsesWith(value);
  }
  if (second != consumer)
    second->erase();
  consumer->erase();
  if (first != producer)
    first->erase();
  producer->erase();
  assignBlockOrder(fused);
  return fused;
}

/// Returns true if the nest reads two reductions that may be fused with each other.
static bool readsSiblings(ComputeOp consumer) {
  SmallVector<ComputeOp> reductions;
  for (Value read : consumer.getReads())
    if (auto op = read.getDefiningOp<ComputeOp>();
        op && op.isReduction() && !contractionOf(op) && !llvm::is_contained(reductions, op))
      reductions.push_back(op);
  for (size_t j = 1; j < reductions.size(); ++j)
    for (size_t i = 0; i < j; ++i)
      if (reductions[i].getProduced() == reductions[j].getProduced() &&
          reductions[i].getReduced() == reductions[j].getReduced())
        return true;
  return false;
}

bool nest::fuseEpilogues(Block &block, Epilogues which) {
  bool any = false;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto consumer : llvm::make_early_inc_range(block.getOps<ComputeOp>())) {
      SetVector<Operation *> producers;
      for (Value read : consumer.getReads())
        if (read.getDefiningOp<ComputeOp>())
          producers.insert(read.getDefiningOp());
      if (which == Epilogues::OfOneReader && readsSiblings(consumer))
        continue;
      for (Operation *producer : producers) {
        if (which == Epilogues::OfOneReader &&
            llvm::any_of(producer->getUsers(), [&](Operation *user) { return user != consumer; }))
          continue;
        if (!fuseEpilogue(cast<ComputeOp>(producer), consumer))
          continue;
        any = changed = true;
        break;
      }
    }
  }
  return any;
}
