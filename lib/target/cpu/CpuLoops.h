//===- CpuLoops.h - CPU parts of the loop emission --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel is a function of the type in runtime/format/Abi.h. Threads fetch chunks, which are the
// steps of the levels `thread`, `grid`, `cluster` and `block`. The warps and lanes of a block run
// sequentially in one thread, so its shared memory is the thread's scratch and needs no barriers.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_CPU_CPULOOPS_H
#define HEDDLE_LIB_TARGET_CPU_CPULOOPS_H

#include "lib/conversion/nest_to_loops/LoopTarget.h"

namespace heddle::cpu {

class CpuLoops : public nest::LoopTarget {
public:
  explicit CpuLoops(nest::MachineAttr machine) : machine(machine) {}

  nest::KernelFrame begin(OpBuilder &b, Location loc, StringRef symbol, size_t bases, size_t sizes,
                          int64_t lanes) const override;
  SmallVector<StringRef> memories() const override { return {"", "shared"}; }
  /// The cache serves as the second buffer: the lines of the next copy are prefetched.
  unsigned buffers() const override { return 2; }
  void prefetch(OpBuilder &b, Location loc, Value pointer, bool write, bool near) const override;
  bool gathers(int64_t lanes, unsigned bytes) const override;
  Value multiply(OpBuilder &b, Location loc, nest::MatrixUnitAttr unit, Value total, Value left,
                 Value right) const override;

private:
  nest::MachineAttr machine;
};

} // namespace heddle::cpu

#endif // HEDDLE_LIB_TARGET_CPU_CPULOOPS_H
