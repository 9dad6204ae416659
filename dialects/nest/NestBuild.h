//===- NestBuild.h - building and querying nests ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `NestBuilder` collects the parts of a nest and creates it:
//
//     NestBuilder nest(builder, loc);
//     nest.produced = dims of m, n;  nest.reduced = dims of k;
//     nest.read(a, MapAttr::identity(tensorType(a)));  nest.read(b, ...);
//     ComputeOp op = nest.create({f32}, [](OpBuilder &b, Location loc, ValueRange x) {
//       return SmallVector<Value>{arith::MulFOp::create(b, loc, x[0], x[1])};
//     }, CombinerKind::Add);
//
// A pass that changes the reads of a nest starts from the existing op:
//
//     NestBuilder nest(builder, op);
//     nest.maps[1] = simplifyMap(nest.map(1), iterationRanges(op));
//     ComputeOp changed = nest.createLike(op);      // the regions are cloned
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECTS_NEST_NESTBUILD_H
#define HEDDLE_DIALECTS_NEST_NESTBUILD_H

#include "dialects/nest/Nest.h"

#include "llvm/ADT/StringSet.h"

namespace heddle::nest {

using RegionBody = function_ref<SmallVector<Value>(OpBuilder &, Location, ValueRange)>;

struct NestBuilder {
  OpBuilder &builder;
  Location loc;
  nd::DimsAttr produced, reduced;
  SmallVector<Value> reads, finishReads;
  SmallVector<Attribute> maps, guards, finishMaps, finishGuards;

  NestBuilder(OpBuilder &builder, Location loc);
  /// Copies the space and the reads of `op`.
  NestBuilder(OpBuilder &builder, ComputeOp op);

  /// Adds a read of the body; without a map each name is read at its own coordinate, and a null
  /// guard always holds. Returns its index.
  unsigned read(Value value, MapAttr map = {}, GuardAttr guard = {});
  unsigned finishRead(Value value, MapAttr map, GuardAttr guard = {});
  /// Adds a read that is zero at points where one of the expressions is negative.
  unsigned readOrZero(Value value, MapAttr map, ArrayRef<Expr> atLeastZero);
  MapAttr map(unsigned i) const { return llvm::cast<MapAttr>(maps[i]); }
  GuardAttr guard(unsigned i) const { return llvm::cast<GuardAttr>(guards[i]); }

  /// Creates the op. `elements` are the results' element types; `body` fills the body from one
  /// scalar per read. If there are reduced names, `kind` combines; floats narrower than f32 are
  /// combined in f32. `finish` (if given) gets the accumulators and one scalar per finish read.
  ComputeOp create(TypeRange elements, RegionBody body,
                   nd::CombinerKind kind = nd::CombinerKind::General, bool isSigned = true,
                   RegionBody finish = nullptr);
  /// The same with any combiner, which gets the accumulators, then the elements, in the types of
  /// `neutral`.
  ComputeOp create(TypeRange elements, RegionBody body, ArrayRef<TypedAttr> neutral,
                   RegionBody combine, RegionBody finish = nullptr);
  /// Creates the op and moves the given regions into it; empty ones stay empty.
  ComputeOp create(TypeRange resultTypes, mlir::Region &body, mlir::Region &combine,
                   mlir::Region &finish, ArrayAttr neutral);
  /// Creates an op whose result has the elements of the last read. Returns the result.
  Value createCopy();
  /// Creates an op that combines the elements of all reads over `reduced`. `combine` is copied; its
  /// terminator may belong to another dialect.
  ComputeOp createReduction(TypeRange elements, mlir::Region &combine, ArrayAttr neutral);
  /// Creates an op that differs from `op` only in space and reads: regions, neutral elements,
  /// element types, layouts and the schedule are copied. Without `hasFinish` its results are the
  /// accumulators.
  ComputeOp createLike(ComputeOp op, bool hasFinish = true);
  /// Creates an update over `produced` with the body's reads; `combine` gets (old, new).
  UpdateOp createUpdate(Value dest, MapAttr destMap, RegionBody body, RegionBody combine,
                        bool unique = false);
  /// Creates an update that writes the elements of the last read to distinct positions. Returns the
  /// result.
  Value createWrite(Value dest, MapAttr destMap);

private:
  ComputeOp createOp(TypeRange resultTypes, ArrayAttr neutral);
  SmallVector<Type> resultTypes(TypeRange elements) const;
  void fill(mlir::Region &region, TypeRange arguments, RegionBody body);
};

/// Creates a nest over `dims` that copies `value`, read at these coordinates, and along other names
/// at its own. The coordinates may refer to `numbers`, as read(0), read(1), ...
Value copyAt(OpBuilder &b, Location loc, Value value, nd::DimsAttr dims, const ExprMap &at = {},
             GuardAttr guard = {}, ValueRange numbers = {});
/// The reverse: creates an update of `whole` by all of `value`.
Value writeAt(OpBuilder &b, Location loc, Value whole, Value value, const ExprMap &at,
              ValueRange numbers = {});
/// Creates a nest whose result has this value, or zero, in all elements.
Value filled(OpBuilder &b, Location loc, nd::NdTensorType type, TypedAttr value);
Value zeros(OpBuilder &b, Location loc, nd::NdTensorType type);
/// The zero of a tensor's scalar type.
TypedAttr zeroOf(nd::NdTensorType type);
/// The guard that holds if no expression is negative; it always holds if there are none.
GuardAttr guardOf(MLIRContext *context, ArrayRef<Expr> atLeastZero, TypedAttr otherwise = {});

/// The scalar types of tensors, as regions see them.
SmallVector<Type> scalarTypesOf(ValueRange tensors);
/// The element types of tensors.
SmallVector<Type> elementTypesOf(ValueRange tensors);
/// The tensor that `op` updates: the destination of an update; otherwise null.
Value updatedBy(Operation *op);
/// The iteration space of a compute op: produced and reduced names.
nd::DimsAttr iterationSpace(ComputeOp op);
/// The ranges of the iteration names of the nests and groups around an op, itself included, for all
/// values of size symbols. The range of an empty name is [0, 0].
Ranges iterationRanges(Operation *op);
/// Replaces size symbols by their typical values. Names for which `iterates` holds, loop variables
/// and reads are kept.
Expr atTypical(const Expr &expr, function_ref<bool(const std::string &)> iterates);
/// Emits an expression of coordinates, size symbols and the values of `reads` as scalar ops.
Value emitIndex(OpBuilder &b, Location loc, const Expr &expr, ValueRange reads = {});
/// Sizes of a dims list by name; symbols count as their typical value.
Sizes sizesOf(nd::DimsAttr dims);
/// The free names of an update, each with the destination's name that it determines: points that
/// differ in a free name write different elements. `owned`: only names that are themselves the
/// coordinate and cover its whole size.
std::map<std::string, std::string> freeNames(UpdateOp op, bool owned = false);
/// The schedule of a nest; one without loops if there is none.
Schedule scheduleOf(Operation *nest);
/// Removes conditions that always hold, and simplifies expressions.
GuardAttr simplifyGuard(GuardAttr guard, const Ranges &ranges);
MapAttr simplifyMap(MapAttr map, const Ranges &ranges);

/// Converts between the index of a read and its variable in expressions, such as `read(3)`.
std::string readName(unsigned index);
std::optional<unsigned> readIndex(StringRef name);
/// True if the map, or the expression, depends on the value of a read.
bool isGathered(const Expr &expr);
bool isGathered(MapAttr map);

} // namespace heddle::nest

#endif // HEDDLE_DIALECTS_NEST_NESTBUILD_H
