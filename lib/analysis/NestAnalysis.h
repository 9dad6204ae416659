//===- NestAnalysis.h - sizes, costs and structure of nests -----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Analyses of nests for fusion, layout assignment and scheduling. They depend only on structure
// (sizes, maps, guards, the ops of a region), never on the name of an op, and rewrite nothing.
// Symbolic sizes count as their typical values.
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
  Value value;
  nest::MapAttr map;
  nest::GuardAttr guard;
  bool inFinish = false;
};

/// Returns the reads of a compute or update op (without the update's destination), those of the
/// body first.
SmallVector<NestRead> readsOf(Operation *nest);

namespace nest {
/// Returns the arguments of a kernel for `nest`: its operands and, for groups and scans, the values
/// that their regions capture, each once, in the order of first use.
SmallVector<Value> kernelOperands(Operation *nest);

/// Adds the iteration names on which the coordinates of a read depend, including dependence through
/// reads.
void addNames(ComputeOp nest, MapAttr map, std::set<std::string> &names);
} // namespace nest

//===----------------------------------------------------------------------===//
// Labels
//===----------------------------------------------------------------------===//

/// The name of an op in messages for users: its attribute `heddle.name`, by default the op's name.
std::string nameOf(Operation *op);
/// `name` with the prefix of the layer in which an op at `loc` was written, if any (a NameLoc,
/// created by a LayerScope of the builder): "layers.3.attention: reduce".
std::string inLayer(Location loc, StringRef name);
/// The name of an op with the prefix of its layer.
inline std::string labelOf(Operation *op) { return inLayer(op->getLoc(), nameOf(op)); }

//===----------------------------------------------------------------------===//
// Amounts
//===----------------------------------------------------------------------===//

/// Returns the points of the iteration space (produced and reduced names, or an update's space).
double iterationPoints(Operation *nest);
double pointsOf(nd::DimsAttr dims);
/// Return the bytes of an element (i1 counts as one byte), of a whole tensor, and of several.
double elementBytes(Type element);
double tensorBytes(Value tensor);
double tensorBytes(ValueRange tensors);
/// Returns the bytes that operand and result of a transfer have in common: the smaller size of each
/// name; `isWhole`: the larger one. The second function returns the bytes that a device sends.
double sharedBytes(Value from, Value to, bool isWhole = false);
double sentBytes(nest::TransferInterface transfer);

/// Calls `act` with the ops of a region in order, without those that depend on coordinates alone:
/// these are uniform over a vector, or loop-invariant.
void forEachVaryingOp(mlir::Region &region, function_ref<void(Operation &)> act);
/// Returns the cost of one execution of a region, in simple vector operations. Constants and ops
/// that depend only on coordinates are free; a division counts as 6, functions such as exp as 20.
double costOf(mlir::Region &region);
/// Returns true for functions such as exp, which expand to about a hundred instructions.
bool isFunction(Operation &scalar);
/// Returns the arithmetic of the whole nest, and of the nests within a group or a scan, in the same
/// unit.
double arithmeticOf(Operation *nest);

/// Returns an upper bound of the number of distinct elements that a read touches while each
/// iteration name takes `extents` steps (missing names take none). It is exact for affine maps with
/// unit steps.
double footprint(nest::MapAttr map, nd::NdTensorType type, const Sizes &extents);

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

/// A nest that sums the product of at least two of its reads (possibly converted to a wider type).
struct Contraction {
  SmallVector<unsigned> factors; ///< body reads, each once
};
std::optional<Contraction> contractionOf(nest::ComputeOp nest);

/// Returns true if the nest only copies elements: it has one read, no reduction and no finish, and
/// computes nothing.
bool onlyMoves(nest::ComputeOp nest);
/// If every coordinate of the map is an iteration name, each used once, returns the map from tensor
/// names to iteration names.
std::optional<Labels> renamingOf(nest::MapAttr map);
/// Returns true if the nest yields a whole value, possibly under other names.
bool isRenaming(nest::ComputeOp nest);

} // namespace heddle

#endif // HEDDLE_ANALYSIS_NESTANALYSIS_H
