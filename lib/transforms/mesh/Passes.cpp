//===- Passes.cpp - passes on meshes --------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each pass only calls the function with its name.
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/Passes.h"
#include "lib/transforms/mesh/partition/LiftOverDevices.h"
#include "lib/transforms/mesh/partition/Partition.h"
#include "lib/transforms/mesh/propagate/ApplyPlan.h"
#include "lib/transforms/mesh/propagate/OperatorRules.h"
#include "lib/transforms/mesh/propagate/Propagate.h"
#include "lib/transforms/mesh/roles/CheckMessageOrder.h"
#include "lib/transforms/mesh/roles/Roles.h"
#include "lib/transforms/mesh/transfers/Bucket.h"
#include "lib/transforms/mesh/transfers/FormTransfers.h"
#include "lib/transforms/mesh/transfers/ScansToLoops.h"
#include "lib/transforms/mesh/transfers/StartEarly.h"

namespace heddle::mesh {
#define GEN_PASS_DEF_MESHBUCKETPASS
#define GEN_PASS_DEF_MESHFORMTRANSFERSPASS
#define GEN_PASS_DEF_MESHLISTOPERATORSPASS
#define GEN_PASS_DEF_MESHPARTITIONPASS
#define GEN_PASS_DEF_MESHPLANPASS
#define GEN_PASS_DEF_MESHPROPAGATEPASS
#define GEN_PASS_DEF_MESHROLESPASS
#define GEN_PASS_DEF_MESHSCANLOOPSPASS
#define GEN_PASS_DEF_MESHSIMULATEPASS
#define GEN_PASS_DEF_MESHSTARTEARLYPASS
#include "lib/transforms/mesh/Passes.h.inc"
} // namespace heddle::mesh

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

/// Calls `rewrite` for the functions that devices run, with their mesh. Skips functions without a
/// mesh, and those that are partitioned already.
static LogicalResult forEachEntry(ModuleOp module,
                                  function_ref<LogicalResult(func::FuncOp, MeshAttr)> rewrite) {
  DenseSet<Operation *> inner = functionsOfControl(module);
  for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    MeshAttr mesh = meshOf(function);
    if (!mesh || function.isExternal() || inner.contains(function) || isPartitioned(function))
      continue;
    for (Type type : function.getArgumentTypes())
      if (!isa<nd::NdTensorType>(type))
        return function.emitError() << "expected named tensors as arguments, got " << type;
    if (failed(rewrite(function, mesh)))
      return failure();
  }
  return success();
}

/// The sizes of blocks, and of their padding, have to fit 64-bit numbers.
static LogicalResult checkSizes(func::FuncOp function, MeshAttr mesh) {
  int64_t most = INT64_MAX - mesh.devices();
  auto check = [&](ValueRange values) {
    for (Value value : values)
      if (auto tensor = dyn_cast<nd::NdTensorType>(value.getType()))
        for (const nd::Dim &dim : tensor.getDims())
          if (auto size = dim.size().constant(); size && *size > most)
            return WalkResult(emitError(value.getLoc())
                              << "expected sizes of at most " << most << " on a mesh of "
                              << mesh.devices() << " devices, got " << *size << " for '"
                              << dim.name.getValue() << "'");
    return WalkResult::advance();
  };
  auto each = [&](Block *block) { return check(block->getArguments()); };
  auto made = [&](Operation *op) { return check(op->getResults()); };
  return failure(function.walk(each).wasInterrupted() || function.walk(made).wasInterrupted());
}

namespace {
struct MeshPlanPass : mesh::impl::MeshPlanPassBase<MeshPlanPass> {
  using MeshPlanPassBase::MeshPlanPassBase;
  void runOnOperation() override {
    Plan given;
    std::string problem = plan.empty() ? "" : given.readFile(plan);
    if (problem.empty())
      problem = given.parse(mesh, llvm::to_vector(shard));
    if (!problem.empty()) {
      getOperation().emitError() << problem;
      return signalPassFailure();
    }
    for (const auto &[word, setting] : given.settings)
      if (word == "zero" || word == "micro-batches")
        getOperation().emitWarning() << setting.where << ": '" << word << " " << setting.text
                                     << "' applies to trainers only, and is ignored here";
    if (failed(applyPlan(getOperation(), given)))
      signalPassFailure();
  }
};
struct MeshListOperatorsPass : mesh::impl::MeshListOperatorsPassBase<MeshListOperatorsPass> {
  void runOnOperation() override {
    listOperators(getOperation());
    markAllAnalysesPreserved();
  }
};
struct MeshPropagatePass : mesh::impl::MeshPropagatePassBase<MeshPropagatePass> {
  using MeshPropagatePassBase::MeshPropagatePassBase;
  /// Rules also say what one device computes again.
  LogicalResult applyWithoutMesh(OperatorRules &rules) {
    DenseSet<Operation *> inner = functionsOfControl(getOperation());
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (!meshOf(function) && !function.isExternal() && !inner.contains(function) &&
          failed(rules.apply(function, {})))
        return failure();
    return success();
  }
  void runOnOperation() override {
    auto rules = OperatorRules::of(getOperation());
    if (failed(rules) || failed(applyWithoutMesh(*rules)) ||
        failed(forEachEntry(getOperation(),
                            [&](func::FuncOp function, MeshAttr mesh) {
                              return failed(checkSizes(function, mesh)) ||
                                             failed(rules->apply(function, mesh))
                                         ? failure()
                                         : propagate(function, mesh, {explain, record});
                            })) ||
        failed(rules->reportUnused(getOperation())))
      signalPassFailure();
  }
};
struct MeshPartitionPass : mesh::impl::MeshPartitionPassBase<MeshPartitionPass> {
  using MeshPartitionPassBase::MeshPartitionPassBase;
  void runOnOperation() override {
    if (failed(forEachEntry(getOperation(), [&](func::FuncOp function, MeshAttr mesh) {
          return partition(function, mesh, double(ring));
        })))
      return signalPassFailure();
    // In functions without a mesh, and in those that nest.control calls.
    getOperation().walk([](ConstrainOp op) {
      op.replaceAllUsesWith(op.getInput());
      op.erase();
    });
  }
};
struct MeshRolesPass : mesh::impl::MeshRolesPassBase<MeshRolesPass> {
  using MeshRolesPassBase::MeshRolesPassBase;
  void runOnOperation() override {
    if (failed(splitRoles(getOperation())) || failed(checkMessageOrder(getOperation())))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (explain && Role::of(function))
        explainMessages(function);
  }
};
struct MeshFormTransfersPass : mesh::impl::MeshFormTransfersPassBase<MeshFormTransfersPass> {
  using MeshFormTransfersPassBase::MeshFormTransfersPassBase;
  void runOnOperation() override {
    MeshAttr mesh = meshOf(getOperation());
    if (!mesh || getOperation().isExternal())
      return;
    if ((explain || record) && isPartitioned(getOperation()))
      describeCollectives(getOperation(), mesh, {explain, record});
    formTransfers(getOperation());
  }
};
struct MeshScanLoopsPass : mesh::impl::MeshScanLoopsPassBase<MeshScanLoopsPass> {
  void runOnOperation() override {
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (MeshAttr mesh = meshOf(function); mesh && !function.isExternal())
        lowerScansToLoops(function, mesh);
  }
};
struct MeshBucketPass : mesh::impl::MeshBucketPassBase<MeshBucketPass> {
  using MeshBucketPassBase::MeshBucketPassBase;
  void runOnOperation() override {
    if (!getOperation().isExternal())
      formBuckets(getOperation(), double(bytes));
  }
};
struct MeshStartEarlyPass : mesh::impl::MeshStartEarlyPassBase<MeshStartEarlyPass> {
  void runOnOperation() override {
    if (meshOf(getOperation()) && !getOperation().isExternal())
      startEarly(getOperation());
  }
};
struct MeshSimulatePass : mesh::impl::MeshSimulatePassBase<MeshSimulatePass> {
  void runOnOperation() override {
    if (failed(mergeRoles(getOperation())))
      return signalPassFailure();
    DenseSet<Operation *> inner = functionsOfControl(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && isPartitioned(function) &&
          failed(!inner.contains(function)
                     ? liftOverDevices(function)
                     : function.emitError() << "can't be simulated: expected no branch or loop, "
                                               "which may go another way on each device"))
        return signalPassFailure();
    getOperation()->removeAttr(meshAttrName);
  }
};
} // namespace
