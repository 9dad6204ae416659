//===- Plan.h - meshes and shardings by rules -------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan is a mesh and rules that shard arguments by their names:
//
//     data=2,model=2                the axes of the mesh; the last one varies fastest over devices
//     batch:data                    the name batch of every argument, over the axis data
//     net.wide/hidden:model         the name hidden of arguments such as net.wide.weight
//     state.*/hidden:data+model     over both axes, data outermost
//     net/hidden:                   over none, whatever the other rules imply
//     hidden:data(2)4               over the part of 4 devices of the axis data that follows one of 2
//     net.last@stage=1              arguments such as net.last.weight are on the devices of stage 1 only
//
// A pattern is a list of words between dots, which match such a list anywhere in the `nd.name` of an
// argument; `*` in a word matches any letters. Axes of earlier rules are propagated first. Of several
// rules for one name of an argument, the last counts, and so it does of several places. An axis with
// places splits no name: its coordinates are roles (Roles.h).
//
// A plan file has a line `mesh data=2,model=2` and one rule a line; `#` begins a comment.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_PLAN_H
#define HEDDLE_LIB_TRANSFORMS_MESH_PLAN_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace heddle::mesh {

struct PlanAxis {
  std::string name;
  int64_t before = 1, count = 0; ///< as of `Axis`
};

struct PlanRule {
  std::string text; ///< as it was written
  std::string pattern, name;
  std::vector<PlanAxis> axes;
  int64_t coordinate = -1; ///< of a place, which has one axis and no name; -1: it splits a name

  bool isPlace() const { return coordinate >= 0; }

  /// True if the pattern is one of an argument that is called `argument`.
  bool fits(llvm::StringRef argument) const;
};

struct Plan {
  std::vector<std::pair<std::string, int64_t>> mesh;
  std::vector<PlanRule> rules;

  bool empty() const { return mesh.empty() && rules.empty(); }
  /// Adds axes and rules. Returns what is wrong with them; empty if nothing is.
  std::string parse(llvm::StringRef axes, llvm::ArrayRef<std::string> shard);
  /// Adds the lines of a plan file.
  std::string parseFile(llvm::StringRef text);

private:
  std::string parseMesh(llvm::StringRef text);
  std::string parseRule(llvm::StringRef text);
};

/// Writes the plan to the module and the arguments of its public functions. An empty plan changes
/// nothing.
mlir::LogicalResult applyPlan(mlir::ModuleOp module, const Plan &plan);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_PLAN_H
