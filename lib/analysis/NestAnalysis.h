//===- NestAnalysis.h - questions about nests -------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What fusion, layout assignment and scheduling ask about nests. Every answer comes from structure
// (sizes, maps, guards, the ops of a region), never from what an op is called, and none of these
// functions rewrites anything. Sizes must be constant.
//
//     %c = nest.compute (m: 64, n: 32) reduce (k: 16) reads %a[], %b[] { product } combine add
//
//     points           32768                     isContraction   yes, factors %a and %b
//     %a walks         k, m  by 1 along k and m   %a lacks        n: each element is used 32 times
//     footprint of %a in a tile (m: 14, n: 32, k: 16): 14 * 16 elements
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ANALYSIS_NESTANALYSIS_H
#define HEDDLE_ANALYSIS_NESTANALYSIS_H

#include "dialects/nest/Nest.h"

namespace heddle {

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

/// One read of a nest.
struct NestRead {
  unsigned operand = 0; ///< among the op's maps and guards
  mlir::Value value;
  nest::MapAttr map;
  nest::GuardAttr guard;
  bool inFinish = false;
};

/// The reads of a compute or update op (without the update's destination), those of the body first.
llvm::SmallVector<NestRead> readsOf(mlir::Operation *nest);

/// How the place that a read reads moves with one iteration name.
struct Stride {
  std::string name; ///< a name of the tensor
  int64_t step =
      0; ///< what one step of the iteration name adds; 0 where that is not the same everywhere
};
/// The tensor names that move with the iteration name, sorted; empty if the read lacks it.
llvm::SmallVector<Stride> stridesOf(nest::MapAttr map, llvm::StringRef iterationName);
/// The tensor name along which steps of the iteration name are steps of one, and which is the only
/// one to move; else "".
std::string contiguousAlong(nest::MapAttr map, llvm::StringRef iterationName);

//===----------------------------------------------------------------------===//
// Amounts
//===----------------------------------------------------------------------===//

/// Points of the iteration space (produced and reduced names, or an update's space).
double iterationPoints(mlir::Operation *nest);
double pointsOf(nd::DimsAttr dims);
/// Bytes of an element (i1 counts as one), and of a whole tensor.
double elementBytes(mlir::Type element);
double tensorBytes(mlir::Value tensor);

/// What one run of a region costs, in simple vector operations: constants and what depends on
/// coordinates alone are free, a division counts as 6, exp and its like as 20.
double costOf(mlir::Region &region);
/// Arithmetic of the whole nest, and of the nests within a group or a scan, in the same unit.
double arithmeticOf(mlir::Operation *nest);

/// The number of distinct elements that a read touches while each iteration name walks `extents`
/// steps (names that are missing walk none). An upper bound: exact for affine maps with unit steps.
double footprint(nest::MapAttr map, nd::NdTensorType type, const Sizes &extents);
/// Bytes that a nest must move at least: the footprint of each distinct operand, and its results.
double trafficOf(mlir::Operation *nest);
/// How often each element of a read is used: points per touched element.
double reuseOf(mlir::Operation *nest, const NestRead &read);

/// The cost model by which nests are fused, of a nominal core: the seconds that a nest takes alone.
/// It runs at the rate of its arithmetic or of its memory, whichever is slower, and costs a little
/// to start. Sums of products, which keep their operands in registers, reach four times the rate of
/// other arithmetic. Tensors that fit in a cache move faster. The result depends on the nest alone,
/// so that every machine takes the same decisions.
double secondsOf(mlir::Operation *nest);
/// The same for work that is no sum of products, all of which bytes come from memory.
double secondsOf(double arithmetic, double bytes);

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

/// The body is a product of at least two of its reads (possibly converted to a wider type), which
/// are added up.
struct Contraction {
  llvm::SmallVector<unsigned> factors; ///< body reads, each once
};
std::optional<Contraction> contractionOf(nest::ComputeOp nest);

/// The nest hands elements on and computes nothing: one read, no reduction, no finish.
bool onlyMoves(nest::ComputeOp nest);
/// The map reads at plain iteration names, each once: entry `tensor name` to `iteration name`.
std::optional<std::map<std::string, std::string, std::less<>>> renamingOf(nest::MapAttr map);

//===----------------------------------------------------------------------===//
// Liveness
//===----------------------------------------------------------------------===//

/// The values of a block over the order of its ops. A value is live from the op that makes it (-1:
/// an argument) to its last use, both included.
class TensorLiveness {
public:
  explicit TensorLiveness(mlir::Block &block);
  struct Interval {
    int64_t first = -1, last = -1;
  };
  Interval operator[](mlir::Value value) const { return intervals.lookup(value); }
  int64_t positionOf(mlir::Operation *op) const { return positions.lookup(op); }
  /// Bytes of tensors made in the block and live while op `position` runs.
  double bytesAt(int64_t position) const { return live[size_t(position)]; }
  /// The largest of these: no plan needs less.
  double peakBytes() const;

private:
  llvm::DenseMap<mlir::Value, Interval> intervals;
  llvm::DenseMap<mlir::Operation *, int64_t> positions;
  std::vector<double> live;
};

} // namespace heddle

#endif // HEDDLE_ANALYSIS_NESTANALYSIS_H
