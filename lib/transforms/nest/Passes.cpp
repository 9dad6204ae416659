//===- Passes.cpp - passes on nests ---------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each pass only calls the function with its name.
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/Passes.h"

#include "dialects/nd/ElementTypes.h"
#include "lib/analysis/Layouts.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/cost/Cost.h"
#include "lib/cost/Formula.h"
#include "lib/cost/FunctionCost.h"
#include "lib/transforms/nest/fuse/Cse.h"
#include "lib/transforms/nest/fuse/FlattenReductions.h"
#include "lib/transforms/nest/fuse/Fuse.h"
#include "lib/transforms/nest/fuse/FuseEpilogues.h"
#include "lib/transforms/nest/fuse/FuseProducers.h"
#include "lib/transforms/nest/fuse/FuseSiblings.h"
#include "lib/transforms/nest/fuse/NarrowProducts.h"
#include "lib/transforms/nest/group/ChooseGroups.h"
#include "lib/transforms/nest/group/FormGroups.h"
#include "lib/transforms/nest/layout/AssignLayouts.h"
#include "lib/transforms/nest/prepare/GatherAgain.h"
#include "lib/transforms/nest/prepare/MaterializeGuards.h"
#include "lib/transforms/nest/prepare/OrderReads.h"
#include "lib/transforms/nest/prepare/PrepareSteps.h"
#include "lib/transforms/nest/prepare/SplitReductions.h"
#include "lib/transforms/nest/prepare/SplitUpdates.h"
#include "lib/transforms/nest/schedule/ChooseSchedules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/FormatVariadic.h"

namespace heddle::nest {
#define GEN_PASS_DEF_NESTASSIGNLAYOUTSPASS
#define GEN_PASS_DEF_NESTCHOOSEGROUPSPASS
#define GEN_PASS_DEF_NESTCHOOSESCHEDULESPASS
#define GEN_PASS_DEF_NESTCOSTPASS
#define GEN_PASS_DEF_NESTCSEPASS
#define GEN_PASS_DEF_NESTDROPAFTERPASS
#define GEN_PASS_DEF_NESTFLATTENREDUCTIONSPASS
#define GEN_PASS_DEF_NESTFORMGROUPSPASS
#define GEN_PASS_DEF_NESTFUSEEPILOGUESPASS
#define GEN_PASS_DEF_NESTFUSEPASS
#define GEN_PASS_DEF_NESTFUSEPRODUCERSPASS
#define GEN_PASS_DEF_NESTFUSESIBLINGSPASS
#define GEN_PASS_DEF_NESTGATHERAGAINPASS
#define GEN_PASS_DEF_NESTMATERIALIZEGUARDSPASS
#define GEN_PASS_DEF_NESTNARROWPRODUCTSPASS
#define GEN_PASS_DEF_NESTORDERREADSPASS
#define GEN_PASS_DEF_NESTPREPARESTEPSPASS
#define GEN_PASS_DEF_NESTSPLITREDUCTIONSPASS
#define GEN_PASS_DEF_NESTSPLITUPDATESPASS
#include "lib/transforms/nest/Passes.h.inc"
} // namespace heddle::nest

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

namespace {
struct NestFusePass : nest::impl::NestFusePassBase<NestFusePass> {
  using NestFusePassBase::NestFusePassBase;
  ExplainFusionOptions given;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    ExplainFusionOptions options = given;
    options.explain |= explain;
    fuseNests(function, options);
    if (options.explain && !function.isExternal())
      function.emitRemark() << "'" << function.getName() << "' takes "
                            << cost::costOfFunction(function, cost::Machine::at(function)).str();
  }
};
struct NestChooseGroupsPass : nest::impl::NestChooseGroupsPassBase<NestChooseGroupsPass> {
  using NestChooseGroupsPassBase::NestChooseGroupsPassBase;
  ExplainFusionOptions given;

  void runOnOperation() override {
    ExplainFusionOptions options = given;
    options.explain |= explain;
    FusionDecisions decisions;
    for (Block &block : getOperation().getBody())
      chooseGroups(block, options.isOn() ? &decisions : nullptr);
    options.report(getOperation(), decisions);
  }
};
struct NestAssignLayoutsPass : nest::impl::NestAssignLayoutsPassBase<NestAssignLayoutsPass> {
  using NestAssignLayoutsPassBase::NestAssignLayoutsPassBase;
  AssignLayoutsOptions given;

  void runOnOperation() override {
    AssignLayoutsOptions options = given;
    options.explain |= explain;
    options.machine = cost::Machine::at(getOperation());
    if (failed(assignLayouts(getOperation(), options)))
      signalPassFailure();
  }
};
struct NestChooseSchedulesPass : nest::impl::NestChooseSchedulesPassBase<NestChooseSchedulesPass> {
  void runOnOperation() override {
    if (failed(checkLayouts(getOperation())))
      return signalPassFailure();
    chooseSchedules(getOperation(), cost::Machine::at(getOperation()));
  }
};
struct NestCostPass : nest::impl::NestCostPassBase<NestCostPass> {
  using NestCostPassBase::NestCostPassBase;
  void runOnOperation() override {
    cost::Machine machine = cost::Machine::at(getOperation());
    if (warm)
      machine.rates = machine.rates.warm();
    if (formula)
      getOperation().emitRemark() << "a nest takes " << cost::formulaText() << " seconds; "
                                  << machine.rates.str();
    for (Block &block : getOperation().getBody())
      for (Operation &op : block)
        if (isa<ScheduledInterface, HoldsNestsInterface>(op))
          op.emitRemark() << "'" << nameOf(&op) << "' takes " << costText(&op, machine);
  }

  /// The estimate by all that is known, those by less, and what takes the time.
  std::string costText(Operation *op, const cost::Machine &machine) {
    std::string text;
    llvm::raw_string_ostream out(text);
    cost::Cost cost = cost::costOf(op, machine, threads);
    auto us = [](double seconds) { return llvm::formatv("{0:f3} us", seconds * 1e6).str(); };
    out << us(cost.seconds) << " by its "
        << (cost.basis == cost::Knowledge::Schedule  ? "schedule"
            : cost.basis == cost::Knowledge::Layouts ? "layouts"
                                                     : "sizes");
    for (auto [known, name] : {std::pair(cost::Knowledge::Layouts, "layouts"),
                               std::pair(cost::Knowledge::Nothing, "sizes")})
      if (known < cost.basis)
        out << ", " << us(cost::costOf(op, machine, threads, known).seconds) << " by its " << name;
    out << ", at least " << us(cost.bound) << ", limited by " << cost.limit << "; "
        << cost.amounts.str();
    return text;
  }
};
struct NestMaterializeGuardsPass
    : nest::impl::NestMaterializeGuardsPassBase<NestMaterializeGuardsPass> {
  void runOnOperation() override {
    if (!getOperation().isExternal())
      materializeGuards(getOperation());
  }
};
struct NestNarrowProductsPass : nest::impl::NestNarrowProductsPassBase<NestNarrowProductsPass> {
  using NestNarrowProductsPassBase::NestNarrowProductsPassBase;
  void runOnOperation() override {
    auto narrow = parseElementType(std::string(type));
    if (!narrow || !isNarrowFloat(*narrow)) {
      getOperation()->emitError("expected a float type narrower than f32 for factors, got '")
          << type << "'";
      return signalPassFailure();
    }
    if (!getOperation().isExternal())
      narrowProducts(getOperation(), cast<FloatType>(nd::mlirType(&getContext(), *narrow)));
  }
};
struct NestGatherAgainPass : nest::impl::NestGatherAgainPassBase<NestGatherAgainPass> {
  using NestGatherAgainPassBase::NestGatherAgainPassBase;
  void runOnOperation() override {
    if (!getOperation().isExternal())
      gatherAgain(getOperation(), cost::Machine::at(getOperation()), explain);
  }
};
struct NestOrderReadsPass : nest::impl::NestOrderReadsPassBase<NestOrderReadsPass> {
  void runOnOperation() override { orderNests(getOperation()); }
};
struct NestPrepareStepsPass : nest::impl::NestPrepareStepsPassBase<NestPrepareStepsPass> {
  void runOnOperation() override {
    if (failed(prepareSteps(getOperation())))
      signalPassFailure();
  }
};
struct NestDropAfterPass : nest::impl::NestDropAfterPassBase<NestDropAfterPass> {
  void runOnOperation() override {
    getOperation()->walk([](nd::AfterOp op) {
      op.getResult().replaceAllUsesWith(op.getInput());
      op.erase();
    });
  }
};
struct NestSplitReductionsPass : nest::impl::NestSplitReductionsPassBase<NestSplitReductionsPass> {
  using NestSplitReductionsPassBase::NestSplitReductionsPassBase;
  void runOnOperation() override {
    if (!getOperation().isExternal())
      splitReductions(getOperation(), always);
  }
};
struct NestSplitUpdatesPass : nest::impl::NestSplitUpdatesPassBase<NestSplitUpdatesPass> {
  void runOnOperation() override {
    nest::MachineAttr facts = cost::Machine::at(getOperation()).facts;
    int64_t points = facts ? facts.integer("points_per_block", 0) : 0;
    if (!getOperation().isExternal() && points > 0)
      splitUpdates(getOperation(), points);
  }
};
/// A pass that calls `rewrite` for each block of a function.
template <template <typename> typename Base, auto rewrite>
struct BlockPass : Base<BlockPass<Base, rewrite>> {
  void runOnOperation() override {
    for (Block &block : this->getOperation().getBody())
      rewrite(block);
  }
};
template struct BlockPass<nest::impl::NestFuseProducersPassBase, [](Block &block) {
  Declined declined;
  return fuseProducers(block, declined);
}>;
template struct BlockPass<nest::impl::NestFuseEpiloguesPassBase,
                          [](Block &block) { fuseEpilogues(block, Epilogues::All); }>;
template struct BlockPass<nest::impl::NestFuseSiblingsPassBase, [](Block &block) {
  Declined declined;
  return fuseSiblings(block, declined);
}>;
template struct BlockPass<nest::impl::NestFlattenReductionsPassBase, flattenReductions>;
template struct BlockPass<nest::impl::NestFormGroupsPassBase, formGroups>;
template struct BlockPass<nest::impl::NestCsePassBase,
                          [](Block &block) { mergeEqualNests(block); }>;
} // namespace

template <typename PassWith, typename Options>
static std::unique_ptr<Pass> passWith(Options options) {
  auto pass = std::make_unique<PassWith>();
  pass->given = std::move(options);
  return pass;
}

std::unique_ptr<Pass> nest::createNestFusePassFor(ExplainFusionOptions options) {
  return passWith<NestFusePass>(std::move(options));
}

std::unique_ptr<Pass> nest::createNestChooseGroupsPassFor(ExplainFusionOptions options) {
  return passWith<NestChooseGroupsPass>(std::move(options));
}

std::unique_ptr<Pass> nest::createNestAssignLayoutsPassFor(AssignLayoutsOptions options) {
  return passWith<NestAssignLayoutsPass>(std::move(options));
}
