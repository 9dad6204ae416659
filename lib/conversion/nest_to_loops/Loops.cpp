//===- Loops.cpp - loops, tiles and edges of a compute nest ---------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule's loops come in three kinds: loops around tiles (thread and sequential loops over produced names), the loops of
// the reduction, and the register tile (unrolled and vector loops), whose points all have an accumulator of
// their own. Where a step does not divide the tile that it walks, the loop is emitted for the full steps and the rest once
// more with the smaller tile, so that no tile tests where it ends; the last vector of a tile may be masked.
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Emitter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <set>

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

using Group = std::vector<std::string>;

namespace heddle::nest {

/// Emits one nest.compute by a schedule.
class ComputeEmitter {
public:
  ComputeEmitter(Emitter &emitter, ComputeOp op, const Schedule &schedule) : e(emitter), op(op), schedule(schedule) {}

  LogicalResult emit(Value chunkNumber) {
    chunk = chunkNumber;
    if (failed(prepare()))
      return failure();
    return outerLoop(0);
  }

private:
  Emitter &e;
  ComputeOp op;
  const Schedule &schedule;
  Value chunk;

  struct Walk {
    Loop loop;
    std::string variable;
    bool reduced = false;
  };
  std::vector<Walk> outer, reduction, tile; ///< tile: register loops, then vector loops
  std::map<Group, int64_t> sizes;           ///< of merged groups
  std::map<Group, Expr> index;              ///< merged index so far, over loop variables
  std::map<Group, int64_t> extent;          ///< of the current tile
  int64_t remainingChunks = 1;
  Value remainder;                          ///< the part of the chunk number that inner thread loops decode
  int64_t lanes = 0;
  Group laneGroup;

  int64_t sizeOf(const std::string &name) {
    nd::SizeAttr size = op.getProduced().lookup(name);
    if (!size)
      size = op.getReduced().lookup(name);
    return *size.constant();
  }

  LogicalResult prepare() {
    std::set<std::string> walked;
    std::map<Group, int64_t> steps;
    auto add = [&](const Loop &loop) -> LogicalResult {
      Walk walk{loop, "v" + std::to_string(e.nextVariable++) + "$", op.getReduced().contains(loop.names[0])};
      for (const std::string &name : loop.names) {
        walked.insert(name);
        if (op.getReduced().contains(name) != walk.reduced)
          return op.emitOpError() << "the schedule merges '" << loop.names[0] << "' and '" << name
                                  << "', of which one is produced and one reduced";
      }
      if (loop.level == "vector") {
        if (lanes)
          return op.emitOpError() << "the schedule has more than one vector loop";
        auto step = steps.find(loop.names);
        lanes = step == steps.end() ? groupSize(loop.names) : step->second;
        laneGroup = loop.names;
        walk.variable = laneName;
      }
      steps[loop.names] = loop.step;
      bool inTile = loop.level == "register" || loop.level == "vector";
      if (inTile)
        tile.push_back(walk);
      else if (walk.reduced)
        reduction.push_back(walk);
      else
        outer.push_back(walk);
      return success();
    };
    for (const Loop &loop : schedule.loops)
      if (failed(add(loop)))
        return failure();
    // Names that no loop mentions.
    std::vector<Loop> missing;
    for (nd::DimsAttr dims : {op.getProduced(), op.getReduced()})
      for (const nd::Dim &dim : dims)
        if (!walked.count(dim.name.str()))
          missing.push_back({"loop", {dim.name.str()}, 1, 1});
    for (const Loop &loop : missing) {
      if (failed(add(loop)))
        return failure();
      if (!op.getReduced().contains(loop.names[0])) {
        // Produced names go around everything else.
        Walk walk = outer.back();
        outer.pop_back();
        outer.insert(llvm::find_if(outer, [](const Walk &w) { return w.loop.level != "thread"; }), walk);
      }
    }
    if (lanes & (lanes - 1)) {
      int64_t width = 1;
      while (width < lanes)
        width *= 2;
      lanes = width;
    }
    std::stable_partition(tile.begin(), tile.end(), [](const Walk &w) { return w.loop.level == "register"; });
    for (const std::vector<Walk> *list : {&outer, &reduction, &tile})
      for (const Walk &walk : *list) {
        sizes[walk.loop.names] = extent[walk.loop.names] = groupSize(walk.loop.names);
        index[walk.loop.names] = Expr(0);
      }
    for (const Walk &walk : outer)
      if (walk.loop.level == "thread") {
        remainingChunks *= iterations(walk.loop.names, walk.loop.step, outer, &walk);
      }
    if (chunk)
      e.chunks = remainingChunks;
    remainder = chunk;
    return success();
  }

  int64_t groupSize(const Group &group) {
    int64_t size = 1;
    for (const std::string &name : group)
      size *= sizeOf(name);
    return size;
  }

  /// Iterations of a loop over the full tile that the loops before it leave.
  int64_t iterations(const Group &group, int64_t step, const std::vector<Walk> &list, const Walk *upTo) {
    int64_t tileSize = groupSize(group);
    for (const Walk &walk : list) {
      if (&walk == upTo)
        break;
      if (walk.loop.names == group)
        tileSize = walk.loop.step;
    }
    return (tileSize + step - 1) / step;
  }

  /// Binds the names of a group to its merged index.
  void bind(const Group &group) {
    Expr merged = index[group].simplify(e.ranges);
    int64_t below = 1;
    for (size_t i = group.size(); i-- > 0;) {
      int64_t size = sizeOf(group[i]);
      Expr part = merged.floordiv(below);
      if (i > 0)
        part = part.mod(size);
      e.bindings[group[i]] = part.simplify(e.ranges);
      below *= size;
    }
  }

  /// Runs `inside` with the group's tile narrowed to `tileSize` and its index moved by `by`.
  LogicalResult narrowed(const Group &group, const Expr &by, int64_t tileSize,
                         llvm::function_ref<LogicalResult()> inside) {
    Expr savedIndex = index[group];
    int64_t savedExtent = extent[group];
    index[group] = savedIndex + by;
    extent[group] = tileSize;
    LogicalResult result = inside();
    index[group] = savedIndex;
    extent[group] = savedExtent;
    return result;
  }

  //===--------------------------------------------------------------------===//
  // Loops around tiles
  //===--------------------------------------------------------------------===//

  LogicalResult outerLoop(size_t position) {
    if (position == outer.size())
      return emitTile();
    const Walk &walk = outer[position];
    const Group &group = walk.loop.names;
    int64_t step = walk.loop.step, full = extent[group] / step, rest = extent[group] % step;
    Expr variable = Expr::name(walk.variable);
    auto next = [&] { return outerLoop(position + 1); };
    if (walk.loop.level != "thread" || !chunk) {
      if (full == 1) {
        if (failed(narrowed(group, Expr(0), step, next)))
          return failure();
      } else if (full > 1 &&
                 failed(forLoop(e, walk.variable, full, [&] {
                   return narrowed(group, variable * Expr(step), step, next);
                 }))) {
        return failure();
      }
      return rest ? narrowed(group, Expr(full * step), rest, next) : success();
    }
    // A thread loop takes its number from the chunk.
    int64_t count = iterations(group, step, outer, &walk);
    Value number, savedRemainder = remainder;
    int64_t savedChunks = remainingChunks;
    remainingChunks /= count;
    if (remainingChunks == 1) {
      number = remainder;
    } else {
      Value inner = e.constant(remainingChunks);
      number = arith::DivUIOp::create(e.b, e.loc, remainder, inner);
      remainder = arith::RemUIOp::create(e.b, e.loc, remainder, inner);
    }
    LogicalResult result = success();
    if (count == 1) {
      result = narrowed(group, Expr(0), full ? step : rest, next);
    } else {
      e.vars[walk.variable] = number;
      auto inMain = [&] {
        e.ranges[walk.variable] = {0, full - 1};
        return narrowed(group, variable * Expr(step), step, next);
      };
      if (!rest) {
        result = inMain();
      } else {
        Value isFull = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ult, number, e.constant(full));
        auto branch = scf::IfOp::create(e.b, e.loc, isFull, /*withElseRegion=*/true);
        OpBuilder::InsertionGuard guard(e.b);
        e.b.setInsertionPointToStart(branch.thenBlock());
        result = inMain();
        if (succeeded(result)) {
          e.b.setInsertionPointToStart(branch.elseBlock());
          e.ranges.erase(walk.variable);
          result = narrowed(group, Expr(full * step), rest, next);
        }
      }
      e.vars.erase(walk.variable);
      e.ranges.erase(walk.variable);
    }
    remainder = savedRemainder;
    remainingChunks = savedChunks;
    return result;
  }

  //===--------------------------------------------------------------------===//
  // Tiles
  //===--------------------------------------------------------------------===//

  /// The points of the tile: every combination of the unrolled loops over produced (or reduced) names. A group's last
  /// vector may be partial.
  void enumerate(bool reducedNames, std::vector<Point> &points) {
    points.assign(1, Point());
    if (lanes && op.getReduced().contains(laneGroup[0]) && !reducedNames)
      points[0].lanes = points[0].active = lanes;
    std::map<Group, std::vector<Walk>> byGroup;
    std::vector<Group> order;
    for (const Walk &walk : tile)
      if (walk.reduced == reducedNames) {
        if (!byGroup.count(walk.loop.names))
          order.push_back(walk.loop.names);
        byGroup[walk.loop.names].push_back(walk);
      }
    for (const Group &group : order) {
      std::vector<Point> expanded;
      for (const Point &point : points)
        expand(point, group, byGroup[group], 0, extent[group], expanded);
      points = std::move(expanded);
    }
  }

  void expand(const Point &point, const Group &group, const std::vector<Walk> &walks, size_t position,
              int64_t tileSize, std::vector<Point> &points) {
    if (position == walks.size()) {
      points.push_back(point);
      return;
    }
    const Walk &walk = walks[position];
    if (walk.loop.level == "vector") {
      Point vector = point;
      vector.lanes = lanes;
      vector.active = tileSize;
      points.push_back(vector);
      return;
    }
    int64_t step = walk.loop.step;
    for (int64_t at = 0; at < tileSize; at += step) {
      Point next = point;
      next.values[walk.variable] = Expr(at / step);
      expand(next, group, walks, position + 1, std::min(step, tileSize - at), points);
    }
  }

  /// Adds the unrolled loops of a group to its index, so that names are bound to (base + unrolled part + lane).
  void bindTile() {
    e.ranges[laneName] = {0, std::max<int64_t>(lanes - 1, 0)};
    for (const Walk &walk : tile)
      index[walk.loop.names] = index[walk.loop.names] + Expr::name(walk.variable) * Expr(walk.loop.step);
    for (const auto &[group, expr] : index)
      bind(group);
  }

  LogicalResult emitTile() {
    auto savedIndex = index;
    auto savedBindings = e.bindings;
    // Ranges of unrolled variables, for the simplification of bound names.
    for (const Walk &walk : tile)
      if (walk.loop.level == "register")
        e.ranges[walk.variable] = {0, std::max<int64_t>((extent[walk.loop.names] - 1) / walk.loop.step, 0)};
    LogicalResult result = op.isReduction() ? emitReduction() : emitPlain();
    for (const Walk &walk : tile)
      e.ranges.erase(walk.variable);
    index = savedIndex;
    e.bindings = savedBindings;
    return result;
  }

  /// Evaluates the body at a point. `included` is null where the point always takes part.
  FailureOr<SmallVector<Value>> body(const Point &point, Emitter::Cache &cache, Emitter::LoadCache &loads,
                                     Value &included) {
    SmallVector<Value> values;
    for (auto [i, tensor] : llvm::enumerate(op.getReads())) {
      auto value = e.read(tensor, op.readMap(i), op.readGuard(i), values, point, loads);
      if (failed(value))
        return failure();
      values.push_back(value->value);
      if (value->included)
        included = included ? Value(arith::AndIOp::create(e.b, e.loc, e.splat(included, lanesOf(value->included)),
                                                          e.splat(value->included, lanesOf(included))))
                            : value->included;
    }
    return e.run(op.getBody(), values, point, cache);
  }

  static int64_t lanesOf(Value value) {
    auto vector = dyn_cast<VectorType>(value.getType());
    return vector ? vector.getNumElements() : 0;
  }

  LogicalResult finish(const Point &point, SmallVector<Value> values, Emitter::Cache &cache,
                       Emitter::LoadCache &loads) {
    if (!op.getFinish().empty()) {
      SmallVector<Value> arguments(values);
      SmallVector<Value> none;
      for (auto [i, tensor] : llvm::enumerate(op.getFinishReads())) {
        auto value = e.read(tensor, op.finishMap(i), op.finishGuard(i), none, point, loads);
        if (failed(value))
          return failure();
        arguments.push_back(value->value);
      }
      auto results = e.run(op.getFinish(), arguments, point, cache);
      if (failed(results))
        return failure();
      values = *results;
    }
    for (auto [result, value] : llvm::zip_equal(op.getResults(), values))
      e.store(e.memory.find(result)->second, value, point);
    return success();
  }

  LogicalResult emitPlain() {
    bindTile();
    std::vector<Point> points;
    enumerate(false, points);
    Emitter::Cache cache, finishCache;
    Emitter::LoadCache loads;
    // Everything is read before anything is written, so that a result may take the place of an operand.
    std::vector<SmallVector<Value>> values;
    for (const Point &point : points) {
      Value included;
      auto value = body(point, cache, loads, included);
      if (failed(value))
        return failure();
      values.push_back(*value);
    }
    for (auto [point, value] : llvm::zip_equal(points, values))
      if (failed(finish(point, value, finishCache, loads)))
        return failure();
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Reductions
  //===--------------------------------------------------------------------===//

  SmallVector<Value> neutral(const Point &point) {
    SmallVector<Value> values;
    for (Attribute value : op.getNeutral())
      values.push_back(e.splat(e.constantOf(cast<TypedAttr>(value)), point.lanes));
    return values;
  }

  LogicalResult emitReduction() {
    std::vector<Point> points;
    enumerate(false, points);
    SmallVector<Value> accumulators;
    for (const Point &point : points)
      accumulators.append(neutral(point));
    auto result = reductionLoop(0, points, accumulators);
    if (failed(result))
      return failure();
    bindTile();
    Emitter::Cache cache;
    Emitter::LoadCache loads;
    size_t width = op.getNeutral().size();
    bool reducedLanes = lanes && op.getReduced().contains(laneGroup[0]);
    for (auto [i, point] : llvm::enumerate(points)) {
      SmallVector<Value> values(ArrayRef<Value>(*result).slice(i * width, width));
      Point target = point;
      if (reducedLanes) {
        auto folded = e.foldLanes(op.getCombine(), values, lanes);
        if (failed(folded))
          return failure();
        values = *folded;
        target.lanes = target.active = 0;
      }
      if (failed(finish(target, values, cache, loads)))
        return failure();
    }
    return success();
  }

  FailureOr<SmallVector<Value>> reductionLoop(size_t position, const std::vector<Point> &points,
                                              SmallVector<Value> accumulators) {
    if (position == reduction.size())
      return reductionBody(points, std::move(accumulators));
    const Walk &walk = reduction[position];
    const Group &group = walk.loop.names;
    int64_t step = walk.loop.step, full = extent[group] / step, rest = extent[group] % step;
    FailureOr<SmallVector<Value>> result = accumulators;
    auto inner = [&](const Expr &by, int64_t size, ValueRange values) {
      (void)narrowed(group, by, size, [&] {
        result = reductionLoop(position + 1, points, SmallVector<Value>(values));
        return success();
      });
    };
    if (full == 1) {
      inner(Expr(0), step, *result);
    } else if (full > 1) {
      Value zero = e.constant(0), count = e.constant(full), one = e.constant(1);
      auto loop = scf::ForOp::create(e.b, e.loc, zero, count, one, accumulators);
      OpBuilder::InsertionGuard guard(e.b);
      e.b.setInsertionPointToStart(loop.getBody());
      e.vars[walk.variable] = loop.getInductionVar();
      e.ranges[walk.variable] = {0, full - 1};
      inner(Expr::name(walk.variable) * Expr(step), step, loop.getRegionIterArgs());
      e.vars.erase(walk.variable);
      e.ranges.erase(walk.variable);
      if (failed(result))
        return failure();
      scf::YieldOp::create(e.b, e.loc, *result);
      result = SmallVector<Value>(loop.getResults());
    }
    if (rest && succeeded(result))
      inner(Expr(full * step), rest, *result);
    return result;
  }

  FailureOr<SmallVector<Value>> reductionBody(const std::vector<Point> &points, SmallVector<Value> accumulators) {
    auto savedIndex = index;
    bindTile();
    std::vector<Point> steps;
    enumerate(true, steps);
    size_t width = op.getNeutral().size();
    Emitter::Cache cache;
    Emitter::LoadCache loads;
    for (const Point &step : steps)
      for (auto [i, produced] : llvm::enumerate(points)) {
        Point point = produced;
        for (const auto &[name, value] : step.values)
          point.values[name] = value;
        int64_t partial = 0;
        if (step.lanes) {
          point.lanes = step.lanes;
          point.active = step.active;
          partial = step.active < step.lanes ? step.active : 0;
        }
        Value included;
        auto elements = body(point, cache, loads, included);
        if (failed(elements))
          return failure();
        if (partial) {
          SmallVector<bool> bits;
          for (int64_t lane = 0; lane < point.lanes; ++lane)
            bits.push_back(lane < partial);
          auto type = VectorType::get({point.lanes}, e.b.getI1Type());
          Value mask = arith::ConstantOp::create(e.b, e.loc, DenseElementsAttr::get(type, ArrayRef<bool>(bits)));
          included = included ? Value(arith::AndIOp::create(e.b, e.loc, e.splat(included, point.lanes), mask)) : mask;
        }
        SmallVector<Value> arguments(ArrayRef<Value>(accumulators).slice(i * width, width));
        for (auto [element, value] : llvm::zip_equal(*elements, op.getNeutral())) {
          Type accumulator = e.computeType(cast<TypedAttr>(value).getType());
          Value converted = convert(element, accumulator);
          converted = e.splat(converted, point.lanes);
          if (included) {
            Value out = e.splat(e.constantOf(cast<TypedAttr>(value)), point.lanes);
            converted = arith::SelectOp::create(e.b, e.loc, e.splat(included, point.lanes), converted, out);
          }
          arguments.push_back(converted);
        }
        Emitter::Cache once;
        auto combined = e.run(op.getCombine(), arguments, point, once);
        if (failed(combined))
          return failure();
        for (size_t k = 0; k < width; ++k)
          accumulators[i * width + k] = e.splat((*combined)[k], point.lanes);
      }
    index = savedIndex;
    return accumulators;
  }

  /// Float widening or narrowing to the accumulator's type.
  Value convert(Value value, Type type) {
    Type from = getElementTypeOrSelf(value.getType());
    if (from == type)
      return value;
    Type target = lanesOf(value) ? Type(VectorType::get({lanesOf(value)}, type)) : type;
    if (from.getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
      return arith::ExtFOp::create(e.b, e.loc, target, value);
    return arith::TruncFOp::create(e.b, e.loc, target, value);
  }
};

} // namespace heddle::nest

LogicalResult nest::forLoop(Emitter &emitter, const std::string &name, int64_t count,
                            llvm::function_ref<LogicalResult()> body) {
  Value zero = emitter.constant(0), end = emitter.constant(count), one = emitter.constant(1);
  auto loop = scf::ForOp::create(emitter.b, emitter.loc, zero, end, one);
  OpBuilder::InsertionGuard guard(emitter.b);
  emitter.b.setInsertionPointToStart(loop.getBody());
  emitter.vars[name] = loop.getInductionVar();
  emitter.ranges[name] = {0, count - 1};
  LogicalResult result = body();
  emitter.vars.erase(name);
  emitter.ranges.erase(name);
  return result;
}

LogicalResult Emitter::emitCompute(ComputeOp op, const Schedule &schedule, Value chunk) {
  // Nothing to produce.
  for (const nd::Dim &dim : op.getProduced())
    if (dim.size().constant() == 0) {
      if (chunk)
        chunks = 0;
      return success();
    }
  return ComputeEmitter(*this, op, schedule).emit(chunk);
}
