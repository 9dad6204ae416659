//===- NameRewriter.h - renames dimensions in IR ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names of dimensions and size symbols stand in types, and in attributes of nd and nest ops.
// Inlining, neutral names and kernel texts replace them everywhere by this one class:
//
//     NameRewriter rewriter;
//     rewriter.names["row"] = "d0";
//     rewriter.symbols["N"] = Expr(4);
//     rewriter.rewrite(op);  // {row: N} is {d0: 4}, [row = row + 1] is [d0 = d0 + 1]
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ANALYSIS_NAMEREWRITER_H
#define HEDDLE_ANALYSIS_NAMEREWRITER_H

#include "lib/analysis/Canonical.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

namespace heddle {

/// Replaces names in types and attributes, and symbols in sizes. Names that are not listed stay.
class NameRewriter {
public:
  NameRewriter() = default;
  explicit NameRewriter(Labels names) : names(std::move(names)) {}

  Labels names;
  ExprMap symbols;
  /// If set, collects every name that is met.
  llvm::StringSet<> *seen = nullptr;

  bool isIdentity() const { return names.empty() && symbols.empty() && !seen; }
  std::string operator()(llvm::StringRef name) const;
  mlir::Type rewrite(mlir::Type type) const;
  nd::DimsAttr rewrite(nd::DimsAttr dims) const;
  /// The names of the tensor, left of `=`, are replaced by `tensor`.
  nest::MapAttr rewrite(nest::MapAttr map, const NameRewriter &tensor) const;
  /// The names of operand i, which stages copy, are replaced by `operands[i]`.
  nest::ScheduleAttr rewrite(nest::ScheduleAttr schedule,
                             llvm::ArrayRef<NameRewriter> operands) const;
  mlir::Attribute rewrite(mlir::Attribute attr) const;
  /// The attributes of `op` alone, without its regions.
  void rewriteAttributes(mlir::Operation *op) const;
  /// Attributes and types of an op and of all within it.
  void rewrite(mlir::Operation *op) const;
  /// A nest whose operands have their new types already: names of iteration
  /// by this, those of read i by `reads[i]` (they stay if there is none), those of results by `results`.
  void rewriteNest(nest::LoopNestInterface nest, llvm::ArrayRef<NameRewriter> reads,
                   const NameRewriter &results) const;
  /// Everything in a function: its ops and type, layouts of arguments and results.
  void rewrite(mlir::func::FuncOp function) const;

private:
  Expr rewriteIndex(const Expr &expr) const;
};

/// Names by what they are replaced by.
Labels inverse(const Labels &names);
/// All names of dimensions in `root`: in types, and in attributes of nd and nest ops.
llvm::StringSet<> collectNames(mlir::Operation *root);
/// The first of `ky$1`, `ky$2`, ... that is not in `taken`, for the base `ky` or `ky$2`; adds it to
/// `taken`.
std::string freshName(llvm::StringRef base, llvm::StringSet<> &taken);

} // namespace heddle

#endif // HEDDLE_ANALYSIS_NAMEREWRITER_H
