//===- LoopTarget.h - what differs between targets in loops -----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The emission of a nest as loops is the same for all targets but for what it asks here. A target
// derives from `LoopTarget` and gives it to `emitKernel`:
//
//     emitKernel(request, cpu::CpuLoops(request.machine));
//
// A question whose answer is the same for whoever has plain loops and one memory has it as its
// default.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_LOOPTARGET_H
#define HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_LOOPTARGET_H

#include "dialects/nest/Nest.h"

namespace heddle::nest {

/// What the function of a kernel is given, as values in its body.
struct KernelFrame {
  llvm::SmallVector<mlir::Value> bases; ///< !llvm.ptr, of its operands, then of its results
  llvm::SmallVector<mlir::Value> sizes; ///< i64, of the size symbols
  mlir::Value chunk;                    ///< i64: which part of the shared steps it runs
  mlir::Value scratch;                  ///< !llvm.ptr
};

class LoopTarget {
public:
  virtual ~LoopTarget() = default;

  /// Makes the function of a kernel at the builder, which is left inside of its body.
  virtual KernelFrame begin(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef symbol,
                            size_t bases, size_t sizes) const = 0;

  /// The memories that stages may name. "" is among them.
  virtual llvm::SmallVector<llvm::StringRef> memories() const { return {""}; }
  /// What can copy a stage, beside plain code.
  virtual llvm::SmallVector<llvm::StringRef> engines() const { return {}; }
  /// The most buffers of a stage.
  virtual unsigned buffers() const { return 1; }
  /// The address `offset` bytes into what a kernel has of a memory; `scratch` is the frame's.
  virtual mlir::Value address(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef memory,
                              mlir::Value scratch, mlir::Value offset) const;
  /// Makes all that fill a stage in `memory`, or read it, wait for one another.
  virtual void barrier(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef memory) const {}

  /// Asks for the line at `pointer`, which will be used soon; `near`: so soon that it should lie in
  /// the first cache.
  virtual void prefetch(mlir::OpBuilder &b, mlir::Location loc, mlir::Value pointer, bool write,
                        bool near) const {}

  /// Whether one instruction gathers so many elements of so many bytes; else they are loaded one by
  /// one.
  virtual bool gathers(int64_t lanes, unsigned bytes) const { return false; }

  /// `total` with the products of one visit of a unit, each side of which is a vector with a lane
  /// for each of `total`. Null if the target has no instruction for so many lanes.
  virtual mlir::Value multiply(mlir::OpBuilder &b, mlir::Location loc, MatrixUnitAttr unit,
                               mlir::Value total, mlir::Value left, mlir::Value right) const {
    return {};
  }
};

} // namespace heddle::nest

#endif // HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_LOOPTARGET_H
