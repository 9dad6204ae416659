//===- Nesting.h - how deep things lie inside of each other -----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parsing, walking, cloning, printing and destroying IR all recurse, so what is too deep for their
// stack has to be found before, by loops that need none: in text before it is parsed, in IR before
// passes see it, and in chains of calls before they are inlined:
//
//     for (int i = 0; i < 5000; ++i)
//       y = forLoop(3, y, ...);         // one after the other: no depth, whatever their number
//     scf.for ... { scf.for ... { ...   // two deep
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ANALYSIS_NESTING_H
#define HEDDLE_ANALYSIS_NESTING_H

#include "mlir/IR/BuiltinOps.h"

namespace llvm {
class SourceMgr;
} // namespace llvm

namespace heddle {

/// Most regions around an op within its function.
constexpr unsigned deepestRegion = 1000;
/// Most ops that calls and requests for derivatives may make of a function: a text of a few lines
/// may ask for more than any machine holds, by functions that each call the next one twice.
constexpr int64_t mostInlinedOps = 500000;
/// Most brackets around a place of a text, and attributes that stand in each other by name. A
/// region may need two.
constexpr unsigned deepestBracket = 2500;

/// Most characters of an affine map, whose operators are read one inside of the other.
constexpr unsigned longestAffineMap = 10000;

/// Where `text` exceeds these, and what it has too much of; a null pointer if it nowhere does.
/// Strings and comments do not count.
std::pair<const char *, const char *> findTooDeep(llvm::StringRef text);

/// Refuses the main text of `sources` where it exceeds them.
mlir::LogicalResult requireShallow(const llvm::SourceMgr &sources);

/// The op of `root` that most regions of `root` are around, and their number. `within` tells how
/// many more an op without regions stands for, as a call does for those of what it calls.
std::pair<mlir::Operation *, unsigned>
deepestOp(mlir::Operation *root, llvm::function_ref<unsigned(mlir::Operation *)> within = {});

/// Refuses functions with ops that are too deep.
mlir::LogicalResult requireShallow(mlir::ModuleOp module);

} // namespace heddle

#endif // HEDDLE_ANALYSIS_NESTING_H
