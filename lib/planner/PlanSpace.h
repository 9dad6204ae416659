//===- PlanSpace.h - the plans of a program ---------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The plans that a search chooses from. Each operator (lib/analysis/Operators.h) has one choice: it
// follows its neighbours by propagation, or each axis splits one of the names over which it
// iterates, produced or summed, or none:
//
//     net.w (batch: 8, out: 4) reduce (in: 6)      axes data=2, model=2
//
//     choice 0                                     no rule
//     choice 1 to 16                               none, batch, in or out for each axis, such as
//                                                  op .net.w./batch:data
//                                                  op .net.w./in:
//                                                  op .net.w./out:model
//
// Every point is a plan that the compiler takes. Rules of arguments are the same for all points.
//
// A plan can pin operators: those that its rules split are no choices. And it can ban splits:
//
//     pin op last/out:model      last.weight is split so at all points
//     ban op net.w/in:data       no point splits `in` of net.w over `data`; so net.w never follows
//                                its neighbours, which might
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PLANNER_PLANSPACE_H
#define HEDDLE_LIB_PLANNER_PLANSPACE_H

#include "heddle/MeshRule.h"
#include "lib/planner/MetropolisSearch.h"
#include "lib/planner/Topology.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <random>
#include <set>

namespace heddle::planner {

class PlanSpace {
public:
  /// The space of a function of nests. Pins and bans are rules of operators.
  PlanSpace(mlir::func::FuncOp function, const Topology &topology,
            llvm::ArrayRef<MeshRule> pins = {}, llvm::ArrayRef<MeshRule> bans = {});

  /// The number of choices of each operator.
  std::vector<unsigned> choices() const;
  /// A point whose only rules are those of operators with bans, which it does not split: all else
  /// follows from the arguments.
  Point start() const { return Point(operators.size()); }
  /// The point that has these rules for operators. If there is none, sets `wrong` to a rule that no
  /// point has.
  std::optional<Point> pointOf(const std::vector<std::string> &rules, std::string &wrong) const;
  /// A random point. The number of operators with rules is drawn first, few as often as many, so
  /// that some points are near to the start.
  Point draw(std::mt19937_64 &engine) const;
  /// False if a name would have more parts than coordinates.
  bool isAllowed(const Point &point) const;
  /// The rules for operators, sorted by name.
  std::vector<std::string> rules(const Point &point) const;
  /// The number of points, as a power of ten.
  double digits() const;

private:
  struct Each {
    std::string name;
    std::vector<std::pair<std::string, int64_t>>
        names; ///< that have several coordinates, and sizes
    std::set<std::pair<std::string, std::string>> bans = {}; ///< names, and axes
  };
  std::vector<Each> operators; ///< that have such names
  std::vector<Topology::Axis> axes;

  /// The number of choices, the first ones, by which an operator follows its neighbours: one, but
  /// none with bans.
  static unsigned withoutRules(const Each &each) { return each.bans.empty() ? 1 : 0; }
  /// The name that each axis splits, counted from 1; 0: none.
  std::vector<unsigned> namesOf(const Each &each, unsigned choice) const;
  std::vector<std::string> rulesOf(const Each &each, unsigned choice) const;
};

/// The message of the first pin that contradicts a ban or another pin; empty if none does.
std::string contradiction(llvm::ArrayRef<MeshRule> pins, llvm::ArrayRef<MeshRule> bans);

/// The name that samples have: the one that most inputs have, among names that no parameter (an
/// argument with a next value) has. Data parallelism splits it. Empty if there is none.
std::string sampleName(mlir::func::FuncOp function);

} // namespace heddle::planner

#endif // HEDDLE_LIB_PLANNER_PLANSPACE_H
