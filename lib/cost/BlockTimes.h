//===- BlockTimes.h - when the ops of a block run ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops of a block as tasks in time (TaskTimes.h). Nests run on the stream of their device,
// collectives on its links, one for each axis of the mesh. A value that an op of another device
// reads is sent there on the link of the device that has it:
//
//     %h = nest.compute ...    on device 0     0 to 5 us
//                              on its link     5 to 17 us: %h
//     %y = nest.compute %h     on device 1     17 to 22 us
//
// A loop of which it is known how often its function runs takes as often the time of the function.
//
// If cores move data (Link), a transfer first occupies the stream for that time, and then its link;
// unless the next op waits for it.
//
// Without places, a block runs on one device. In the given order, a collective begins when the
// stream reaches it, if its operands are there and its link is free, and the stream goes on.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COST_BLOCKTIMES_H
#define HEDDLE_LIB_COST_BLOCKTIMES_H

#include "lib/cost/NestFacts.h"
#include "lib/cost/TaskTimes.h"
#include "lib/support/Mlir.h"
#include "runtime/format/MeshSpec.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"

#include <functional>
#include <optional>

namespace heddle::cost {

/// Of a loop (nest.control): how often its function runs. A loop without it, or a branch, takes no
/// time.
inline constexpr llvm::StringLiteral turnsAttrName("heddle.turns");
/// How often the function of a loop runs, and which it is; none of other ops.
std::optional<std::pair<double, mlir::func::FuncOp>> turnsOf(mlir::Operation *op);

/// The devices that run ops and hold arguments, by number; none: each reader does so itself, which
/// takes no time and no memory.
struct Places {
  unsigned devices = 1;
  std::function<std::optional<unsigned>(Operation *)> ofOp;
  std::function<std::optional<unsigned>(mlir::BlockArgument)> ofArgument;
  /// By number; a result that another device computes is sent there, and held to the end.
  std::function<std::optional<unsigned>(unsigned)> ofResult;
  AxisList axes; ///< of the mesh, along which values are sent
};

struct BlockTimesOptions {
  TaskTimes::Order order = TaskTimes::Order::Given; ///< on streams
  Places places;
  /// Ops that take no time, such as transfers that will overlap with others.
  std::function<bool(Operation *)> isFree;
  double scale = 1; ///< of the times of nests
  /// Seconds of a nest that are known, if not null; none: those of the cost model.
  std::function<std::optional<double>(Operation *)> secondsOf;
  Knowledge known = Knowledge::Nothing; ///< of nests: by default only their sizes count
};

class BlockTimes {
public:
  BlockTimes(Block &block, const BlockTimesOptions &options);

  /// In picoseconds from the beginning of the block. The terminator takes no time.
  int64_t begin(Operation *op) const { return times.begin(taskOf.lookup(op)); }
  int64_t end(Operation *op) const { return times.end(taskOf.lookup(op)); }
  int64_t end() const { return times.end(); }
  /// The maximum number of bytes that a device holds. Arguments are held throughout.
  int64_t mostBytes(unsigned device = 0) const { return times.mostBytes(device); }
  /// The bytes that devices hold over time.
  const std::vector<TaskTimes::Held> &held() const { return times.held(); }

private:
  TaskTimes times;
  DenseMap<Operation *, unsigned> taskOf;

  class Filler;
};

} // namespace heddle::cost

#endif // HEDDLE_LIB_COST_BLOCKTIMES_H
