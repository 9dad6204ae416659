//===- Fuse.cpp - which nests run as one ----------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/Fuse.h"
#include "dialects/nest/NestBuild.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

using Replacement = std::map<std::string, Expr, std::less<>>;

namespace {

double points(nd::DimsAttr dims) {
  double count = 1;
  for (const nd::Dim &dim : dims)
    count *= double(*dim.size().constant());
  return count;
}

/// The body only hands on its one read.
bool onlyMoves(ComputeOp op) {
  Block &body = op.getBody().front();
  return !op.isReduction() && op.getFinish().empty() && op.getReads().size() == 1 &&
         body.getTerminator()->getOperand(0) == body.getArgument(0);
}

/// What one evaluation of the body costs, in simple operations.
double costOf(Region &region) {
  double cost = 0;
  for (Operation &op : region.front().without_terminator())
    cost += isa<arith::ConstantOp, IndexOp>(op)                                         ? 0
            : isa<math::ExpOp, math::LogOp, math::TanhOp, math::PowFOp, math::ErfOp, math::SinOp, math::CosOp>(op) ? 20
            : isa<arith::DivFOp, math::SqrtOp, math::RsqrtOp, arith::RemFOp>(op)         ? 6
                                                                                        : 1;
  return cost;
}

bool hasGatheredRead(ComputeOp op) {
  for (auto map : op.getMaps().getAsRange<MapAttr>())
    for (const MapEntry &entry : map.getEntries())
      for (const std::string &name : entry.expr().names())
        if (name[0] == '@')
          return true;
  return false;
}

/// The guard of `inner` (in the producer's names) and of the read that takes it in, as one; none if they can't be joined.
std::optional<GuardAttr> join(GuardAttr outer, GuardAttr inner, bool outerMayElse) {
  if (inner.isTrivial())
    return outer;
  if (outer.isTrivial())
    return inner;
  if (outer.getOtherwise() != inner.getOtherwise())
    return std::nullopt;
  SmallVector<Condition> conditions(outer.getConditions());
  conditions.append(inner.getConditions().begin(), inner.getConditions().end());
  return GuardAttr::get(outer.getContext(), conditions, outer.getOtherwise());
}

/// A producer and the reads of a consumer that take it in.
class Inlining {
public:
  Inlining(ComputeOp producer, ComputeOp consumer) : producer(producer), consumer(consumer) {}

  bool isLegal() {
    if (producer.isReduction() || !producer.getFinish().empty() || producer.getNumResults() != 1 ||
        hasGatheredRead(producer) || hasGatheredRead(consumer))
      return false;
    Value value = producer.getResult(0);
    for (auto [i, read] : llvm::enumerate(consumer->getOperands())) {
      if (read != value)
        continue;
      auto guard = cast<GuardAttr>(consumer.getGuards()[i]);
      if (guard.isTrivial())
        continue;
      // Where the guard fails the producer's body must not be evaluated on nothing.
      if (!guard.excludes() && !onlyMoves(producer))
        return false;
      for (auto inner : producer.getGuards().getAsRange<GuardAttr>())
        if (!join(guard, inner, true))
          return false;
    }
    return true;
  }

  /// How often one element of the producer is computed if it is taken in.
  double repetition() {
    double reads = 0;
    for (auto [i, read] : llvm::enumerate(consumer->getOperands()))
      if (read == producer.getResult(0))
        reads += i < consumer.getReads().size() ? points(consumer.getProduced()) * points(consumer.getReduced())
                                                : points(consumer.getProduced());
    return reads / std::max(1.0, points(producer.getProduced()));
  }

  ComputeOp apply() {
    OpBuilder b(consumer);
    NestBuilder nest(b, consumer.getLoc());
    nest.produced = consumer.getProduced();
    nest.reduced = consumer.getReduced();
    Ranges ranges = iterationRanges(consumer);
    size_t bodyReads = consumer.getReads().size();
    IRMapping inBody, inFinish;
    Region body, combine, finish;
    rebuild(nest, consumer.getBody(), body, 0, bodyReads, 0, ranges, false);
    if (!consumer.getFinish().empty())
      rebuild(nest, consumer.getFinish(), finish, bodyReads, consumer->getNumOperands(),
              consumer.getFinish().front().getNumArguments() - consumer.getFinishReads().size(), ranges, true);
    combine.takeBody(consumer.getCombine());
    b.setInsertionPoint(consumer);
    ComputeOp made =
        nest.create(SmallVector<Type>(consumer.getResultTypes()), body, combine, finish, consumer.getNeutral());
    for (NamedAttribute attribute : consumer->getDiscardableAttrs())
      made->setAttr(attribute.getName(), attribute.getValue());
    consumer->replaceAllUsesWith(made);
    consumer->erase();
    return made;
  }

private:
  ComputeOp producer, consumer;

  /// Rebuilds one region of the consumer with reads [begin, end), the first `kept` arguments staying as they are.
  void rebuild(NestBuilder &nest, Region &from, Region &to, size_t begin, size_t end, size_t kept, const Ranges &ranges,
               bool inFinish) {
    OpBuilder &b = nest.builder;
    Block *block = b.createBlock(&to);
    IRMapping mapping;
    Location loc = consumer.getLoc();
    for (size_t i = 0; i < kept; ++i)
      mapping.map(from.front().getArgument(i), block->addArgument(from.front().getArgument(i).getType(), loc));
    auto addRead = [&](Value value, MapAttr map, GuardAttr guard) -> Value {
      map = simplifyMap(map, ranges);
      guard = simplifyGuard(guard, ranges);
      auto &values = inFinish ? nest.finishReads : nest.reads;
      auto &maps = inFinish ? nest.finishMaps : nest.maps;
      auto &guards = inFinish ? nest.finishGuards : nest.guards;
      for (size_t k = 0; k < values.size(); ++k)
        if (values[k] == value && maps[k] == map && guards[k] == guard)
          return block->getArgument(kept + k);
      inFinish ? nest.finishRead(value, map, guard) : nest.read(value, map, guard);
      return block->addArgument(tensorTypeOf(value).scalarType(), loc);
    };
    for (size_t i = begin; i < end; ++i) {
      Value argument = from.front().getArgument(kept + i - begin);
      auto map = cast<MapAttr>(consumer.getMaps()[i]);
      auto guard = cast<GuardAttr>(consumer.getGuards()[i]);
      if (consumer->getOperand(i) != producer.getResult(0)) {
        mapping.map(argument, addRead(consumer->getOperand(i), map, guard));
        continue;
      }
      // The producer's names are what the consumer reads it at.
      Replacement at;
      for (const MapEntry &entry : map.getEntries())
        at[entry.name.str()] = entry.expr();
      IRMapping inner;
      for (auto [k, read] : llvm::enumerate(producer.getReads()))
        inner.map(producer.getBody().front().getArgument(k),
                  addRead(read, producer.readMap(k).substitute(at),
                          *join(guard, producer.readGuard(k).substitute(at), true)));
      for (Operation &op : producer.getBody().front().without_terminator()) {
        if (auto index = dyn_cast<IndexOp>(op)) {
          inner.map(index.getResult(), emitIndex(b, loc, at[index.getName().str()].simplify(ranges)));
          continue;
        }
        b.clone(op, inner);
      }
      Value result = inner.lookupOrDefault(producer.getBody().front().getTerminator()->getOperand(0));
      // A result that is stored narrower than it was computed may keep its precision.
      mapping.map(argument, result);
    }
    for (Operation &op : from.front())
      b.clone(op, mapping);
  }

  /// An index expression as scalar code.
  Value emitIndex(OpBuilder &b, Location loc, const Expr &expr) {
    using Kind = Expr::Atom::Kind;
    auto constant = [&](int64_t n) -> Value { return arith::ConstantIndexOp::create(b, loc, n); };
    Value sum;
    auto add = [&](Value v) { sum = sum ? Value(arith::AddIOp::create(b, loc, sum, v)) : v; };
    for (const Expr::Term &term : expr.terms()) {
      Value product = term.coefficient == 1 ? Value() : constant(term.coefficient);
      for (const Expr::AtomRef &atom : term.factors) {
        Value factor;
        if (atom->kind == Kind::Name) {
          factor = IndexOp::create(b, loc, b.getIndexType(), b.getStringAttr(atom->name));
        } else {
          Value x = emitIndex(b, loc, atom->operands[0]);
          if (atom->kind == Kind::Min || atom->kind == Kind::Max) {
            Value y = emitIndex(b, loc, atom->operands[1]);
            factor = atom->kind == Kind::Min ? Value(arith::MinSIOp::create(b, loc, x, y))
                                             : Value(arith::MaxSIOp::create(b, loc, x, y));
          } else {
            // floordiv and mod that round down, from the truncating ones.
            Value d = constant(atom->divisor);
            Value r = arith::RemSIOp::create(b, loc, x, d);
            Value negative = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, r, constant(0));
            Value mod = arith::SelectOp::create(b, loc, negative, arith::AddIOp::create(b, loc, r, d), r);
            factor = mod;
            if (atom->kind == Kind::FloorDiv)
              factor = arith::DivSIOp::create(b, loc, arith::SubIOp::create(b, loc, x, mod), d);
          }
        }
        product = product ? Value(arith::MulIOp::create(b, loc, product, factor)) : factor;
      }
      add(product);
    }
    if (!sum || expr.offset())
      add(constant(expr.offset()));
    return sum;
  }
};

/// Whether taking the producer in at all its uses is worth it.
bool worthInlining(ComputeOp producer, ArrayRef<ComputeOp> consumers) {
  if (producer->hasAttr("heddle.materialize"))
    return false;
  if (producer->hasAttr("heddle.recompute"))
    return true;
  if (onlyMoves(producer)) {
    // Moving costs nothing, unless it pads: then a guard would be tested at every read.
    return true;
  }
  double cost = costOf(producer.getBody());
  size_t reads = producer.getReads().size();
  if (reads == 0 && cost <= 8)
    return true;
  double repetition = 0;
  for (ComputeOp consumer : consumers)
    repetition += Inlining(producer, consumer).repetition();
  ComputeOp first = consumers[0];
  if (consumers.size() == 1)
    return repetition <= 1.01 || (!first.isReduction() && cost <= 4 && repetition <= 8);
  // Several uses: computing again must be cheaper than writing and reading once.
  return cost <= 4 && reads <= 2 && repetition <= 4 * double(consumers.size()) &&
         llvm::none_of(SmallVector<ComputeOp>(consumers), [&](ComputeOp consumer) {
           return consumer.isReduction() && Inlining(producer, consumer).repetition() > 1.01;
         });
}

bool inlineProducers(func::FuncOp function) {
  bool changed = false;
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.front()))) {
    auto producer = dyn_cast<ComputeOp>(op);
    if (!producer)
      continue;
    if (producer->use_empty()) {
      producer->erase();
      changed = true;
      continue;
    }
    if (producer.getNumResults() != 1)
      continue;
    SmallVector<ComputeOp> consumers;
    bool all = true;
    for (Operation *user : producer->getUsers()) {
      auto consumer = dyn_cast<ComputeOp>(user);
      if (!consumer || consumer->getBlock() != producer->getBlock()) {
        all = false;
        break;
      }
      if (!llvm::is_contained(consumers, consumer))
        consumers.push_back(consumer);
    }
    if (!all && !onlyMoves(producer))
      continue;
    if (!llvm::all_of(consumers, [&](ComputeOp consumer) { return Inlining(producer, consumer).isLegal(); })) {
      // What only moves elements is taken in wherever that is possible.
      if (!onlyMoves(producer))
        continue;
      llvm::erase_if(consumers, [&](ComputeOp consumer) { return !Inlining(producer, consumer).isLegal(); });
    }
    if (consumers.empty() || !worthInlining(producer, consumers))
      continue;
    for (ComputeOp consumer : consumers)
      Inlining(producer, consumer).apply();
    if (producer->use_empty())
      producer->erase();
    return true; // iterators of erased consumers are gone
  }
  return changed;
}

/// Takes a nest that reads a reduction's results point by point into the reduction's finish region.
bool fuseEpilogue(func::FuncOp function) {
  for (Operation &op : function.front()) {
    auto consumer = dyn_cast<ComputeOp>(op);
    if (!consumer || consumer.isReduction() || !consumer.getFinish().empty())
      continue;
    for (Value read : consumer.getReads()) {
      auto producer = read.getDefiningOp<ComputeOp>();
      if (!producer || !producer.isReduction() || producer.getNumResults() != 1 ||
          producer->hasAttr("heddle.materialize") || producer.getProduced() != consumer.getProduced() ||
          !llvm::all_of(producer->getUsers(), [&](Operation *user) { return user == consumer; }) ||
          hasGatheredRead(consumer))
        continue;
      bool pointwise = true;
      for (auto [i, operand] : llvm::enumerate(consumer.getReads()))
        if (operand == read)
          pointwise &= consumer.readMap(i) == MapAttr::identity(tensorTypeOf(read)) &&
                       consumer.readGuard(i).isTrivial();
      if (!pointwise)
        continue;
      OpBuilder b(consumer);
      NestBuilder nest(b, consumer.getLoc());
      nest.produced = producer.getProduced();
      nest.reduced = producer.getReduced();
      for (auto [i, value] : llvm::enumerate(producer.getReads()))
        nest.read(value, producer.readMap(i), producer.readGuard(i));
      for (auto [i, value] : llvm::enumerate(producer.getFinishReads()))
        nest.finishRead(value, producer.finishMap(i), producer.finishGuard(i));
      Region body, combine, finish;
      body.takeBody(producer.getBody());
      combine.takeBody(producer.getCombine());
      Block *block = b.createBlock(&finish);
      SmallVector<Value> values;
      Location loc = consumer.getLoc();
      IRMapping mapping;
      for (Attribute neutral : producer.getNeutral())
        values.push_back(block->addArgument(cast<TypedAttr>(neutral).getType(), loc));
      size_t accumulators = values.size();
      if (!producer.getFinish().empty()) {
        Block &old = producer.getFinish().front();
        for (auto [argument, value] : llvm::zip(old.getArguments(), values))
          mapping.map(argument, value);
        for (size_t i = accumulators; i < old.getNumArguments(); ++i)
          mapping.map(old.getArgument(i), block->addArgument(old.getArgument(i).getType(), loc));
        for (Operation &inner : old.without_terminator())
          b.clone(inner, mapping);
        values.clear();
        for (Value value : old.getTerminator()->getOperands())
          values.push_back(mapping.lookupOrDefault(value));
      }
      for (auto [i, operand] : llvm::enumerate(consumer.getReads())) {
        Value argument = consumer.getBody().front().getArgument(i);
        if (operand == read) {
          Value value = values[0];
          // The consumer expects the stored type.
          if (value.getType() != argument.getType()) {
            bool narrower = value.getType().getIntOrFloatBitWidth() > argument.getType().getIntOrFloatBitWidth();
            value = narrower ? Value(arith::TruncFOp::create(b, loc, argument.getType(), value))
                             : Value(arith::ExtFOp::create(b, loc, argument.getType(), value));
          }
          mapping.map(argument, value);
          continue;
        }
        nest.finishRead(operand, consumer.readMap(i), consumer.readGuard(i));
        mapping.map(argument, block->addArgument(argument.getType(), loc));
      }
      for (Operation &inner : consumer.getBody().front())
        b.clone(inner, mapping);
      b.setInsertionPoint(consumer);
      ComputeOp made =
          nest.create(SmallVector<Type>(consumer.getResultTypes()), body, combine, finish, producer.getNeutral());
      for (Operation *from : {consumer.getOperation(), producer.getOperation()})
        for (NamedAttribute attribute : from->getDiscardableAttrs())
          made->setAttr(attribute.getName(), attribute.getValue());
      consumer->replaceAllUsesWith(made);
      consumer->erase();
      producer->erase();
      return true;
    }
  }
  return false;
}
} // namespace

void nest::fuseNests(func::FuncOp function) {
  for (bool changed = true; changed;) {
    changed = false;
    while (inlineProducers(function))
      changed = true;
    while (fuseEpilogue(function))
      changed = true;
  }
}

void nest::materializeGuards(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(function.front())) {
    auto consumer = dyn_cast<ComputeOp>(op);
    if (!consumer || !consumer.isReduction())
      continue;
    Ranges ranges = iterationRanges(consumer);
    double count = points(consumer.getProduced()) * points(consumer.getReduced());
    for (unsigned i = 0; i < consumer.getReads().size(); ++i) {
      GuardAttr guard = consumer.readGuard(i);
      Value read = consumer.getReads()[i];
      auto type = tensorTypeOf(read);
      if (guard.isTrivial() || !guard.getOtherwise() || count < 8 * double(type.elements()) || type.elements() == 0)
        continue;
      // Every condition must be a bound of one coordinate, and every coordinate that leaves the tensor be bounded.
      OpBuilder b(consumer);
      NestBuilder copy(b, consumer.getLoc());
      SmallVector<nd::Dim> dims;
      SmallVector<MapEntry> entries, source;
      SmallVector<Condition> inside;
      SmallVector<bool> explained(guard.getConditions().size());
      bool possible = true;
      for (const nd::Dim &dim : type.getDims()) {
        Expr place = *consumer.readMap(i).lookup(dim.name.getValue());
        int64_t size = *dim.size().constant();
        auto bounds = place.bounds(ranges);
        if (!bounds) {
          possible = false;
          break;
        }
        int64_t low = 0, high = size - 1;
        for (auto [k, condition] : llvm::enumerate(guard.getConditions())) {
          if (condition.equality)
            continue;
          if (condition.expr() == place) {
            explained[k] = true;
            low = bounds->low;
          } else if (condition.expr() == Expr(size - 1) - place) {
            explained[k] = true;
            high = bounds->high;
          }
        }
        low = std::max(low, bounds->low);
        high = std::min(high, bounds->high);
        possible &= low <= bounds->low && high >= bounds->high;
        if (!possible)
          break;
        dims.emplace_back(b.getContext(), dim.name.getValue(), Expr(high - low + 1));
        Expr from = Expr::name(dim.name.str()) + Expr(low);
        source.emplace_back(b.getContext(), dim.name.getValue(), from);
        entries.emplace_back(b.getContext(), dim.name.getValue(), place - Expr(low));
        if (low < 0)
          inside.emplace_back(b.getContext(), from);
        if (high >= size)
          inside.emplace_back(b.getContext(), Expr(size - 1) - from);
      }
      if (!possible || !llvm::all_of(explained, [](bool each) { return each; }))
        continue;
      copy.produced = nd::DimsAttr::getSorted(b.getContext(), dims);
      if (points(copy.produced) * 8 > count)
        continue;
      copy.read(read, MapAttr::getSorted(b.getContext(), source),
                GuardAttr::get(b.getContext(), inside, inside.empty() ? TypedAttr() : guard.getOtherwise()));
      ComputeOp padded = copy.create({type.getElementType()}, [](OpBuilder &, Location, ValueRange value) {
        return SmallVector<Value>(value);
      });
      padded->setAttr("heddle.materialize", b.getUnitAttr());
      padded->setAttr("heddle.name", b.getStringAttr("pad"));
      consumer.getReadsMutable()[i].set(padded.getResult(0));
      SmallVector<Attribute> maps(consumer.getMaps().getValue()), guards(consumer.getGuards().getValue());
      maps[i] = simplifyMap(MapAttr::getSorted(b.getContext(), entries), ranges);
      guards[i] = GuardAttr::get(b.getContext(), {}, TypedAttr());
      consumer.setMapsAttr(b.getArrayAttr(maps));
      consumer.setGuardsAttr(b.getArrayAttr(guards));
    }
  }
}

void nest::splitReductions(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(function.front())) {
    auto nest = dyn_cast<ComputeOp>(op);
    if (!nest || !nest.isReduction() || hasGatheredRead(nest) || nest->hasAttr("schedule"))
      continue;
    double produced = points(nest.getProduced()), reduced = points(nest.getReduced());
    // Enough results to share, or too little work to be worth a second nest.
    if (produced >= 16384 || produced * reduced < (1 << 20) || reduced < 512)
      continue;
    // The largest reduced name that some read does not leave unused is cut in up to 16 parts.
    nd::Dim chosen;
    for (const nd::Dim &dim : nest.getReduced())
      if (!chosen.name || *dim.size().constant() > *chosen.size().constant())
        chosen = dim;
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
      types.push_back(nd::NdTensorType::get(b.getContext(), cast<TypedAttr>(neutral).getType(), partial.produced));
    ComputeOp first = partial.create(types, body, combine, none, nest.getNeutral());
    first->setAttr("heddle.materialize", b.getUnitAttr());
    first->setAttr("heddle.name", b.getStringAttr("partial"));
    NestBuilder rest(b, loc);
    rest.produced = nest.getProduced();
    rest.reduced = nd::DimsAttr::getSorted(b.getContext(), {nd::Dim(b.getContext(), part, Expr(parts))});
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
    ComputeOp second =
        rest.create(SmallVector<Type>(nest.getResultTypes()), sumBody, sumCombine, finish, nest.getNeutral());
    if (auto label = nest->getAttr("heddle.name"))
      second->setAttr("heddle.name", label);
    nest->replaceAllUsesWith(second);
    nest->erase();
  }
}
