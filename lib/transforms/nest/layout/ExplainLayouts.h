//===- ExplainLayouts.h - why values have their layouts ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The decisions of a choice of layouts, and what other decisions would cost: the record from which
// remarks are printed, and from which tools make JSON and pages.
//
//     value 'w'   [k, n], given          by the caller
//     value 'c'   [m, n]                 [n, m] would cost 43.9k cycles more
//     nest 'c'    along n                along m would cost 12.1k cycles more
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_EXPLAINLAYOUTS_H
#define HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_EXPLAINLAYOUTS_H

#include "lib/transforms/nest/layout/LayoutProblem.h"

#include "mlir/IR/Location.h"

namespace heddle::nest {

struct ExplainedLayouts {
  /// Another decision, all others as chosen except how the nests concerned run.
  struct Alternative {
    std::string what;
    double cycles = 0; ///< more than the chosen one costs
  };
  /// A nest that reads or writes a value.
  struct Use {
    unsigned nest = 0;
    double cycles = 0;
    std::string copy; ///< the layout of a copy that it accesses instead; empty: none
  };
  struct Value {
    std::string name, layout;
    Location loc;
    bool given = false;                ///< by the user, or by the boundary of the function
    std::vector<Alternative> others{}; ///< the cheapest first
    std::vector<Use> uses{};
  };
  struct Nest {
    std::string name, lanes; ///< "along n" or "one by one"
    Location loc;
    double cycles = 0; ///< of its arithmetic
    std::vector<Alternative> others{};
  };

  func::FuncOp function;
  std::vector<Value> values;
  std::vector<Nest> nests;
  unsigned copies = 0;          ///< through which nests access values
  double cycles = 0, bound = 0; ///< of the choice; of any choice, at least
  std::vector<unsigned> open;   ///< values for which the search ended early
};

ExplainedLayouts explainLayouts(func::FuncOp function, const LayoutProblem &problem,
                                const LayoutChoice &choice);
/// Prints them as remarks.
void emitRemarks(const ExplainedLayouts &explained);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_EXPLAINLAYOUTS_H
