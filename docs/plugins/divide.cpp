// A pass that rewrites nd: scalar code divides by a constant no more, it multiplies by the
// reciprocal. It is a pass of heddle-opt (--load-pass-plugin) and, as an extension, one of the
// compiler's (--plugin).
#include "dialects/nd/Nd.h"
#include "lib/pipelines/Extension.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

namespace {
struct DividePass : PassWrapper<DividePass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DividePass)
  StringRef getArgument() const override { return "divide"; }
  StringRef getDescription() const override { return "divisions by constants become products"; }

  void runOnOperation() override {
    getOperation().walk([](heddle::nd::PointwiseOp pointwise) {
      pointwise.getBody().walk([](arith::DivFOp division) {
        FloatAttr divisor;
        if (!matchPattern(division.getRhs(), m_Constant(&divisor)))
          return;
        // Only where the reciprocal is exact: a power of two.
        APFloat reciprocal(divisor.getValue().getSemantics());
        if (!divisor.getValue().getExactInverse(&reciprocal))
          return;
        OpBuilder b(division);
        Value factor = arith::ConstantOp::create(b, division.getLoc(),
                                                 FloatAttr::get(divisor.getType(), reciprocal));
        division.replaceAllUsesWith(
            arith::MulFOp::create(b, division.getLoc(), division.getLhs(), factor).getResult());
        division.erase();
      });
    });
  }
};

struct Divide : heddle::Extension {
  void addNdPasses(OpPassManager &passes) const override {
    passes.addNestedPass<func::FuncOp>(std::make_unique<DividePass>());
  }
};
} // namespace

HEDDLE_EXTENSION(Divide)

extern "C" ::mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "divide", "1", [] { PassRegistration<DividePass>(); }};
}
