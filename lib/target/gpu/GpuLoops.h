//===- GpuLoops.h - GPU parts of the loop emission --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel is a `gpu.func` in a `gpu.module`. A block of lanes runs one chunk together, if the
// nest's schedule has the lane form (lib/analysis/GpuLanes.h); the block shares memory:
//
//     llvm.mlir.global @k.shared() {addr_space = 3} : !llvm.array<8704 x i8>
//     gpu.func @k(...) kernel {
//       %chunk = %first + block_id
//       code for the chunk, which computes its indices from thread_id, and has barriers
//     }
//
// Otherwise a lane runs one chunk:
//
//     gpu.func @k(%x: !llvm.ptr<1>, %x_offset: i64, ..., %n: i64, ...,
//                 %first: i64, %end: i64, %scratch: !llvm.ptr<1>, %stride: i64) kernel {
//       %lane = block_id * block_dim + thread_id
//       %chunk = %first + %lane
//       scf.if %chunk < %end { code for the chunk }
//     }
//
// Each operand and each result is a buffer and an offset in bytes: OpenCL 1.2 has no addresses. The
// size symbols follow. A launch may run only some of the chunks, [first, end): the scratch of its
// i-th chunk starts `i * stride` bytes into the buffer `scratch`.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_GPU_GPULOOPS_H
#define HEDDLE_LIB_TARGET_GPU_GPULOOPS_H

#include "lib/conversion/nest_to_loops/LoopTarget.h"

namespace heddle::gpu {

/// The number of lanes of a block if each runs its own chunk.
inline constexpr int32_t blockLanes = 64;

class GpuLoops : public nest::LoopTarget {
public:
  explicit GpuLoops(nest::MachineAttr machine = {}) : machine(machine) {}

  int64_t mostLanes() const override;
  int64_t mostSharedBytes() const override;
  int64_t mostRegisters() const override;
  int64_t shuffleLanes() const override;
  mlir::Value shuffle(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                      int64_t distance) const override;
  nest::KernelFrame begin(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef symbol,
                          size_t bases, size_t sizes, int64_t lanes) const override;
  void end(mlir::OpBuilder &b, mlir::Location loc, int64_t sharedBytes) const override;
  /// Where one lane runs a chunk alone, its scratch serves as shared memory.
  llvm::SmallVector<llvm::StringRef> memories() const override { return {"", "shared"}; }
  unsigned buffers() const override { return 2; }
  void barrier(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef memory) const override;

private:
  nest::MachineAttr machine;
};

} // namespace heddle::gpu

#endif // HEDDLE_LIB_TARGET_GPU_GPULOOPS_H
