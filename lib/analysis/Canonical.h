//===- Canonical.h - canonical forms up to renaming -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names have no order and no meaning, so two ops are equal if some renaming maps one to the other.
// `canonicalise` gives every name of an op a label that depends only on its uses:
//
//     reduce %x over [k]  (x: {k: 4, m: 3})     and     reduce %y over [p]  (y: {p: 4, q: 3})
//
// both become the text `reduce over [d0] of {d0: 4, d1: 3}`, with labels {k: d0, m: d1} and
// {p: d0, q: d1}; composing them gives the renaming.
//
// The algorithm is colour refinement: an op is printed with colours for its names. A name's new
// colour is the text in which only that name is marked; this is repeated until no colour splits. If
// several names still share a colour, each of them is marked in turn, and the smallest text is
// chosen. So a symmetric op (a matrix times its transpose) has only one form.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ANALYSIS_CANONICAL_H
#define HEDDLE_ANALYSIS_CANONICAL_H

#include "dialects/nest/Nest.h"

namespace heddle {

/// Maps each name to its label in a text.
using Labels = std::map<std::string, std::string, std::less<>>;
/// The label of a name, or the name if it has none.
std::string labelOf(const Labels &labels, StringRef name);

struct CanonicalForm {
  std::string text;
  Labels labels; ///< `d0`, `d1`, ... by name
  /// Sets of names whose labels can be exchanged without changing the text.
  std::vector<std::vector<std::string>> alike;
};

/// Returns the smallest text over all labellings that are consistent with the refined colours.
/// `text` must depend on names only through the labels, which are identifiers.
CanonicalForm canonicalise(ArrayRef<std::string> names,
                           function_ref<std::string(const Labels &)> text);

/// Returns the texts of the values that a scalar block yields, with operands of commutative ops in
/// canonical order. They do not depend on the order of ops or on shared subexpressions. `leaves`
/// are the texts of the arguments.
std::vector<std::string> scalarTexts(Block &block, ArrayRef<std::string> leaves,
                                     const Labels &labels);

/// An operand for CSE: the value, and the mapping of its names to the operand's names.
struct OperandIdentity {
  std::string value;
  Labels names; ///< maps the value's names to the names of the operand's type
};

using Identify = function_ref<OperandIdentity(Value)>;

/// The context of an op within others: the labels of the names of enclosing groups, and the number
/// of enclosing ops.
struct Surroundings {
  Labels labels;
  unsigned depth = 0;
};

/// Returns true for ops of nd and nests, ops on scalars, and recurrences, groups, branches and
/// loops of these, at most two levels deep. Returns false for calls.
bool hasForm(Operation *op);

/// Returns the form of an op up to renaming of its dimensions and the order of operands of
/// commutative ops. The form of an op with regions is built from the values that they yield
/// (lib/analysis/BlockForms.h). Returns none unless `hasForm`.
std::optional<CanonicalForm> canonicalForm(Operation *op, Identify identify,
                                           const Surroundings &scope = {});

/// `v3{row = d0, column = d1}` for a tensor whose own names are `d0` and `d1` here.
std::string operandText(const OperandIdentity &operand, Type type, const Labels &labels);
/// Returns the text of an op without its regions.
std::string headText(Operation *op, ArrayRef<OperandIdentity> operands, const Labels &labels);

/// Returns the text of an op, with its regions, under the given labels.
std::optional<std::string> textUnder(Operation *op, ArrayRef<OperandIdentity> operands,
                                     const Labels &labels);

/// A cache that maps the text of a kernel, with names in the listed order, to the labels of these
/// names. A deep program has few kernels and many nests.
using KnownKernels = llvm::StringMap<std::vector<std::string>>;

/// Labels of a `nest.compute` or `nest.update` as a kernel: iteration names by their spelling, the
/// names of the i-th distinct operand as `<i>.<name>`, and the operand itself as `<i>`. `layoutOf`
/// gives the layout of an operand.
Labels canonicalKernel(Operation *nest, function_ref<nest::LayoutAttr(Value)> layoutOf,
                       KnownKernels &known);
/// Labels of a nest that contains others, such as a recurrence: all names in it, at any depth.
/// `operands` are the values that it uses from outside, in order.
Labels canonicalTree(Operation *nest, ArrayRef<Value> operands,
                     function_ref<nest::LayoutAttr(Value)> layoutOf);

} // namespace heddle

#endif // HEDDLE_ANALYSIS_CANONICAL_H
