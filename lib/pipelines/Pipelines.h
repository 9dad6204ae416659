//===- Pipelines.h - the passes of the compiler, in order -------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order in which passes run, from nd to steps. A pipeline adds passes and does nothing else:
// no pass, no cache and no file is here. lib/compile runs the pipelines and makes programs from
// their results; `heddle-opt` runs them as `--nd-pipeline`, `--mesh-pipeline`, `--nest-pipeline`
// and `--step-pipeline`:
//
//     PassManager passes(context);
//     PipelineOptions options;
//     options.fastMath = {"reassociate"};
//     buildNdPipeline(passes, options);          // nd: derivatives expanded, simplified
//     buildNestPipeline(passes, options);        // nests: fused, with layouts
//     buildStepPipeline(passes);                 // nests with separate buffers
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PIPELINES_PIPELINES_H
#define HEDDLE_LIB_PIPELINES_PIPELINES_H

#include "heddle/ElementType.h"
#include "lib/transforms/nest/fuse/ExplainFusion.h"
#include "lib/transforms/nest/layout/ExplainLayouts.h"

#include "mlir/Pass/PassManager.h"

#include <functional>

namespace heddle {

class Extension;

/// The choices that decide which passes run, and with which options.
struct PipelineOptions {
  bool assignLayouts = true; ///< false: every value row-major
  /// Emit remarks with the reasons for shardings and layouts, and the plugin of each kernel.
  bool explainLayouts = false;
  bool recordShardings = false; ///< keep the reasons for shardings (ShardingTable.h)
  /// The permitted changes to float arithmetic, as named in heddle/FastMath.h.
  std::vector<std::string> fastMath;
  /// The type to which factors of f32 are rounded (`nest-narrow-products`); none: f32.
  std::optional<ElementType> products;
  /// The mesh, `data=2,model=2`, and rules that shard arguments
  /// (lib/transforms/mesh/propagate/ApplyPlan.h).
  std::string mesh;
  std::vector<std::string> shard;
  std::string plan;   ///< a file with both
  bool check = false; ///< entries check values at run time (`nd-check`)
  /// Extensions of the compiler (Extension.h), in the order in which their hooks are called.
  std::vector<std::shared_ptr<const Extension>> extensions;
};

/// Called with what passes decide; each may be null.
struct DecisionListeners {
  std::function<void(func::FuncOp, const nest::FusionDecisions &)> fusion;
  std::function<void(const nest::ExplainedLayouts &)> layouts;
};

/// Adds the pass that writes the mesh and the rules of `options` to the module.
void addPlanPass(mlir::OpPassManager &passes, const PipelineOptions &options);
/// Passes on nd: inlines calls, expands gradients, eliminates common subexpressions, simplifies.
void buildNdPipeline(mlir::OpPassManager &passes, const PipelineOptions &options);
/// Lowers nd to nests; to those of one device if the program has a mesh.
void buildMeshPipeline(mlir::OpPassManager &passes, const PipelineOptions &options);
/// The same, followed by the simulation of all devices in one program, for the interpreter.
void buildSimulationPipeline(mlir::OpPassManager &passes, const PipelineOptions &options);
/// The parts of the next pipeline: lowers nd to nests under neutral names; rewrites whole nests as
/// the fused ones of a device; chooses their layouts.
void buildNests(mlir::OpPassManager &passes);
void buildFusion(mlir::OpPassManager &passes, const PipelineOptions &options,
                 const DecisionListeners &listeners = {});
void buildLayouts(mlir::OpPassManager &passes, const PipelineOptions &options,
                  const DecisionListeners &listeners = {});
/// Lowers nd to nests, fuses them and chooses their layouts for the machine that the module states
/// (cost::Machine::of), under neutral names.
void buildNestPipeline(mlir::OpPassManager &passes, const PipelineOptions &options,
                       bool restoreNames = true, const DecisionListeners &listeners = {});
/// Lowers nests with layouts to steps, each with separate buffers.
void buildStepPipeline(mlir::OpPassManager &passes);

/// All dialects that the compiler uses, and those of extensions.
void registerCompilerDialects(mlir::DialectRegistry &registry,
                              ArrayRef<std::shared_ptr<const Extension>> extensions = {});
/// All passes and pipelines, for tools.
void registerCompilerPasses();

} // namespace heddle

#endif // HEDDLE_LIB_PIPELINES_PIPELINES_H
