//===- OperatorRules.h - shardings of operators by rules --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules of a plan that name operators (lib/support/PlanFile.h) become `mesh.sharding` of nests:
//
//     op net.w/in:data        the nest that sums net.w over `in` gets {in: [data] priority 1}
//     op net.w@stage=1        all nests of net.w get {stage = 1}, a place (PlaceOps.h)
//     recompute net.w         its nests are repeated for the gradients that read them
//                             (CloneForwardOps.h)
//
// Rules spell names as the user does, although names are neutral here. They wait in `mesh.rules` of
// the module, since there are no nests where the plan is read.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_PROPAGATE_OPERATORRULES_H
#define HEDDLE_LIB_TRANSFORMS_MESH_PROPAGATE_OPERATORRULES_H

#include "dialects/mesh/MeshDialect.h"
#include "lib/analysis/CanonicalNames.h"
#include "lib/analysis/Operators.h"
#include "lib/support/PlanFile.h"

namespace heddle::mesh {

class OperatorRules {
public:
  /// Reads the rules of a module.
  static FailureOr<OperatorRules> of(ModuleOp module);
  /// States the shardings of a function's nests, and repeats nests. `mesh` may be null. Fails with
  /// a message if an axis would split two names of an operator.
  LogicalResult apply(func::FuncOp function, MeshAttr mesh);
  /// Fails with a message if a rule matched no operator of any function; it names the nearest one.
  LogicalResult reportUnused(ModuleOp module) const;

private:
  std::vector<MeshRule> rules; ///< all; the place of one is its priority
  std::vector<bool> used;
  /// The operators of all functions with their iteration names, for messages.
  std::vector<std::pair<std::string, std::vector<std::string>>> known;

  /// States the place of the operator's nests by the rules that have one.
  void place(const Operator &each, MeshAttr mesh);
  /// True if a rule says that its values are computed again.
  bool isRecomputed(const std::string &name);
  LogicalResult apply(const Operator &each, MeshAttr mesh, const Labels &spelled);
};

/// Reports the operators of a function in remarks:
///     remark: operator 'net.w': (batch: 5, out: 2) reduce (in: 3), 2 nests
void listOperators(func::FuncOp function);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_PROPAGATE_OPERATORRULES_H
