//===- ExpandMath.cpp - mathematical functions as arithmetic --------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/ExpandMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace heddle;
using namespace mlir;

/// True if `callEach` can be used.
static bool isCallable(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return !vector || (vector.getRank() == 1 && !vector.isScalable());
}

/// Calls a function of the runtime on each element of `x`.
static Value callEach(PatternRewriter &rewriter, Operation *op, StringRef name, Value x) {
  Type element = getElementTypeOrSelf(x.getType());
  auto module = op->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(module.getBody());
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
/// Functions of doubles that have neither a polynomial here nor an intrinsic that is as good near
/// 0.
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

/// Arithmetic on scalars or vectors of one shape.
class Arith {
public:
  Arith(OpBuilder &b, Location loc, Type shape) : b(b), loc(loc), shape(shape) {}

  Type of(Type element) const {
    auto vector = dyn_cast<VectorType>(shape);
    return vector ? Type(vector.clone(element)) : element;
  }
  Value number(Type element, double value) {
    return constant(element, b.getFloatAttr(element, value));
  }
  Value integer(int64_t value) {
    return constant(b.getI32Type(), b.getI32IntegerAttr(int32_t(value)));
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  /// c[0] + z * (c[1] + z * ...).
  Value polynomial(Value z, ArrayRef<double> c) {
    Type element = getElementTypeOrSelf(z.getType());
    Value sum = number(element, c.back());
    for (double each : llvm::reverse(c.drop_back()))
      sum = add(mul(sum, z), number(element, each));
    return sum;
  }
  /// Whether a bit of an integer is set.
  Value hasBit(Value bits, int64_t bit) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                                 arith::AndIOp::create(b, loc, bits, integer(bit)), integer(0));
  }

private:
  OpBuilder &b;
  Location loc;
  Type shape;

  Value constant(Type element, TypedAttr value) {
    if (auto vector = dyn_cast<VectorType>(shape))
      value = DenseElementsAttr::get(vector.clone(element), ArrayRef<Attribute>(value));
    return arith::ConstantOp::create(b, loc, value);
  }
};

/// The sine (ahead by `quarters` of a turn) of floats up to 2^20: the multiple of pi / 2 is taken
/// off in doubles, of which pi / 2 has two, the first with 33 bits, so that its products are exact.
Value smallSine(OpBuilder &b, Location loc, Value x, int64_t quarters) {
  Arith a(b, loc, x.getType());
  Type f32 = b.getF32Type(), f64 = b.getF64Type();
  Value wide = arith::ExtFOp::create(b, loc, a.of(f64), x);
  // Adding and taking off 3 * 2^51 rounds to an integer.
  Value shift = a.number(f64, 0x1.8p52);
  Value turns = a.sub(a.add(a.mul(wide, a.number(f64, 0x1.45f306dc9c883p-1)), shift), shift);
  Value rest = a.sub(wide, a.mul(turns, a.number(f64, 0x1.921fb544p0)));
  rest = a.sub(rest, a.mul(turns, a.number(f64, 0x1.0b4611a626331p-34)));
  Value r = arith::TruncFOp::create(b, loc, a.of(f32), rest), z = a.mul(r, r);
  // Minimax polynomials on [-pi/4, pi/4] (Moshier's Cephes library).
  Value sine =
      a.add(r, a.mul(a.mul(r, z),
                     a.polynomial(z, {-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4})));
  Value cosine = a.add(
      a.sub(a.number(f32, 1), a.mul(z, a.number(f32, 0.5))),
      a.mul(a.mul(z, z),
            a.polynomial(z, {4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5})));
  Value quadrant = arith::AddIOp::create(
      b, loc, arith::FPToSIOp::create(b, loc, a.of(b.getI32Type()), turns), a.integer(quarters));
  Value value = arith::SelectOp::create(b, loc, a.hasBit(quadrant, 1), cosine, sine);
  return arith::SelectOp::create(b, loc, a.hasBit(quadrant, 2),
                                 arith::NegFOp::create(b, loc, value), value);
}

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
    Arith a(rewriter, loc, x.getType());
    Value small = arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::OLE,
                                        math::AbsFOp::create(rewriter, loc, x),
                                        a.number(rewriter.getF32Type(), 0x1p20));
    if (isa<VectorType>(x.getType()))
      small = vector::ReductionOp::create(rewriter, loc, vector::CombiningKind::AND, small);
    auto branch = scf::IfOp::create(rewriter, loc, x.getType(), small, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(rewriter, loc, smallSine(rewriter, loc, x, quarters));
    rewriter.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(rewriter, loc, callEach(rewriter, op, builtin, x));
    rewriter.replaceOp(op, branch.getResults());
    return success();
  }
};

/// The angle of a slope, turned back by an eighth or a quarter of a circle where it is steep.
/// MLIR's own polynomial is off by ten units in the last place.
struct ExpandArcTangent : OpRewritePattern<math::AtanOp> {
  ExpandArcTangent(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/10) {}

  LogicalResult matchAndRewrite(math::AtanOp op, PatternRewriter &b) const override {
    Location loc = op.getLoc();
    Value x = op.getOperand();
    if (!getElementTypeOrSelf(x.getType()).isF32())
      return failure();
    Arith a(b, loc, x.getType());
    auto number = [&](double value) { return a.number(b.getF32Type(), value); };
    Value t = math::AbsFOp::create(b, loc, x);
    auto above = [&](double bound) -> Value {
      return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, t, number(bound));
    };
    Value steep = above(2.414213562373095),
          middle = above(0.4142135623730950); // tan of 3/8, 1/8 pi
    auto choose = [&](Value ifSteep, Value ifMiddle, Value ifFlat) -> Value {
      Value rest = arith::SelectOp::create(b, loc, middle, ifMiddle, ifFlat);
      return arith::SelectOp::create(b, loc, steep, ifSteep, rest);
    };
    Value one = number(1);
    Value r = arith::DivFOp::create(b, loc, choose(number(-1), a.sub(t, one), t),
                                    choose(t, a.add(t, one), one));
    // Minimax polynomial on [-tan pi/8, tan pi/8] (Moshier's Cephes library).
    Value z = a.mul(r, r);
    Value part =
        a.add(r, a.mul(a.mul(r, z), a.polynomial(z, {-3.33329491539e-1, 1.99777106478e-1,
                                                     -1.38776856032e-1, 8.05374449538e-2})));
    Value turn = choose(number(1.5707963267948966), number(0.7853981633974483), number(0));
    b.replaceOpWithNewOp<math::CopySignOp>(op, a.add(turn, part), x);
    return success();
  }
};

/// A sum with a product is one operation where both may be contracted. Said here and not left to
/// the code generator: it finds the two only while they stand in one block, and branches whose ends
/// are alike are merged before it looks.
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

/// Where the target has no such instruction on halves LLVM calls a library, also if they are
/// widened around it, since it narrows that again.
template <typename Op, arith::CmpFPredicate wins>
struct CompareHalves : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    auto isWidened = [](Value value) { return bool(value.getDefiningOp<arith::ExtFOp>()); };
    if (getElementTypeOrSelf(op.getType()).getIntOrFloatBitWidth() >= 32 &&
        !isWidened(op.getLhs()) && !isWidened(op.getRhs()))
      return failure();
    Location loc = op.getLoc();
    Value x = op.getLhs(), y = op.getRhs();
    Value first = arith::CmpFOp::create(rewriter, loc, wins, x, y);
    Value isAlone = arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::UNO, y, y);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(
        op, arith::OrIOp::create(rewriter, loc, first, isAlone), x, y);
    return success();
  }
};

struct ExpandMathPass : PassWrapper<ExpandMathPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandMathPass)
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    MathPolynomialApproximationOptions options;
    options.enableAvx2 = false;
    populateMathPolynomialApproximationPatterns(patterns, options);
    math::populateExpansionPatterns(patterns, {"powf", "fpowi", "rsqrt", "roundeven"});
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    patterns.add<ContractProduct, ExpandArcTangent,
                 CompareHalves<arith::MaxNumFOp, arith::CmpFPredicate::OGT>,
                 CompareHalves<arith::MinNumFOp, arith::CmpFPredicate::OLT>>(&getContext());
    patterns.add<CallOnDoubles<math::AtanOp>>(&getContext(), "atan");
    patterns.add<CallOnDoubles<math::ErfOp>>(&getContext(), "erf");
    patterns.add<CallOnDoubles<math::ExpM1Op>>(&getContext(), "expm1");
    patterns.add<CallOnDoubles<math::Log1pOp>>(&getContext(), "log1p");
    patterns.add<ExpandSine<math::SinOp>>(&getContext(), "sinf", 0);
    patterns.add<ExpandSine<math::CosOp>>(&getContext(), "cosf", 1);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, func::FuncDialect, math::MathDialect, scf::SCFDialect,
                    vector::VectorDialect, LLVM::LLVMDialect>();
  }
};
} // namespace

std::unique_ptr<Pass> nest::createExpandMathPass() { return std::make_unique<ExpandMathPass>(); }
