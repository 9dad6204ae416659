//===- Update.cpp - nests that write through maps -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A name is free if it is, by itself, a coordinate of the destination: points that differ in it
// write different elements. Threads and lanes iterate over free names. All other loops are
// sequential, so that elements written more than once are combined in the same order for any number
// of threads. A thread owns the elements of its part of a free name, and also copies them if the
// update is not in place. An update without a free name runs on one thread: threads could own parts
// of the destination, but each would have to test every point.
//
// The lanes of a block copy the part that the block owns together, and wait for each other. Then
// each writes the elements of its points of free names or, if no two points write the same element,
// of any names. Lanes over other names may meet at an element (UpdateLanes.cpp).
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Loops.h"

#include "lib/analysis/GpuLanes.h"
#include "lib/analysis/VectorLanes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

namespace {
class UpdateEmitter {
public:
  UpdateEmitter(Emitter &emitter, UpdateOp op, Value chunk)
      : e(emitter), op(op), chunk(chunk), free(freeNames(op)) {}

  LogicalResult emit(const Schedule &chosen) {
    from = e.memory.find(op.getDest())->second;
    to = e.memory.find(op.getResult())->second;
    if (isEmpty(op.getSpace())) {
      ScheduledLoops nothing;
      LoopWalker walker(e, nothing, chunk);
      return copyOwned(nothing, walker);
    }
    Schedule schedule = chosen;
    // An update of one point is not vectorised.
    for (Loop &loop : schedule.loops)
      if (loop.level == "vector" && op.getSpace().lookup(loop.names[0]).constant() == 1)
        loop.level = "loop";
    while (owners < schedule.loops.size() && schedule.loops[owners].isShared())
      ++owners;
    ScheduledLoops made =
        e.loopsOf(op.getSpace(), nd::DimsAttr::get(op.getContext(), {}), schedule, laneBits(op));
    LoopWalker walker(e, made, chunk);
    bool meets = e.lanes && lanesMeet(op, made);
    std::function<LogicalResult(size_t)> walk = [&](size_t position) -> LogicalResult {
      // Each chunk copies the part of the destination that it owns before it writes there.
      if (position == owners && failed(copyOwned(made, walker)))
        return failure();
      if (position == made.loops.size() && meets)
        return meet(walker);
      if (position == made.loops.size())
        return walker.onActive([&] { return tile(walker); });
      return success(succeeded(
          walker.walk(position, {}, [&](ValueRange) { return noValues(walk(position + 1)); })));
    };
    return walk(0);
  }

private:
  Emitter &e;
  UpdateOp op;
  Value chunk;
  Memory from, to;
  std::map<std::string, std::string> free; ///< iteration name -> destination name
  size_t owners = 0;                       ///< loops over owned names, which come first

  /// The points of an owned name of the destination that the current chunk copies.
  struct Part {
    MergedNames names;
    Expr start;
    int64_t count;
    int loops = 0; ///< parallel loops over the name
  };
  using Parts = std::map<std::string, Part>;

  /// Copies the part of the destination that the current chunk owns, unless the update is in place.
  LogicalResult copyOwned(const ScheduledLoops &scheduled, LoopWalker &walker) {
    bool alike = from.layout == to.layout && from.fixed.empty() && to.fixed.empty();
    if (isEmpty(tensorType(op.getDest()).getDims()))
      return success();
    Parts parts;
    for (size_t i = 0; i < owners; ++i) {
      const MergedNames &names = scheduled.loops[i].names;
      Part &part = parts[free[names[0]]];
      part = {names, walker.indexOf(names).simplify(e.ranges), walker.extentOf(names),
              part.loops + 1};
    }
    // The last chunk may own less; copying a whole chunk would write out of bounds.
    auto copy = [&](ValueRange) -> FailureOr<Values> {
      std::function<LogicalResult(Parts::iterator)> copyFrom = [&](Parts::iterator next) {
        if (next == parts.end())
          return copyParts(parts);
        auto inner = std::next(next);
        Part &part = next->second;
        Value exact = walker.exactOf(part.names);
        if (!exact)
          return copyFrom(inner);
        Part whole = part;
        auto as = [&](const Part &chosen) -> FailureOr<Values> {
          part = chosen;
          LogicalResult done = copyFrom(inner);
          part = whole;
          return noValues(done);
        };
        auto rest = scheduled.sizes.find(part.names)->second.mod(whole.count).constant();
        Value isWhole = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq, exact,
                                              e.constant(whole.count));
        return success(succeeded(branch(
            e, isWhole, {}, [&](ValueRange) { return as(whole); },
            [&](ValueRange) -> FailureOr<Values> {
              if (rest && part.loops == 1)
                return *rest ? as({part.names, part.start, *rest}) : Values();
              std::string each = e.freshVariable();
              return forLoop(e, each, exact, whole.count, {}, [&](ValueRange) {
                return as({part.names, part.start + Expr::name(each), 1});
              });
            })));
      };
      return noValues(copyFrom(parts.begin()));
    };
    auto copyAndWait = [&](ValueRange none) -> FailureOr<Values> {
      FailureOr<Values> copied = copy(none);
      if (e.lanes)
        e.barrier("shared");
      return copied;
    };
    if (!alike || from.base.getType() != to.base.getType())
      return success(succeeded(copyAndWait({})));
    Value apart = LLVM::ICmpOp::create(e.b, e.loc, LLVM::ICmpPredicate::ne, from.base, to.base);
    return success(succeeded(branch(e, apart, {}, copyAndWait, nullptr)));
  }

  LogicalResult copyParts(const Parts &parts) {
    OpBuilder builder(op.getContext());
    NestBuilder nest(builder, op.getLoc());
    auto type = tensorType(op.getDest());
    SmallVector<nd::Dim> dims;
    SmallVector<MapEntry> entries;
    Memory target = to;
    for (const nd::Dim &dim : type.getDims()) {
      std::string name = dim.name.str();
      auto part = parts.find(name);
      if (part == parts.end()) {
        dims.push_back(dim);
        entries.emplace_back(op.getContext(), name, Expr::name(name));
        continue;
      }
      const Expr &start = part->second.start;
      dims.emplace_back(op.getContext(), name, Expr(part->second.count));
      entries.emplace_back(op.getContext(), name, start + Expr::name(name));
      target.origin[name] = -start;
    }
    nest.produced = nd::DimsAttr::getSorted(op.getContext(), dims);
    nest.read(op.getDest(), MapAttr::getSorted(op.getContext(), entries));
    ComputeOp copied =
        nest.create({type.getElementType()},
                    [](OpBuilder &, Location, ValueRange read) { return Values(read); });
    e.temporaries.push_back(copied);
    e.memory[copied.getResult(0)] = target;
    return e.emitAddedCopy(copied, op.copySchedule(0));
  }

  LogicalResult tile(LoopWalker &walker) {
    LoopWalker::Saved saved = walker.bindTile();
    for (const Point &point : walker.points(false)) {
      Section section;
      if (failed(updatePoint(point, section)))
        return failure();
    }
    walker.unbind(std::move(saved));
    return success();
  }

  /// Each lane has a point, or none: several may write the same element.
  LogicalResult meet(LoopWalker &walker) {
    Type accumulator = e.computeType(op.getCombine().getArgument(0).getType());
    auto mine = [&](ValueRange) -> FailureOr<Values> {
      LoopWalker::Saved saved = walker.bindTile();
      Section section;
      FailureOr<Written> written = writtenAt(walker.points(false)[0], section);
      walker.unbind(std::move(saved));
      if (failed(written))
        return failure();
      Value at = e.emit(written->offset);
      if (written->condition)
        at = arith::SelectOp::create(e.b, e.loc, written->condition, at, e.constant(-1));
      return Values{at, e.convert(written->value, accumulator)};
    };
    Value zero = e.constantOf(cast<TypedAttr>(e.b.getZeroAttr(accumulator)));
    Value active = walker.isActive();
    auto found = active ? branch(e, active, {e.constant(-1), zero}, mine) : mine({});
    return failed(found) ? failure()
                         : e.combineMeeting(to, op.getCombine(), (*found)[0], (*found)[1]);
  }

  /// The element and the value that a point writes.
  struct Written {
    Value condition; ///< whether it writes; null: it does
    Expr offset;     ///< of the element
    Value value;
  };

  FailureOr<Written> writtenAt(const Point &point, Section &section) {
    Values values;
    Value writes;
    for (unsigned i = 0; i < op.getReads().size(); ++i) {
      auto value = e.read(op.getReads(), i, cast<MapAttr>(op.getMaps()[i]),
                          cast<GuardAttr>(op.getGuards()[i]), values, point, section);
      if (failed(value))
        return failure();
      values.push_back(value->value);
      writes = e.both(writes, value->included);
    }
    FailureOr<Values> element = e.run(op.getBody(), values, point, section);
    if (failed(element))
      return failure();
    // The target's coordinates, and whether they are in bounds.
    Replacement coordinates;
    for (const MapEntry &entry : op.getDestMap().getEntries()) {
      Expr coordinate = e.resolve(e.bindReads(entry.expr(), op.getReads(), values, section), point);
      Expr last = tensorType(op.getResult()).size(entry.name.getValue()).getExpr() - Expr(1);
      for (Test test : {Test{coordinate, false}, Test{last - coordinate, false}}) {
        if (test.decide(e.ranges) == true)
          continue;
        writes = e.both(writes, test.decide(e.ranges) == false
                                    ? Value(arith::ConstantIntOp::create(e.b, e.loc, 0, 1))
                                    : e.holds(test, point.lanes));
      }
      coordinates[entry.name.str()] = coordinate;
    }
    return Written{writes, e.address(to, coordinates), (*element)[0]};
  }

  LogicalResult updatePoint(const Point &point, Section &section) {
    FailureOr<Written> written = writtenAt(point, section);
    if (failed(written))
      return failure();
    auto [writes, offset, value] = *written;
    Type accumulator = e.computeType(op.getCombine().getArgument(0).getType());
    auto write = [&](Value value, const Point &at, Value mask) -> FailureOr<Values> {
      Section inner;
      Value old = e.convert(e.load(to, offset, at, mask, inner), accumulator);
      Value made = e.convert(value, accumulator);
      FailureOr<Values> combined = e.run(op.getCombine(), ValueRange{old, made}, at, inner);
      if (failed(combined))
        return failure();
      e.store(to, offset, (*combined)[0], at, mask, inner);
      return Values();
    };
    bool isVectorMask = writes && isa<VectorType>(writes.getType());
    if (isVectorMask && !e.onLanes(offset)) {
      // Lanes that write the same element, as in a tensor of one element, write one at a time.
      if (point.isPartial())
        writes = e.both(writes, e.laneMask(point));
      Point single = point;
      single.lanes = single.active = 0;
      single.count = Value();
      auto atLane = [&](Value lanes, int64_t lane) -> Value {
        return isa<VectorType>(lanes.getType())
                   ? vector::ExtractOp::create(e.b, e.loc, lanes, ArrayRef<int64_t>{lane})
                   : lanes;
      };
      for (int64_t lane = 0; lane < point.lanes; ++lane) {
        auto one = [&](ValueRange) { return write(atLane(value, lane), single, Value()); };
        if (failed(branch(e, atLane(writes, lane), {}, one, nullptr)))
          return failure();
      }
      return success();
    }
    // Branch on scalar masks, so that out-of-bounds elements are never accessed.
    auto all = [&](ValueRange) { return write(value, point, isVectorMask ? writes : Value()); };
    return success(
        succeeded(writes && !isVectorMask ? branch(e, writes, {}, all, nullptr) : all({})));
  }
};
} // namespace

LogicalResult Emitter::emitUpdate(UpdateOp op, const Schedule &schedule, Value chunk) {
  return UpdateEmitter(*this, op, chunk).emit(schedule);
}
