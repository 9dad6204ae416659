//===- LayoutProposals.h - layouts that nests propose -----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layouts that nests propose for the values that they access, with weights. The heaviest ones
// become the candidates of a value:
//
//     c[m, n] = sum over k of a[m, k] * b[k, n]      d[m, n] = relu(c[m, n])
//
//     lanes n:    b in [k, n] or [n floordiv 32, k, n mod 32], c in [m, n], a in [m, k]
//     d:          what c's nest proposes for c, at half the weight
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_LAYOUTPROPOSALS_H
#define HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_LAYOUTPROPOSALS_H

#include "lib/analysis/NestModel.h"
#include "lib/transforms/nest/layout/LayoutValues.h"

namespace heddle::nest {

struct Proposal {
  Layout layout;
  double weight;
  int64_t changed; ///< when it was added or its weight last grew
  size_t hash;     ///< of the layout; most comparisons end with it
};

class LayoutProposals {
public:
  explicit LayoutProposals(const LayoutValues &values)
      : values(values), proposals(values.values.size()) {}

  /// Ignores layouts that do not fit. Equal proposals have the weight of the heaviest.
  void add(Value value, Layout layout, double weight);
  /// Returns the proposals for the tensor of an access that are new, or whose weight grew, since
  /// the last call for that access. A fixed layout is one.
  std::vector<Proposal> takeNew(const NestAccess &access);
  /// Returns the fixed layout of a value, then the heaviest proposals, and row-major if none is
  /// fixed.
  std::vector<Layout> candidates(unsigned value) const;

private:
  const LayoutValues &values;
  std::vector<std::vector<Proposal>> proposals; ///< of each value
  int64_t changes = 1;                          ///< of proposals, so far
  /// `changes` when the proposals for an access were last taken.
  DenseMap<const NestAccess *, int64_t> taken;
};

/// Proposes layouts for the operands and the result of a reduction, by the ways to run it.
void proposeForReduction(const NestModel &nest, LayoutProposals &proposals);
/// Proposes layouts for gathered and scattered tensors: their rows should be contiguous, so a name
/// that does not depend on gathered values is innermost.
void proposeForGathers(const NestModel &nest, LayoutProposals &proposals);
/// Proposes the layouts of each operand and result of a nest for the others, through its maps.
void translateProposals(const NestModel &nest, LayoutProposals &proposals);

/// Returns the iteration name that represents a coordinate, or -1: for a window `row + ky` the
/// larger one.
int principalOf(const NestModel &nest, const Coordinate &coordinate);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_LAYOUTPROPOSALS_H
