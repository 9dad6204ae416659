//===- ExpandMath.cpp - mathematical functions as arithmetic --------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/ExpandMath.h"
#include "lib/conversion/nest_to_loops/ComposeMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// True if `callEach` can be used.
static bool isCallable(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return !vector || (vector.getRank() == 1 && !vector.isScalable());
}

/// Calls a function of the runtime on each element of `x`.
static Value callEach(PatternRewriter &rewriter, Operation *op, StringRef name, Value x) {
  Type element = getElementTypeOrSelf(x.getType());
  Operation *module = SymbolTable::getNearestSymbolTable(op);
  if (!SymbolTable::lookupSymbolIn(module, name)) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(&module->getRegion(0).front());
    func::FuncOp::create(rewriter, op->getLoc(), name, rewriter.getFunctionType(element, element))
        .setPrivate();
  }
  auto call = [&](Value each) {
    return func::CallOp::create(rewriter, op->getLoc(), name, element, each).getResult(0);
  };
  auto vector = dyn_cast<VectorType>(x.getType());
  if (!vector)
    return call(x);
  Value result = x;
  for (int64_t i = 0; i < vector.getNumElements(); ++i) {
    Value each = vector::ExtractOp::create(rewriter, op->getLoc(), x, i);
    result = vector::InsertOp::create(rewriter, op->getLoc(), call(each), result, i);
  }
  return result;
}

namespace {
/// Functions of f64 without a polynomial here, whose intrinsic is not as accurate near 0.
template <typename Function>
struct CallOnDoubles : OpRewritePattern<Function> {
  CallOnDoubles(MLIRContext *context, StringRef builtin)
      : OpRewritePattern<Function>(context), builtin(builtin) {}
  StringRef builtin;

  LogicalResult matchAndRewrite(Function op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF64() || !isCallable(op.getType()))
      return failure();
    rewriter.replaceOp(op, callEach(rewriter, op, builtin, op.getOperand()));
    return success();
  }
};

template <typename Function>
struct ExpandSine : OpRewritePattern<Function> {
  ExpandSine(MLIRContext *context, StringRef builtin, int64_t quarters)
      : OpRewritePattern<Function>(context, /*benefit=*/10), builtin(builtin), quarters(quarters) {}
  StringRef builtin;
  int64_t quarters;

  LogicalResult matchAndRewrite(Function op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value x = op.getOperand();
    if (!getElementTypeOrSelf(x.getType()).isF32() || !isCallable(x.getType()))
      return failure();
    Value small = isSmallAngle(rewriter, loc, x);
    if (isa<VectorType>(x.getType()))
      small = vector::ReductionOp::create(rewriter, loc, vector::CombiningKind::AND, small);
    auto branch = scf::IfOp::create(rewriter, loc, x.getType(), small, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(rewriter, loc, approximateSine(rewriter, loc, x, quarters));
    rewriter.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(rewriter, loc, callEach(rewriter, op, builtin, x));
    rewriter.replaceOp(op, branch.getResults());
    return success();
  }
};

/// A function of f32 that has an approximation, or (`isOfAnyFloat`) one that is made of others.
template <typename Function, bool isOfAnyFloat = false>
struct Approximate : OpRewritePattern<Function> {
  Approximate(MLIRContext *context, Approximation make)
      : OpRewritePattern<Function>(context, /*benefit=*/10), make(make) {}
  Approximation make;

  LogicalResult matchAndRewrite(Function op, PatternRewriter &rewriter) const override {
    if (!isOfAnyFloat && (!getElementTypeOrSelf(op.getType()).isF32() || !isCallable(op.getType())))
      return failure();
    rewriter.replaceOp(op, make(rewriter, op.getLoc(), op->getOperands()));
    return success();
  }
};
template <typename Function>
using Compose = Approximate<Function, /*isOfAnyFloat=*/true>;

/// LLVM's conversion of a float that does not fit is poison, so its value could depend on how the
/// enclosing loops were compiled. The saturating one gives the nearest integer, and 0 for NaN.
template <typename Conversion>
struct Saturate : OpRewritePattern<Conversion> {
  Saturate(MLIRContext *context, StringRef intrinsic)
      : OpRewritePattern<Conversion>(context), intrinsic(intrinsic) {}
  StringRef intrinsic;

  LogicalResult matchAndRewrite(Conversion op, PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::CallIntrinsicOp>(
        op, op.getType(), rewriter.getStringAttr(intrinsic), op->getOperands());
    return success();
  }
};

/// Expands powers with an exponent for which they are a few products or a square root. Unlike a
/// square root, the power 0.5 of -0 is +0, and that of -inf is inf.
struct PowerOfConstant : OpRewritePattern<math::PowFOp> {
  PowerOfConstant(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/20) {}
  LogicalResult matchAndRewrite(math::PowFOp op, PatternRewriter &b) const override {
    FloatAttr number;
    DenseElementsAttr numbers;
    if (matchPattern(op.getRhs(), m_Constant(&numbers)) && numbers.isSplat())
      number = dyn_cast<FloatAttr>(numbers.getSplatValue<Attribute>());
    else if (!matchPattern(op.getRhs(), m_Constant(&number)))
      return failure();
    Location loc = op.getLoc();
    Value x = op.getLhs();
    auto times = [&](Value x, Value y) -> Value { return arith::MulFOp::create(b, loc, x, y); };
    auto constant = [&](double value) -> Value {
      Type type = x.getType();
      TypedAttr attr = b.getFloatAttr(getElementTypeOrSelf(type), value);
      if (auto vector = dyn_cast<VectorType>(type))
        attr = DenseElementsAttr::get(vector, ArrayRef<Attribute>(attr));
      return arith::ConstantOp::create(b, loc, attr);
    };
    double exponent = number.getValueAsDouble();
    if (exponent == 3 || exponent == 4) {
      Value square = times(x, x);
      b.replaceOp(op, times(square, exponent == 3 ? x : square));
      return success();
    }
    if (std::fabs(exponent) != 0.5)
      return failure();
    Value isLeast = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x,
                                          constant(-std::numeric_limits<double>::infinity()));
    Value root = arith::AddFOp::create(b, loc, math::SqrtOp::create(b, loc, x), constant(0));
    root = arith::SelectOp::create(b, loc, isLeast,
                                   constant(std::numeric_limits<double>::infinity()), root);
    b.replaceOp(op, exponent > 0 ? root : arith::DivFOp::create(b, loc, constant(1), root));
    return success();
  }
};

/// Contracts a product and a sum to a fused multiply-add if both allow it. The code generator finds
/// them only in one block, but equal ends of branches are merged before that.
struct ContractProduct : OpRewritePattern<arith::AddFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::AddFOp op, PatternRewriter &rewriter) const override {
    auto mayContract = [](Operation *each) {
      return bitEnumContainsAll(
          cast<arith::ArithFastMathInterface>(each).getFastMathFlagsAttr().getValue(),
          arith::FastMathFlags::contract);
    };
    if (!mayContract(op))
      return failure();
    for (auto [product, other] : {std::pair(op.getLhs(), op.getRhs()), {op.getRhs(), op.getLhs()}})
      if (auto multiply = product.getDefiningOp<arith::MulFOp>();
          multiply && multiply->hasOneUse() && mayContract(multiply)) {
        rewriter.replaceOpWithNewOp<LLVM::FMulAddOp>(op, op.getType(), multiply.getLhs(),
                                                     multiply.getRhs(), other);
        return success();
      }
    return failure();
  }
};

/// maxnum and minnum: a number is preferred to NaN, and -0 is smaller than 0. LLVM does not specify
/// the order of zeros, and calls a library for f16.
template <typename Op, typename Strict>
struct NumberWins : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const override {
    Location loc = op.getLoc();
    Value x = op.getLhs(), y = op.getRhs();
    auto isNan = [&](Value value) -> Value {
      return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
    };
    Value both = Strict::create(b, loc, x, y);
    Value result = arith::SelectOp::create(b, loc, isNan(y), x, both);
    b.replaceOpWithNewOp<arith::SelectOp>(op, isNan(x), y, result);
    return success();
  }
};

struct ExpandMathPass : PassWrapper<ExpandMathPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandMathPass)
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet patterns(context);
    math::populateExpansionPatterns(patterns, {"rsqrt", "roundeven"});
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    patterns.add<ContractProduct, PowerOfConstant, NumberWins<arith::MaxNumFOp, arith::MaximumFOp>,
                 NumberWins<arith::MinNumFOp, arith::MinimumFOp>>(context);
    patterns.add<Approximate<math::ExpOp>>(context, approximateExp);
    patterns.add<Approximate<math::Exp2Op>>(context, approximateExp2);
    patterns.add<Approximate<math::ExpM1Op>>(context, approximateExpM1);
    patterns.add<Approximate<math::LogOp>>(context, approximateLog);
    patterns.add<Approximate<math::Log2Op>>(context, approximateLog2);
    patterns.add<Approximate<math::Log1pOp>>(context, approximateLog1p);
    patterns.add<Approximate<math::PowFOp>>(context, approximatePower);
    patterns.add<Approximate<math::TanhOp>>(context, approximateTanh);
    patterns.add<Approximate<math::ErfOp>>(context, approximateErf);
    patterns.add<Approximate<math::AtanOp>>(context, approximateAtan);
    patterns.add<Approximate<math::Log10Op>>(context, approximateLog10);
    patterns.add<Compose<math::SinhOp>>(context, composeSinh);
    patterns.add<Compose<math::CoshOp>>(context, composeCosh);
    patterns.add<Compose<math::AsinhOp>>(context, composeAsinh);
    patterns.add<Compose<math::AcoshOp>>(context, composeAcosh);
    patterns.add<Compose<math::AtanhOp>>(context, composeAtanh);
    patterns.add<Compose<math::ErfcOp>>(context, composeErfc);
    patterns.add<CallOnDoubles<math::AtanOp>>(context, "atan");
    patterns.add<CallOnDoubles<math::ErfOp>>(context, "erf");
    patterns.add<CallOnDoubles<math::ExpM1Op>>(context, "expm1");
    patterns.add<CallOnDoubles<math::Log1pOp>>(context, "log1p");
    patterns.add<Saturate<arith::FPToSIOp>>(context, "llvm.fptosi.sat");
    patterns.add<Saturate<arith::FPToUIOp>>(context, "llvm.fptoui.sat");
    patterns.add<ExpandSine<math::SinOp>>(context, "sinf", 0);
    patterns.add<ExpandSine<math::CosOp>>(context, "cosf", 1);
    expansions = std::move(patterns);
    return success();
  }
  void runOnOperation() override {
    GreedyRewriteConfig config; // LLVM simplifies blocks
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), expansions, config)))
      signalPassFailure();
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, func::FuncDialect, math::MathDialect, scf::SCFDialect,
                    vector::VectorDialect, LLVM::LLVMDialect>();
  }

private:
  FrozenRewritePatternSet expansions;
};
} // namespace

std::unique_ptr<Pass> nest::createExpandMathPass() { return std::make_unique<ExpandMathPass>(); }
