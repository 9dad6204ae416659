//===- Nesting.h - limits of nesting depth ----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parsing, walking, cloning, printing and destroying IR all recurse. These functions reject input
// that would overflow the stack, and do not recurse themselves. They check text before it is
// parsed, IR before passes run, and chains of calls before they are inlined:
//
//     for (int i = 0; i < 5000; ++i)
//       y = forLoop(3, y, ...);         // in sequence: any number adds no depth
//     scf.for ... { scf.for ... { ...   // two deep
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ANALYSIS_NESTING_H
#define HEDDLE_ANALYSIS_NESTING_H

#include "lib/support/Mlir.h"

namespace llvm {
class SourceMgr;
} // namespace llvm

namespace heddle {

/// The maximum number of regions around an op within its function.
constexpr unsigned deepestRegion = 1000;
/// The maximum number of ops of a function after inlining and differentiation. Functions that each
/// call the next one twice would otherwise exhaust memory, in a program of a few lines.
constexpr int64_t mostInlinedOps = 500000;
/// The maximum depth of brackets in a text, and of attributes that refer to each other by name. A
/// region may need two brackets.
constexpr unsigned deepestBracket = 2500;

/// The maximum length of an affine map, in characters; its parser recurses over operators.
constexpr unsigned longestAffineMap = 10000;

/// Returns the position at which `text` exceeds a limit, and a description of that limit; null if
/// it exceeds none. Strings and comments are ignored.
std::pair<const char *, const char *> findTooDeep(StringRef text);

/// Rejects the main text of `sources` if it exceeds a limit.
LogicalResult requireShallow(const llvm::SourceMgr &sources);

/// Returns the most deeply nested op of `root`, and the number of regions around it. `within`
/// returns the depth that an op without regions adds, for example that of a call's callee.
std::pair<Operation *, unsigned> deepestOp(Operation *root,
                                           function_ref<unsigned(Operation *)> within = {});

/// Rejects functions with ops that are nested too deep.
LogicalResult requireShallow(ModuleOp module);

} // namespace heddle

#endif // HEDDLE_ANALYSIS_NESTING_H
