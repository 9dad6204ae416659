//===- Emitter.h - the state of emitting one kernel -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared by the parts of the emitter: Loops.cpp (loops and tiles), Access.cpp (addresses, loads, stores), Body.cpp (scalar
// regions on vectors).
//
// Computation happens on scalars or on vectors of `lanes` elements. A value that does not depend on the lane
// stays scalar until it meets a vector. bf16 and f16 are computed in f32: a stored type is the least precision.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_EMITTER_H
#define HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_EMITTER_H

#include "dialects/nest/NestBuild.h"
#include "lib/conversion/nest_to_loops/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <map>

namespace heddle::nest {

/// The name of the loop variable that counts lanes.
inline constexpr const char *laneName = "lane$";

/// A tensor in memory, with some of its names fixed (the slices of a scan).
struct Memory {
  mlir::Value base; ///< !llvm.ptr
  Layout layout;
  nd::NdTensorType type; ///< with all names of the layout
  std::map<std::string, Expr, std::less<>> fixed;
};

/// One vector, or one scalar, of a register tile: values of the unrolled loop variables, and how many lanes are real.
struct Point {
  std::map<std::string, Expr, std::less<>> values;
  int64_t lanes = 0;  ///< width of the vector; 0: scalar
  int64_t active = 0; ///< lanes that are points of the iteration space
};

class Emitter {
public:
  Emitter(mlir::OpBuilder &builder, mlir::Location loc, MachineAttr machine)
      : b(builder), loc(loc), machine(machine) {}

  mlir::OpBuilder &b;
  mlir::Location loc;
  MachineAttr machine;
  llvm::DenseMap<mlir::Value, Memory> memory;            ///< of every tensor value in reach
  std::map<std::string, mlir::Value, std::less<>> vars;  ///< loop variables (i64)
  Ranges ranges;                                         ///< their ranges
  std::map<std::string, Expr, std::less<>> bindings;     ///< iteration name -> expression of loop variables

  // Body.cpp
  /// The type in which elements of `type` are computed.
  mlir::Type computeType(mlir::Type type) const;
  mlir::Value constant(int64_t value) { return mlir::arith::ConstantIntOp::create(b, loc, value, 64); }
  mlir::Value splat(mlir::Value value, int64_t lanes);
  mlir::Value constantOf(mlir::TypedAttr value);
  /// Runs a scalar region on `arguments` (scalars or vectors) at `point`. Equal computations at different points are
  /// made once, as long as `cache` lives.
  using Cache = std::map<std::pair<mlir::Operation *, std::vector<void *>>, mlir::Value>;
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> run(mlir::Region &region, mlir::ValueRange arguments,
                                                      const Point &point, Cache &cache);
  /// Folds the lanes of a vector by a combiner.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> foldLanes(mlir::Region &combine, mlir::ValueRange vectors,
                                                            int64_t lanes);

  // Access.cpp
  /// The value of an expression of loop variables, as i64.
  mlir::Value emit(const Expr &expr);
  /// The value for every lane, as a vector of i64.
  mlir::Value emitLanes(const Expr &expr, int64_t lanes);
  /// Iteration names and unrolled variables replaced, and simplified.
  Expr resolve(const Expr &expr, const Point &point) const;
  /// Reads of one region evaluation. `values[i]`: the value of read i at the point, once made.
  struct ReadResult {
    mlir::Value value;
    mlir::Value included; ///< i1 or a vector of it: false where the point is excluded; null: always included
  };
  using LoadCache = std::map<std::pair<void *, std::string>, ReadResult>;
  mlir::FailureOr<ReadResult> read(mlir::Value tensor, MapAttr map, GuardAttr guard,
                                   llvm::ArrayRef<mlir::Value> earlier, const Point &point, LoadCache &cache);
  void store(const Memory &target, mlir::Value value, const Point &point);
  /// The element offset of a tensor's element at the place that `map` gives (identity if null).
  Expr address(const Memory &target, MapAttr map, const Point &point, const nd::NdTensorType &type) const;

  mlir::Value loadScalar(mlir::Value base, mlir::Value offset, mlir::Type element);
  void storeScalar(mlir::Value base, mlir::Value offset, mlir::Type element, mlir::Value value);

  // Loops.cpp
  mlir::LogicalResult emitNest(mlir::Operation *nest, const Schedule &schedule, mlir::Value chunk);
  /// Scratch that a value of `bytes` gets; the same for every chunk.
  mlir::Value allocateScratch(int64_t bytes);

  mlir::Value scratch;
  int64_t scratchBytes = 0;
  int64_t chunks = 1;
  unsigned nextVariable = 0;

private:
  mlir::LogicalResult emitCompute(ComputeOp op, const Schedule &schedule, mlir::Value chunk);
  mlir::LogicalResult emitUpdate(UpdateOp op);
  mlir::LogicalResult emitGroup(GroupOp op, const Schedule &schedule, mlir::Value chunk);
  mlir::LogicalResult emitScan(ScanOp op);
  mlir::LogicalResult emitInner(mlir::Block &block);
  mlir::Value pointer(mlir::Value base, mlir::Value offset, mlir::Type element);
  mlir::Value fromStored(mlir::Value value, mlir::Type element);
  mlir::Value toStored(mlir::Value value, mlir::Type element);
  mlir::Value loadVector(mlir::Value base, const Expr &offset, mlir::Type element, const Point &point,
                         mlir::Value mask, mlir::Value otherwise);
  friend class ComputeEmitter;
};

/// A loop variable counts iterations of `scf.for`; body gets it bound under `name` with range [0, count).
mlir::LogicalResult forLoop(Emitter &emitter, const std::string &name, int64_t count,
                            llvm::function_ref<mlir::LogicalResult()> body);

} // namespace heddle::nest

#endif // HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_EMITTER_H
