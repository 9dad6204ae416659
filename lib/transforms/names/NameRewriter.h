//===- NameRewriter.h - renames dimensions in IR ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Types, and attributes of nd and nest ops, contain names of dimensions and size symbols. Inlining,
// neutral names and kernel texts all use this class to replace them:
//
//     NameRewriter rewriter;
//     rewriter.names["row"] = "d0";
//     rewriter.symbols["N"] = Expr(4);
//     rewriter.rewrite(op);  // {row: N} is {d0: 4}, [row = row + 1] is [d0 = d0 + 1]
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NAMES_NAMEREWRITER_H
#define HEDDLE_LIB_TRANSFORMS_NAMES_NAMEREWRITER_H

#include "lib/analysis/Canonical.h"

#include "llvm/ADT/StringSet.h"

namespace heddle {

/// Replaces names in types and attributes, and symbols in sizes. Keeps names that are not listed.
class NameRewriter {
public:
  NameRewriter() = default;
  explicit NameRewriter(Labels names) : names(std::move(names)) {}

  Labels names;
  ExprMap symbols;
  /// If set, collects every name that the rewriter visits.
  llvm::StringSet<> *seen = nullptr;

  bool isIdentity() const { return names.empty() && symbols.empty() && !seen; }
  std::string operator()(StringRef name) const;
  Type rewrite(Type type) const;
  nd::DimsAttr rewrite(nd::DimsAttr dims) const;
  /// `tensor` replaces the names of the tensor, left of `=`.
  nest::MapAttr rewrite(nest::MapAttr map, const NameRewriter &tensor) const;
  /// `operands[i]` replaces the names of operand i in the stages that copy it.
  nest::ScheduleAttr rewrite(nest::ScheduleAttr schedule, ArrayRef<NameRewriter> operands) const;
  Attribute rewrite(Attribute attr) const;
  /// Rewrites the attributes of `op`, without its regions.
  void rewriteAttributes(Operation *op) const;
  /// Rewrites attributes and types of an op and of all ops in it.
  void rewrite(Operation *op) const;
  /// Rewrites a nest whose operands already have their new types. This object replaces iteration
  /// names, `reads[i]` the names of read i (which stay if there is no `reads[i]`), and `results`
  /// the names of the results.
  void rewriteNest(nest::LoopNestInterface nest, ArrayRef<NameRewriter> reads,
                   const NameRewriter &results) const;
  /// Rewrites a whole function: its ops, its type, and the layouts of arguments and results.
  void rewrite(func::FuncOp function) const;

private:
  Expr rewriteIndex(const Expr &expr) const;
  std::optional<NameRewriter> inside(Operation *op) const;
};

/// Returns the inverse map, from labels to names.
Labels inverse(const Labels &names);
/// Returns all names of dimensions in `root`: in types, and in attributes of nd and nest ops.
llvm::StringSet<> collectNames(Operation *root);
/// Returns the first of `ky$1`, `ky$2`, ... that is not in `taken`, for the base `ky` or `ky$2`,
/// and adds it to `taken`.
std::string freshName(StringRef base, llvm::StringSet<> &taken);

} // namespace heddle

#endif // HEDDLE_LIB_TRANSFORMS_NAMES_NAMEREWRITER_H
