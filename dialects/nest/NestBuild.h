//===- NestBuild.h - making and looking at nests ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `NestBuilder` collects what a nest.compute consists of and makes it:
//
//     NestBuilder nest(builder, loc);
//     nest.produced = dims of m, n;  nest.reduced = dims of k;
//     nest.read(a, MapAttr::identity(typeOf(a)));  nest.read(b, ...);
//     ComputeOp op = nest.create({f32}, [](OpBuilder &b, Location loc, ValueRange x) { return mulf(x[0], x[1]); },
//                                CombinerKind::Add);
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECTS_NEST_NESTBUILD_H
#define HEDDLE_DIALECTS_NEST_NESTBUILD_H

#include "dialects/nest/Nest.h"

namespace heddle::nest {

using RegionBody =
    llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>;

struct NestBuilder {
  mlir::OpBuilder &builder;
  mlir::Location loc;
  nd::DimsAttr produced, reduced;
  llvm::SmallVector<mlir::Value> reads, finishReads;
  llvm::SmallVector<mlir::Attribute> maps, guards, finishMaps, finishGuards;

  NestBuilder(mlir::OpBuilder &builder, mlir::Location loc);

  /// Adds a read of the body; a null guard always holds. Returns its number.
  unsigned read(mlir::Value value, MapAttr map, GuardAttr guard = {});
  unsigned finishRead(mlir::Value value, MapAttr map, GuardAttr guard = {});

  /// Makes the op. `elements` are the results' element types; `body` fills the body. With reduced names `kind` on
  /// `accumulator` (default: the body's type, floats narrower than f32 in f32) combines.
  ComputeOp create(mlir::TypeRange elements, RegionBody body,
                   nd::CombinerKind kind = nd::CombinerKind::General, bool isSigned = true);
  /// Makes the op with regions moved from elsewhere; empty ones stay empty.
  ComputeOp create(mlir::TypeRange resultTypes, mlir::Region &body, mlir::Region &combine, mlir::Region &finish,
                   mlir::ArrayAttr neutral);

private:
  ComputeOp createOp(mlir::TypeRange resultTypes, mlir::ArrayAttr neutral);
};

nd::NdTensorType tensorTypeOf(mlir::Value value);
/// The ranges of the iteration names of a nest and of the groups around it. Sizes must be constant.
Ranges iterationRanges(mlir::Operation *nest);
/// Sizes of a dims list by name; all must be constant.
Sizes sizesOf(nd::DimsAttr dims);
/// True if the conditions hold for all points of `ranges`.
bool alwaysHolds(GuardAttr guard, const Ranges &ranges);
/// The guard without conditions that always hold, expressions simplified.
GuardAttr simplifyGuard(GuardAttr guard, const Ranges &ranges);
MapAttr simplifyMap(MapAttr map, const Ranges &ranges);

} // namespace heddle::nest

#endif // HEDDLE_DIALECTS_NEST_NESTBUILD_H
