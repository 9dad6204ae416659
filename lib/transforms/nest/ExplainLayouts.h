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
//     gap 3 %     nest 'd' along m       costs 20.4k cycles more than along n in the cheapest choice
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_EXPLAINLAYOUTS_H
#define HEDDLE_LIB_TRANSFORMS_NEST_EXPLAINLAYOUTS_H

#include "lib/transforms/nest/LayoutProblem.h"

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
    mlir::Location loc;
    bool given = false;                ///< by the user, or by the boundary of the function
    std::vector<Alternative> others{}; ///< the cheapest first
    std::vector<Use> uses{};
  };
  struct Nest {
    std::string name, lanes; ///< "along n" or "one by one"
    mlir::Location loc;
    double cycles = 0; ///< of its arithmetic
    std::vector<Alternative> others{};
  };

  /// Why the choice may cost more than the bound: a nest costs more than in the cheapest choice.
  struct Excess {
    unsigned nest = 0;
    double cycles = 0;
    std::string instead; ///< the lanes in that choice
  };

  mlir::func::FuncOp function;
  std::vector<Value> values;
  std::vector<Nest> nests;
  unsigned copies = 0;          ///< through which nests access values
  double cycles = 0, bound = 0; ///< of the choice; of any choice, at least
  double boundOfLanes = 0;      ///< of any choice with the same lanes
  std::vector<Excess> excess;   ///< the largest first
  std::vector<unsigned> open;   ///< values for which the search ended early
};

/// Returns the reasons for a choice, whose bound is that of its lanes. `all` has all ways that a
/// nest had in some round, with the cheapest choice known, whose nests need not run in these ways
/// (schedule/ChooseLanes.h).
ExplainedLayouts explainLayouts(mlir::func::FuncOp function, const LayoutProblem &problem,
                                const LayoutChoice &choice, const LayoutProblem &all,
                                const LayoutChoice &least);
/// Prints them as remarks.
void emitRemarks(const ExplainedLayouts &explained);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_EXPLAINLAYOUTS_H
