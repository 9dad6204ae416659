//===- NestAnalysis.h - questions about nests -------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What fusion, layout assignment and scheduling ask about nests. Every answer comes from structure
// (sizes, maps, guards, the ops of a region), never from what an op is called, and none of these
// functions rewrites anything. Sizes over symbols count as their typical values.
//
//     %c = nest.compute (m: 64, n: 32) reduce (k: 16) reads %a[], %b[] { product } combine add
//
//     iteration points  32768                    contraction     of the factors %a and %b
//     footprint of %a in a tile (m: 14, n: 32, k: 16): 14 * 16 elements
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ANALYSIS_NESTANALYSIS_H
#define HEDDLE_ANALYSIS_NESTANALYSIS_H

#include "lib/analysis/Canonical.h"

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

namespace nest {
/// What a kernel for `nest` is given: its operands, and for groups and scans the values that their
/// regions capture, each once, in the order of first use.
llvm::SmallVector<mlir::Value> kernelOperands(mlir::Operation *nest);

} // namespace nest

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
/// True for exp and its like, which become some hundred instructions.
bool isFunction(mlir::Operation &scalar);
/// Arithmetic of the whole nest, and of the nests within a group or a scan, in the same unit.
double arithmeticOf(mlir::Operation *nest);

/// The number of distinct elements that a read touches while each iteration name walks `extents`
/// steps (names that are missing walk none). An upper bound: exact for affine maps with unit steps.
double footprint(nest::MapAttr map, nd::NdTensorType type, const Sizes &extents);

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
std::optional<Labels> renamingOf(nest::MapAttr map);
/// True if the nest gives all of a value under other names (or the same).
bool isRenaming(nest::ComputeOp nest);

} // namespace heddle

#endif // HEDDLE_ANALYSIS_NESTANALYSIS_H
