//===- CanonicalNames.h - a canonical order of names ------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pass that chooses among names has to break ties, and the result must not depend on spelling.
// `canonicalNames` lists all names of a function in an order that depends only on their uses:
//
//     f(x: {row: 8, k: 4}, y: {k: 4}) = sum over k of x * y     k, row, in any spelling
//
// The algorithm is colour refinement over the whole function. All names begin with one colour. A
// name's new colour is the text of all ops that mention it, with that name marked and the others
// printed as their colours; values are printed as their defining ops. This is repeated until no
// colour splits. If names still share a colour (rows and columns of a square image), one of them is
// marked, and refinement continues.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ANALYSIS_CANONICALNAMES_H
#define HEDDLE_ANALYSIS_CANONICALNAMES_H

#include "dialects/mesh/MeshDialect.h"
#include "lib/analysis/Canonical.h"

#include <string>
#include <vector>

namespace heddle {

std::vector<std::string> canonicalNames(mlir::FunctionOpInterface function);

/// The attribute in which `nd-neutral-names` keeps the users' names of a function, by neutral name
/// (lib/transforms/nd/NeutralNames.h).
inline constexpr StringLiteral spellingsAttrName = "heddle.names";
/// The users' names, by the neutral names of a function.
Labels spellings(Operation *function);

/// The text of a sharding under labels, independent of the order of names.
std::string shardingText(mesh::ShardingAttr sharding, const Labels &labels);

} // namespace heddle

#endif // HEDDLE_ANALYSIS_CANONICALNAMES_H
