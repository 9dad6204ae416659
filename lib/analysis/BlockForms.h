//===- BlockForms.h - what a block computes ---------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The form of a block is that of what it yields. A value goes by the form of the op that makes it,
// so neither the order of ops nor those that nothing uses show, and what is computed twice is one:
//
//     %a = sin(%x); %b = cos(%y); yield %a * %b
//     %b = cos(%y); %c = exp(%y); %a = sin(%x); yield %b * %a        have one form
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ANALYSIS_BLOCKFORMS_H
#define HEDDLE_ANALYSIS_BLOCKFORMS_H

#include "lib/analysis/Canonical.h"

namespace heddle {

class BlockForms {
public:
  /// The form of an op that has none of its own, such as a call.
  using FormOf = std::function<std::optional<CanonicalForm>(mlir::Operation *)>;

  /// `outside` must outlive this.
  BlockForms(Identify outside, Scope scope, FormOf formOf = nullptr)
      : outside(outside), scope(std::move(scope)), formOf(std::move(formOf)) {}

  void set(mlir::Value value, OperandIdentity identity) { values[value] = std::move(identity); }
  /// Identifies what the ops of `block` make; false if one of them has no form.
  bool visit(mlir::Block &block);
  /// A value of the block, below renames, or of what is around.
  OperandIdentity identify(mlir::Value value);

private:
  Identify outside;
  Scope scope;
  FormOf formOf;
  llvm::DenseMap<mlir::Value, OperandIdentity> values;
};

/// What the `region`-th block of an op yields; its arguments go by their place and the labels of
/// `scope`.
std::string blockText(mlir::Block &block, Identify outside, const Scope &scope, unsigned region);

/// What is quickly seen of an op with regions: which values it reads. Those that differ in it are
/// not compared.
std::string textAtFirstSight(mlir::Operation *op, Identify identify);

/// A short name for a text.
std::string hashed(llvm::StringRef text);

} // namespace heddle

#endif // HEDDLE_ANALYSIS_BLOCKFORMS_H
