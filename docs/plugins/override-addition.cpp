// One override that replaces addition everywhere: each sum of floats is rounded to eight bits of
// mantissa, as an adder that is being designed would. At the end of the nd pipeline everything is
// there: forward, backward and optimiser, in pointwise code, in reductions, in scatters and in the
// accumulation of gradients.
#include "dialects/nest/Nest.h"
#include "lib/pipelines/Extension.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace {
struct OverrideAdditionPass : PassWrapper<OverrideAdditionPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(OverrideAdditionPass)
  StringRef getArgument() const override { return "override-addition"; }

  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (!isa<arith::AddFOp, arith::SubFOp>(op) || !op->getResult(0).getType().isF32())
        return;
      OpBuilder b(op->getContext());
      b.setInsertionPointAfter(op);
      auto narrow = arith::TruncFOp::create(b, op->getLoc(), b.getBF16Type(), op->getResult(0));
      auto sum = arith::ExtFOp::create(b, op->getLoc(), b.getF32Type(), narrow.getResult());
      op->getResult(0).replaceAllUsesExcept(sum, narrow);
    });
  }
};

struct OverrideAddition : heddle::Extension {
  void addNdPasses(OpPassManager &passes) const override {
    passes.addPass(std::make_unique<OverrideAdditionPass>());
  }
};
} // namespace

HEDDLE_EXTENSION(OverrideAddition)
