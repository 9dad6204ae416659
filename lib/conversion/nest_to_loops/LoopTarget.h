//===- LoopTarget.h - what differs between targets in loops -----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `LoopTarget` is the interface for the target-dependent parts of loop emission. A target derives
// from it and passes it to `emitKernel`:
//
//     emitKernel(request, cpu::CpuLoops(request.machine));
//
// The defaults are correct for a target with plain loops and one memory.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_LOOPTARGET_H
#define HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_LOOPTARGET_H

#include "dialects/nest/Nest.h"

namespace heddle::nest {

/// The arguments of a kernel's function, as values in its body.
struct KernelFrame {
  SmallVector<Value> bases; ///< pointers to its operands, then to its results
  SmallVector<Value> sizes; ///< i64, of the size symbols
  Value chunk;              ///< i64: the index of the chunk to run
  Value scratch;            ///< a pointer
  Value lane;               ///< i64, of the block; null: lanes run one after another
  Value shared;             ///< a pointer to the block's memory; null: scratch serves
};

class LoopTarget {
public:
  virtual ~LoopTarget() = default;

  /// The largest number of lanes of a block that the target runs together, of bytes of memory that
  /// they share, and of registers of 32 bits of each. 0: it has no such lanes, and loops over them
  /// are sequential.
  virtual int64_t mostLanes() const { return 0; }
  virtual int64_t mostSharedBytes() const { return 0; }
  virtual int64_t mostRegisters() const { return 0; }
  /// The number of neighbouring lanes, a power of two, that exchange values without memory; 0:
  /// `shuffle` is not called.
  virtual int64_t shuffleLanes() const { return 0; }
  /// Returns the value of the lane whose number differs in the bit `distance`. All lanes are here.
  virtual Value shuffle(OpBuilder &b, Location loc, Value value, int64_t distance) const {
    return {};
  }

  /// Creates the function of a kernel, and sets the builder's insertion point in its body. If
  /// `lanes` is not 0, a chunk is run by so many lanes together, else by one.
  virtual KernelFrame begin(OpBuilder &b, Location loc, StringRef symbol, size_t bases,
                            size_t sizes, int64_t lanes) const = 0;
  /// Ends the function, which uses `sharedBytes` bytes of the memory that lanes share. The
  /// insertion point is where `begin` has set it, after the kernel's code.
  virtual void end(OpBuilder &b, Location loc, int64_t sharedBytes) const;

  /// The memories that stages may name. "" is among them.
  virtual SmallVector<StringRef> memories() const { return {""}; }
  /// The engines that can copy a stage, in addition to plain code.
  virtual SmallVector<StringRef> engines() const { return {}; }
  /// The maximum number of buffers of a stage.
  virtual unsigned buffers() const { return 1; }
  /// The address `offset` bytes into the kernel's part of a memory; `scratch` is the frame's.
  virtual Value address(OpBuilder &b, Location loc, StringRef memory, Value scratch,
                        Value offset) const;
  /// Emits a barrier among all lanes that fill or read a stage in `memory`.
  virtual void barrier(OpBuilder &b, Location loc, StringRef memory) const {}

  /// Prefetches the cache line at `pointer`; `near`: into the first cache, for use very soon.
  virtual void prefetch(OpBuilder &b, Location loc, Value pointer, bool write, bool near) const {}

  /// True if one instruction gathers `lanes` elements of `bytes` bytes; otherwise they are loaded
  /// one by one.
  virtual bool gathers(int64_t lanes, unsigned bytes) const { return false; }

  /// Adds the products of one step of a unit to `total`. Each side is a vector with as many lanes
  /// as `total`. Null if the target has no instruction for that many lanes.
  virtual Value multiply(OpBuilder &b, Location loc, MatrixUnitAttr unit, Value total, Value left,
                         Value right) const {
    return {};
  }
};

} // namespace heddle::nest

#endif // HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_LOOPTARGET_H
