// A new op with a verifier, a meaning for the oracle, a gradient and a lowering.
#include "dialects/nd/NdBuild.h"
#include "lib/interp/Meaning.h"
#include "lib/pipelines/Extension.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"

#include "softsign-dialect.h.inc"
#define GET_OP_CLASSES
#include "softsign-op.h.inc"

using namespace heddle;
using namespace mlir;

#include "softsign-dialect.cpp.inc"
#define GET_OP_CLASSES
#include "softsign-op.cpp.inc"

void mine::MineDialect::initialize() { addOperations<SoftsignOp>(); }

LogicalResult mine::SoftsignOp::verify() {
  Type element = nd::tensorType(getInput()).getElementType();
  if (!isa<FloatType>(element))
    return emitOpError() << "expected float elements, got " << element;
  return success();
}

/// 1 + |x|
static Value denominator(OpBuilder &b, Location loc, Value x) {
  Value one = nd::buildNumber(b, loc, x.getType(), 1);
  return arith::AddFOp::create(b, loc, one, math::AbsFOp::create(b, loc, x));
}

LogicalResult mine::SoftsignOp::expand(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  results.push_back(nd::buildPointwise(
      builder, getLoc(), getInput(), nd::tensorType(getInput()).getElementType(),
      [&](OpBuilder &b, ValueRange x) -> Value {
        return arith::DivFOp::create(b, getLoc(), x[0], denominator(b, getLoc(), x[0]));
      }));
  return success();
}

// The slope is 1 / (1 + |x|)^2.
LogicalResult mine::SoftsignOp::buildGradient(OpBuilder &builder, ValueRange cotangents,
                                              ArrayRef<bool> wanted,
                                              SmallVectorImpl<Value> &gradients) {
  if (wanted[0] && cotangents[0])
    gradients[0] = nd::buildPointwise(builder, getLoc(), {getInput(), cotangents[0]},
                                      nd::tensorType(getInput()).getElementType(),
                                      [&](OpBuilder &b, ValueRange s) -> Value {
                                        Value d = denominator(b, getLoc(), s[0]);
                                        Value square = arith::MulFOp::create(b, getLoc(), d, d);
                                        return arith::DivFOp::create(b, getLoc(), s[1], square);
                                      });
  return success();
}

LogicalResult mine::SoftsignOp::evaluate(ArrayRef<const interp::TensorValue *> operands,
                                         MutableArrayRef<interp::TensorValue> results,
                                         interp::Arithmetic &arithmetic) {
  auto type = cast<FloatType>(results[0].elementType());
  for (auto [y, x] : llvm::zip_equal(results[0].elements, operands[0]->elements))
    y = arithmetic.div(type, x, arithmetic.add(type, interp::exactly(1), arithmetic.abs(x)));
  return success();
}

namespace {
struct Softsign : Extension {
  void registerDialects(DialectRegistry &registry) const override {
    registry.insert<mine::MineDialect>();
  }
};
} // namespace

HEDDLE_EXTENSION(Softsign)

extern "C" ::mlir::DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "softsign", "1",
          [](DialectRegistry *registry) { registry->insert<mine::MineDialect>(); }};
}
