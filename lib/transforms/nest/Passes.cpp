//===- Passes.cpp - passes on nests ---------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/Passes.h"
#include "lib/transforms/nest/AssignLayouts.h"
#include "lib/transforms/nest/Fuse.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

namespace {
/// A pass that applies a function to every func.func.
template <typename Derived>
struct FunctionPass : PassWrapper<Derived, OperationPass<func::FuncOp>> {
  StringRef getArgument() const override { return Derived::argument; }
  StringRef getDescription() const override { return Derived::description; }
  void getDependentDialects(DialectRegistry &registry) const override { registry.insert<NestDialect>(); }
  void runOnOperation() override {
    if (!this->getOperation().isExternal())
      Derived::apply(this->getOperation());
  }
};

struct NestAssignLayoutsPass : FunctionPass<NestAssignLayoutsPass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(NestAssignLayoutsPass)
  static constexpr StringLiteral argument = "nest-assign-layouts";
  static constexpr StringLiteral description = "Choose a layout for every argument and result of a nest";
  static void apply(func::FuncOp function) { assignLayouts(function); }
};

struct NestFusePass : FunctionPass<NestFusePass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(NestFusePass)
  static constexpr StringLiteral argument = "nest-fuse";
  static constexpr StringLiteral description = "Take producers into their readers and epilogues into reductions";
  static void apply(func::FuncOp function) { fuseNests(function); }
};

struct NestMaterializeGuardsPass : FunctionPass<NestMaterializeGuardsPass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(NestMaterializeGuardsPass)
  static constexpr StringLiteral argument = "nest-materialize-guards";
  static constexpr StringLiteral description = "Read padded copies where a reduction would test a guard too often";
  static void apply(func::FuncOp function) { materializeGuards(function); }
};

struct NestSplitReductionsPass : FunctionPass<NestSplitReductionsPass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(NestSplitReductionsPass)
  static constexpr StringLiteral argument = "nest-split-reductions";
  static constexpr StringLiteral description = "Split large reductions to few results into parts fixed by sizes";
  static void apply(func::FuncOp function) { splitReductions(function); }
};
} // namespace

std::unique_ptr<Pass> nest::createNestAssignLayoutsPass() { return std::make_unique<NestAssignLayoutsPass>(); }
std::unique_ptr<Pass> nest::createNestFusePass() { return std::make_unique<NestFusePass>(); }
std::unique_ptr<Pass> nest::createNestMaterializeGuardsPass() { return std::make_unique<NestMaterializeGuardsPass>(); }
std::unique_ptr<Pass> nest::createNestSplitReductionsPass() { return std::make_unique<NestSplitReductionsPass>(); }

void nest::registerNestPasses() {
  registerPass(createNestAssignLayoutsPass);
  registerPass(createNestFusePass);
  registerPass(createNestMaterializeGuardsPass);
  registerPass(createNestSplitReductionsPass);
}
