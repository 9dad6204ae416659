//===- Pipelines.cpp - the pipelines of the compiler ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/pipelines/Pipelines.h"

#include "lib/conversion/nd_to_nest/NdToNest.h"
#include "lib/conversion/nest_to_steps/Passes.h"
#include "lib/pipelines/Extension.h"
#include "lib/transforms/mesh/Passes.h"
#include "lib/transforms/nd/Passes.h"
#include "lib/transforms/nest/Passes.h"

#include "dialects/nest/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace heddle;
using namespace mlir;

void heddle::addPlanPass(OpPassManager &passes, const PipelineOptions &options) {
  if (options.mesh.empty() && options.shard.empty() && options.plan.empty())
    return;
  mesh::MeshPlanPassOptions plan;
  plan.mesh = options.mesh;
  plan.plan = options.plan;
  plan.shard.assign(options.shard.begin(), options.shard.end());
  passes.addPass(mesh::createMeshPlanPass(std::move(plan)));
}

void heddle::buildNdPipeline(OpPassManager &passes, const PipelineOptions &options) {
  auto simplify = [&] {
    nd::NdSimplifyPassOptions rules;
    rules.fastMath.assign(options.fastMath.begin(), options.fastMath.end());
    passes.addNestedPass<func::FuncOp>(nd::createNdSimplifyPass(std::move(rules)));
    passes.addNestedPass<func::FuncOp>(nd::createNdCsePass());
  };
  addPlanPass(passes, options);
  passes.addPass(nd::createNdMergeFunctionsPass());
  if (!options.check) { // checks refer to the ops as written
    simplify();
    passes.addNestedPass<func::FuncOp>(nd::createNdHoistPass());
  }
  // A function with gradient requests can't be lifted, so expand these before calls.
  passes.addPass(nd::createNdDifferentiatePass());
  passes.addPass(nd::createNdInlineCallsPass());
  // The callees have no more uses.
  passes.addPass(createSymbolDCEPass());
  passes.addNestedPass<func::FuncOp>(nd::createNdRequireSizesPass());
  passes.addPass(nd::createNdExpandPass());
  if (options.check)
    passes.addNestedPass<func::FuncOp>(nd::createNdCheckPass());
  passes.addNestedPass<func::FuncOp>(nd::createNdHoistPass()); // from gradients, and inlined loops
  passes.addNestedPass<func::FuncOp>(nd::createNdSumAfterScansPass());
  passes.addNestedPass<func::FuncOp>(nd::createNdExpandControlFlowPass());
  simplify();
  passes.addNestedPass<func::FuncOp>(nd::createNdFoldPadIntoWindowPass());
  simplify();
  for (const auto &extension : options.extensions)
    extension->addNdPasses(passes);
}

void heddle::buildNests(OpPassManager &passes) {
  passes.addPass(nd::createNdNeutralNamesPass());
  passes.addPass(nd::createNdOutlineControlPass());
  passes.addNestedPass<func::FuncOp>(createConvertNdToNestPass());
}

static void buildPartition(OpPassManager &passes, const PipelineOptions &options) {
  // Both leave programs without a mesh unchanged.
  passes.addPass(mesh::createMeshPropagatePass({options.explainLayouts, options.recordShardings}));
  passes.addPass(mesh::createMeshPartitionPass());
  passes.addNestedPass<func::FuncOp>(createCSEPass());
  passes.addPass(mesh::createMeshRolesPass({options.explainLayouts}));
  passes.addNestedPass<func::FuncOp>(
      mesh::createMeshFormTransfersPass({options.explainLayouts, options.recordShardings}));
  passes.addNestedPass<func::FuncOp>(mesh::createMeshBucketPass());
}

void heddle::buildMeshPipeline(OpPassManager &passes, const PipelineOptions &options) {
  buildNests(passes);
  buildPartition(passes, options);
}

void heddle::buildSimulationPipeline(OpPassManager &passes, const PipelineOptions &options) {
  buildNdPipeline(passes, options);
  buildMeshPipeline(passes, options);
  passes.addPass(mesh::createMeshSimulatePass());
  passes.addPass(nd::createNdRestoreNamesPass());
}

void heddle::buildFusion(OpPassManager &passes, const PipelineOptions &options,
                         const DecisionListeners &listeners) {
  auto add = [&](std::unique_ptr<Pass> pass) {
    passes.addNestedPass<func::FuncOp>(std::move(pass));
  };
  buildPartition(passes, options);
  passes.addPass(mesh::createMeshScanLoopsPass());
  add(nest::createNestOrderReadsPass());
  if (options.products)
    add(nest::createNestNarrowProductsPass({std::string(spelling(*options.products))}));
  nest::ExplainFusionOptions fusion{options.explainLayouts, listeners.fusion};
  add(nest::createNestFusePassFor(fusion));
  add(nest::createNestChooseGroupsPassFor(fusion));
  add(nest::createNestFormGroupsPass());
  add(nest::createNestMaterializeGuardsPass());
  add(nest::createNestSplitReductionsPass());
  add(nest::createNestSplitUpdatesPass());
  for (const auto &extension : options.extensions)
    extension->addNestPasses(passes);
  add(createCSEPass());
  add(nest::createNestDropAfterPass());
  add(nest::createNestOrderReadsPass());
  add(mesh::createMeshStartEarlyPass());
  add(nest::createNestGatherAgainPass({options.explainLayouts}));
}

void heddle::buildLayouts(OpPassManager &passes, const PipelineOptions &options,
                          const DecisionListeners &listeners) {
  if (options.assignLayouts) {
    nest::AssignLayoutsOptions layouts{{}, options.explainLayouts, listeners.layouts};
    layouts.adjust = [extensions = options.extensions](nest::LayoutProblem &problem) {
      for (const auto &extension : extensions)
        extension->adjustLayouts(problem);
    };
    passes.addPass(nest::createNestAssignLayoutsPassFor(std::move(layouts)));
  }
}

void heddle::buildNestPipeline(OpPassManager &passes, const PipelineOptions &options,
                               bool restoreNames, const DecisionListeners &listeners) {
  buildNests(passes);
  buildFusion(passes, options, listeners);
  buildLayouts(passes, options, listeners);
  // Without chosen layouts, values are row-major over the names that the user wrote.
  if (restoreNames || !options.assignLayouts)
    passes.addPass(nd::createNdRestoreNamesPass());
}

void heddle::buildStepPipeline(OpPassManager &passes) {
  passes.addPass(nest::createNestPrepareStepsPass());
}

void heddle::registerCompilerDialects(DialectRegistry &registry,
                                      ArrayRef<std::shared_ptr<const Extension>> extensions) {
  registry.insert<nd::NdDialect, nest::NestDialect, mesh::MeshDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect, math::MathDialect,
                  scf::SCFDialect, ub::UBDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  for (const auto &extension : extensions)
    extension->registerDialects(registry);
}

void heddle::registerCompilerPasses() {
  nd::registerNdPasses();
  registerNdToNestPasses();
  mesh::registerMeshPasses();
  registerNestToStepsPasses();
  nest::registerNestPasses();
  registerTransformsPasses();
  static PassPipelineRegistration<> ndPipeline(
      "nd-pipeline", "all passes of the compiler on nd",
      [](OpPassManager &passes) { buildNdPipeline(passes, PipelineOptions()); });
  static PassPipelineRegistration<> operatorPipeline(
      "operator-pipeline", "report the operators of a program (mesh-list-operators)",
      [](OpPassManager &passes) {
        buildNdPipeline(passes, PipelineOptions());
        buildNests(passes);
        passes.addNestedPass<func::FuncOp>(mesh::createMeshListOperatorsPass());
      });
  static PassPipelineRegistration<> meshPipeline(
      "mesh-pipeline", "from nd to the nests of one device of a mesh",
      [](OpPassManager &passes) { buildMeshPipeline(passes, PipelineOptions()); });
  static PassPipelineRegistration<> nestPipeline(
      "nest-pipeline", "from nd to fused nests with layouts",
      [](OpPassManager &passes) { buildNestPipeline(passes, PipelineOptions()); });
  static PassPipelineRegistration<> stepPipeline(
      "step-pipeline", "from nests with layouts to steps",
      [](OpPassManager &passes) { buildStepPipeline(passes); });
}
