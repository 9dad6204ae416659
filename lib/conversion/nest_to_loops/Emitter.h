//===- Emitter.h - the state of emitting one kernel -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `Emitter` holds the state and functions that all parts of the emission share. Compute.cpp emits
// loops and tiles of a `nest.compute`, Guards.cpp splits them by guards, Stage.cpp packs operands,
// Update.cpp and GroupsAndScans.cpp emit the other nests; all of them use Read.cpp (reads by map
// and guard), Access.cpp (addresses, loads, stores), NarrowFloats.cpp (bits of elements),
// Expressions.cpp (integers of loop variables) and Body.cpp (scalar regions on vectors).
//
// Expressions here have four kinds of names: iteration names (of nests and groups), which
// `bindings` replace by expressions of loop variables; loop variables (`v0007$`), which are SSA
// values of type i64 in `vars`; size symbols, which are such values too; and `lane$`, the index of
// a vector lane. An address is an expression of loop variables and the lane, simplified with their
// ranges. Its dependence on the lane decides between a scalar load, a vector load and a gather:
//
//     c * v0001$ + 7              a scalar, broadcast when an op combines it with a vector
//     c * v0001$ + lane$          a vector load
//     16 * lane$ + 3              a gather
//
// A value that does not depend on the lane stays scalar until an op combines it with a vector.
// Narrow floats are computed in f32: the stored type is the minimum precision.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_EMITTER_H
#define HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_EMITTER_H

#include "dialects/nest/NestBuild.h"
#include "lib/analysis/ScheduledLoops.h"
#include "lib/analysis/TurnedTile.h"
#include "lib/conversion/nest_to_loops/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <map>
#include <set>

namespace heddle::nest {

using Values = SmallVector<Value>;

/// A tensor in memory. `layout` gives the offset of the element at coordinates c, applied to
/// `fixed` for fixed names and to c - origin for the others.
struct Memory {
  Value base; ///< a pointer
  Layout layout;
  nd::NdTensorType type; ///< names and sizes of the layout, element type in memory
  Replacement fixed;     ///< names that a scan or group has fixed
  Replacement origin;    ///< for a staged copy: coordinates of its first element
  /// Elements are 32-bit pairs of neighbours that may start at any 16-bit element. Offsets count
  /// 16-bit elements.
  bool halves = false;
  int64_t step() const { return halves ? 2 : 1; } ///< from one element to the next
};

/// One vector, or one scalar, of a register tile.
struct Point {
  Replacement values; ///< values of the unrolled loop variables
  int64_t lanes = 0;  ///< width of the vector; 0: scalar
  int64_t active = 0; ///< maximum number of lanes that are points
  Value count;        ///< number of active lanes if known only at run time

  bool isPartial() const { return count || active < lanes; }
};

/// A condition over loop variables.
struct Test {
  Expr expr;
  bool equality = false; ///< expr == 0, else expr >= 0
  auto operator<=>(const Test &other) const {
    int order = expr.compare(other.expr);
    return order ? order <=> 0 : equality <=> other.equality;
  }
  bool operator==(const Test &other) const = default;
  /// The truth value of the condition, if the ranges decide it.
  std::optional<bool> decide(const Ranges &ranges) const;
};

/// The values computed in one straight-line piece of code, for common subexpression elimination.
struct Section {
  struct Read {
    Value value;
    Value included; ///< i1 or a vector of it: false where the point is excluded; null: always
                    ///< included
  };
  std::map<std::pair<Operation *, std::vector<const void *>>, Value> ops;
  std::map<std::pair<const void *, std::string>, Read> reads;
  std::map<std::pair<const void *, std::string>, Value> pointers;
  std::map<std::pair<const void *, std::string>, std::string> gathered;
  /// Transposed blocks, and those of which some rows are not known yet.
  std::map<std::pair<const void *, std::string>, SmallVector<Value>> blocks, pending;
  /// Where the rows of blocks start. All vectors of a block share them.
  std::map<std::pair<const void *, std::string>, SmallVector<Expr>> starts;
};

class Emitter;

/// Computes the innermost tile of a reduction with a unit of the machine. Each read loads the
/// elements that one lane of the unit consumes at once.
class Unit {
public:
  virtual ~Unit() = default;
  /// Reduces the steps of a tile to those at which the unit is used.
  virtual void visit(std::vector<Point> &steps) = 0;
  /// The points other than `point` that the unit computes at `point`.
  virtual std::vector<Point> others(const Point &point) const = 0;
  /// The type of a lane.
  virtual Type laneType(OpBuilder &b) const = 0;
  /// Lanes that hold `number` for the point and for each of the other points.
  virtual Value fill(Emitter &e, Value number) const = 0;
  /// Lanes with the elements at an offset and at the offsets of the other points.
  virtual Value load(Emitter &e, const Memory &source, const Expr &offset, ArrayRef<Expr> others,
                     const Point &point, Value mask, Section &section) const = 0;
  /// Adds the products of both sides, which `load` or `fill` returned, to `total`.
  virtual Value multiply(Emitter &e, Value total, Value left, Value right, int64_t lanes) const = 0;
};

class Emitter {
public:
  Emitter(OpBuilder &builder, Location loc, const KernelRequest &request, const LoopTarget &target)
      : b(builder), loc(loc), machine(request.machine), target(target) {}

  OpBuilder &b;
  Location loc;
  MachineAttr machine;
  const LoopTarget &target;
  DenseMap<Value, Memory> memory;                 ///< of every tensor value in scope
  std::map<std::string, Value, std::less<>> vars; ///< loop variables (i64), and vectors of them
  Ranges ranges;                                  ///< of loop variables
  Replacement bindings;                           ///< iteration names
  std::set<Test> facts; ///< conditions that hold in the code being emitted
  /// Expressions that are not negative because the enclosing loops run only whole steps: `size - 1`
  /// minus the last point.
  std::vector<Expr> within;
  /// An unrolled loop from 0 to `count` over a name other than that of the lanes. Tensors that are
  /// contiguous along it are loaded or stored as vectors along it, a block at a time, and
  /// transposed in registers.
  struct Turn {
    std::string variable;
    int64_t count;
  };
  SmallVector<Turn, 2> turns;
  /// The unit that computes the tile being emitted; null: plain vectors.
  Unit *unit = nullptr;

  /// True if the ranges or the known facts imply that the test holds.
  bool isKnown(const Test &test) const;
  /// A fresh loop variable.
  std::string freshVariable() { return loopVariable(nextVariable++); }
  /// The loops of a nest, with fresh variables.
  ScheduledLoops loopsOf(nd::DimsAttr produced, nd::DimsAttr reduced, const Schedule &schedule,
                         unsigned bits, const UnitUse &use = {}) {
    return scheduledLoops(produced, reduced, schedule, bits, machine, nextVariable, use, lanes > 0);
  }
  void define(const std::string &name, Value value, Range range);
  void forget(const std::string &name);

  // Body.cpp
  /// The type in which elements of `type` are computed.
  Type computeType(Type type) const;
  Value constant(int64_t value) { return mlir::arith::ConstantIntOp::create(b, loc, value, 64); }
  Value splat(Value value, int64_t lanes);
  Value constantOf(TypedAttr value);
  /// Float widening or narrowing.
  Value convert(Value value, Type type);
  /// Runs a scalar region on `arguments` (scalars or vectors) at `point`.
  FailureOr<Values> run(mlir::Region &region, ValueRange arguments, const Point &point,
                        Section &section);
  /// Reduces the lanes of vectors by a combiner.
  FailureOr<Values> foldLanes(mlir::Region &combine, ValueRange vectors, int64_t lanes);
  /// A mask of the lanes that are points of the iteration space.
  Value laneMask(const Point &point);
  /// The conjunction of conditions, any of which may be null or scalar.
  Value both(Value a, Value b);

  // Expressions.cpp
  /// The value of an expression of loop variables, as i64.
  Value emit(const Expr &expr);
  /// The value for every lane, as a vector of i64.
  Value emitLanes(const Expr &expr, int64_t lanes);
  Value emit(const Test &test);
  /// i1, or a vector of it if the test differs from lane to lane.
  Value holds(const Test &test, int64_t lanes);
  /// True if the expression differs from lane to lane.
  bool onLanes(const Expr &expr) const;
  /// Replaces iteration names and unrolled variables in the expression and simplifies it.
  Expr resolve(const Expr &expr, const Point &point) const;

  // Read.cpp
  /// Emits the read of `tensors[index]` at a point. `earlier`: values of the previous reads.
  FailureOr<Section::Read> read(ValueRange tensors, unsigned index, MapAttr map, GuardAttr guard,
                                ArrayRef<Value> earlier, const Point &point, Section &section);
  /// Replaces `read(i)` by a variable with its value.
  Expr bindReads(const Expr &expr, ValueRange tensors, ArrayRef<Value> earlier, Section &section);

  // Access.cpp
  /// The element offset at coordinates given by expressions of loop variables.
  Expr address(const Memory &target, const Replacement &coordinates) const;
  /// Loads and stores elements at an offset, in their compute types. `mask` may be null.
  Value load(const Memory &source, const Expr &offset, const Point &point, Value mask,
             Section &section);
  void store(const Memory &target, const Expr &offset, Value value, const Point &point, Value mask,
             Section &section);
  /// Returns whether a mask, or a scalar condition, holds in any lane.
  Value anyLane(Value mask);
  /// Prefetches the cache line at an offset; `near`: into the first cache, for use very soon.
  void prefetch(const Memory &target, const Expr &offset, Section &section, bool write,
                bool near = false);
  /// Stores a result at the coordinates of the point.
  void storeResult(const Memory &target, Value value, const Point &point, Section &section);

  // NarrowFloats.cpp
  /// Rounds a float to the nearest value of type `element`, in the compute type of `element`.
  Value rounded(Value value, Type element);

  // Kernel.cpp, GroupsAndScans.cpp
  /// Emits a copy that is not part of the kernel's nest.
  LogicalResult emitAddedCopy(ComputeOp copy, const Schedule &schedule);
  LogicalResult emitNest(Operation *nest, const Schedule &schedule, Value chunk);
  /// Allocates scratch of a chunk, or of a block in its shared memory. The caller frees it by
  /// restoring `scratchTop`.
  Value allocateScratch(Expr bytes, StringRef memory = "");
  /// The memory for values that the lanes of a block pass to each other: "shared" if their size is
  /// known and they fit a part of it, 1 / `share`, with all that is there already; else scratch.
  StringRef memoryFor(const Expr &bytes, int64_t share) const;

  Value scratch;     ///< of the lane that runs a chunk alone, or of all lanes of a block
  Expr scratchTop;   ///< bytes in use at the current point of emission; callers restore it
  Expr scratchBytes; ///< maximum of `scratchTop`
  /// The lanes of a block that run the kernel together; 0: one lane runs it.
  int64_t lanes = 0;
  Value lane;                             ///< i64: the number of the lane
  Value shared;                           ///< the memory that the lanes share
  int64_t sharedTop = 0, sharedBytes = 0; ///< as for scratch
  // UpdateLanes.cpp
  /// Each lane combines `value` into the element of `to` at `offset`, which may be that of other
  /// lanes; less than 0: none. All lanes of the block are here.
  LogicalResult combineMeeting(const Memory &to, mlir::Region &combine, Value offset, Value value);
  // LoopLanes.cpp
  /// Lanes that share `memory` wait until all of them are here.
  void barrier(StringRef memory);
  /// Registers of 32 bits in which a lane holds copies, and the most of them.
  int64_t held = 0, mostHeld = 0;
  Expr chunks; ///< number of chunks of the kernel's nest
  std::map<std::string, int64_t, std::less<>> unrollFactors; ///< of loop variables
  /// Loops to unroll after the emission, outer ones first.
  std::vector<std::pair<mlir::scf::ForOp, int64_t>> unrolled;
  /// Ops that describe copies; they are erased when the kernel is complete.
  std::vector<Operation *> temporaries;
  /// The limit of terms and factors of addresses in one kernel, and their current number. Beyond
  /// the limit, and for too large an expression, zeros are emitted and the kernel is rejected.
  static constexpr int64_t mostEmitted = 100000;
  int64_t emitted = 0;
  /// The estimated number of instructions that splitting may still add.
  int64_t splitBudget = 4000;

private:
  unsigned nextVariable = 0;
  Expr clamped(const Expr &coordinate, nd::SizeAttr size, int64_t lanes, Section &section);
  Value fetch(const Memory &source, const Expr &offset, ArrayRef<Expr> others, const Point &point,
              Value mask, Section &section);
  Value fetchScalar(const Memory &source, const Expr &offset, ArrayRef<Expr> others, Point point,
                    Value mask, Section &section);
  LogicalResult emitCompute(ComputeOp op, const Schedule &schedule, Value chunk);
  LogicalResult emitUpdate(UpdateOp op, const Schedule &schedule, Value chunk);
  LogicalResult emitGroup(GroupOp op, const Schedule &schedule, Value chunk);
  LogicalResult emitScan(ScanOp op);
  LogicalResult emitSort(SortOp op, const Schedule &schedule, Value chunk);
  /// Emits the nests of a region whose yielded values are stored in `memories`.
  /// `repeats`: the region runs several times in a chunk.
  LogicalResult emitInner(Block &block, ArrayRef<Memory> memories, bool repeats);
  /// Emits a nest of a region: for all lanes or, if it has no lane form, for the first one.
  LogicalResult emitMember(Operation *nest);
  Value pointer(const Memory &memory, const Expr &offset, Section &section);

  // Transpose.cpp
  /// A square of elements, of which the vector at a point is a row.
  struct Square {
    Turn turn;
    int64_t first;         ///< its first row, as a number of the loop
    int64_t row;           ///< of the vector, in the square
    Point along;           ///< vectors along the loop
    ArrayRef<Expr> starts; ///< of these, one for each active lane
    std::string key;
  };
  /// Returns the square around a point if elements are contiguous along a loop of `turns`.
  std::optional<Square> squareAround(const Memory &memory, const Point &point,
                                     function_ref<Expr(const Point &)> offsetAt,
                                     Section &section) const;
  /// True if a guard is known to hold at all points of the square around a point.
  bool holdsInSquare(GuardAttr guard, const Square &square, Point point) const;
  /// Loads the vector at a point as a row of a square.
  Value loadTurned(const Memory &source, const Square &square, Section &section);
  /// Stores a square when the last of its rows is known.
  void storeTurned(const Memory &target, const Square &square, Value value, Section &section);

  Value offsets(const Memory &memory, const Expr &offset, int64_t lanes);

  // NarrowFloats.cpp
  Value fromStored(Value value, Type element);
  Value toStored(Value value, Type element);
};

/// The values that a loop or branch yields if it carries none.
inline FailureOr<Values> noValues(LogicalResult result) {
  return failed(result) ? FailureOr<Values>(mlir::failure()) : Values();
}
/// `scf.for` from 0 to `count`; `body` has the variable `name`.
LogicalResult forLoop(Emitter &emitter, const std::string &name, int64_t count,
                      function_ref<LogicalResult()> body);
/// As above, with loop-carried values.
FailureOr<Values> forLoop(Emitter &emitter, const std::string &name, Value count, int64_t atMost,
                          ValueRange carried, function_ref<FailureOr<Values>(ValueRange)> body);
/// As above, over [from, to), which lies within [0, atMost].
FailureOr<Values> forLoop(Emitter &emitter, const std::string &name, Value from, Value to,
                          int64_t atMost, ValueRange carried,
                          function_ref<FailureOr<Values>(ValueRange)> body);
/// `scf.if` whose branches yield values; without `otherwise` the else branch yields `carried`.
FailureOr<Values> branch(Emitter &emitter, Value condition, ValueRange carried,
                         function_ref<FailureOr<Values>(ValueRange)> then,
                         function_ref<FailureOr<Values>(ValueRange)> otherwise = nullptr);

/// True if the lanes of vectors at an offset are neighbours in memory.
bool isContiguous(const Memory &memory, const Expr &offset);
/// The layout over the names of a memory that are not fixed.
Layout freeLayout(const Memory &memory);
Expr bytesOf(const Layout &layout, nd::NdTensorType type);
/// True if some size is 0.
bool isEmpty(nd::DimsAttr dims);

} // namespace heddle::nest

#endif // HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_EMITTER_H
