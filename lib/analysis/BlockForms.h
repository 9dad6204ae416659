//===- BlockForms.h - canonical forms of blocks -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The canonical form of a block is built from the values that it yields, and the form of a value
// from the op that defines it. The form therefore does not depend on the order of ops, on unused
// ops, or on whether a value is computed twice:
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
  /// Computes the form of an op for which `canonicalForm` has none, such as a call.
  using FormOf = std::function<std::optional<CanonicalForm>(Operation *)>;

  /// `outside` must outlive this object.
  BlockForms(Identify outside, Surroundings scope, FormOf formOf = nullptr)
      : outside(outside), scope(std::move(scope)), formOf(std::move(formOf)) {}

  void set(Value value, OperandIdentity identity) { values[value] = std::move(identity); }
  /// Identifies the results of the ops of `block`. Returns false if an op has no form.
  bool visit(Block &block);
  /// Identifies a value of the block or of its surroundings, looking through renames.
  OperandIdentity identify(Value value);

private:
  Identify outside;
  Surroundings scope;
  FormOf formOf;
  DenseMap<Value, OperandIdentity> values;
};

/// Returns the text of the values that the `region`-th block of an op yields. It names block
/// arguments by position and by the labels of `scope`.
std::string blockText(Block &block, Identify outside, const Surroundings &scope, unsigned region);

/// Returns a cheap key of an op: its kind and the values that it reads. Ops with different keys are
/// not equal.
std::string quickKey(Operation *op, Identify identify);

/// Returns a short hash of a text, in hexadecimal digits.
std::string hashed(StringRef text);

} // namespace heddle

#endif // HEDDLE_ANALYSIS_BLOCKFORMS_H
