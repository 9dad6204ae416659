//===- GpuLoops.h - GPU parts of the loop emission --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel is a `gpu.func` in a `gpu.module`. A lane runs one chunk:
//
//     gpu.func @k(%x: !llvm.ptr<1>, %x_offset: i64, ..., %n: i64, ...,
//                 %first: i64, %end: i64, %scratch: !llvm.ptr<1>, %stride: i64) kernel {
//       %lane = block_id * block_dim + thread_id
//       %chunk = %first + %lane
//       scf.if %chunk < %end { code for the chunk }
//     }
//
// Each operand and each result is a buffer and an offset in bytes: OpenCL 1.2 has no addresses. The
// size symbols follow. A launch may run only some of the chunks, [first, end): the scratch of lane
// i starts `i * stride` bytes into the buffer `scratch`.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_GPU_GPULOOPS_H
#define HEDDLE_LIB_TARGET_GPU_GPULOOPS_H

#include "lib/conversion/nest_to_loops/LoopTarget.h"

namespace heddle::gpu {

/// The number of lanes of a block.
inline constexpr int32_t blockLanes = 64;

class GpuLoops : public nest::LoopTarget {
public:
  nest::KernelFrame begin(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef symbol,
                          size_t bases, size_t sizes) const override;
  void end(mlir::OpBuilder &b, mlir::Location loc) const override;
  /// Lanes run one after the other in a chunk, so its scratch serves as shared memory.
  llvm::SmallVector<llvm::StringRef> memories() const override { return {"", "shared"}; }
  unsigned buffers() const override { return 2; }
};

} // namespace heddle::gpu

#endif // HEDDLE_LIB_TARGET_GPU_GPULOOPS_H
