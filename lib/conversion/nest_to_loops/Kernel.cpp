//===- Kernel.cpp - the function around a nest ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Kernel.h"
#include "lib/conversion/nest_to_loops/Emitter.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

SmallVector<Value> nest::kernelOperands(Operation *nest) {
  llvm::SetVector<Value> operands(nest->operand_begin(), nest->operand_end());
  nest->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (isa<nd::NdTensorType>(operand.getType()) &&
          !nest->isAncestor(operand.getParentBlock()->getParentOp()))
        operands.insert(operand);
  });
  return operands.takeVector();
}

LogicalResult Emitter::emitNest(Operation *nest, const Schedule &schedule, Value chunk) {
  loc = nest->getLoc();
  if (auto op = dyn_cast<ComputeOp>(nest))
    return emitCompute(op, schedule, chunk);
  if (auto op = dyn_cast<UpdateOp>(nest))
    return emitUpdate(op, schedule, chunk);
  if (auto op = dyn_cast<GroupOp>(nest))
    return emitGroup(op, schedule, chunk);
  if (auto op = dyn_cast<ScanOp>(nest))
    return emitScan(op);
  return nest->emitOpError() << "is not a nest that can be compiled";
}

FailureOr<KernelInfo> nest::emitKernel(const KernelRequest &request) {
  Operation *nest = request.nest;
  MLIRContext *context = nest->getContext();
  context->loadDialect<arith::ArithDialect, math::MathDialect, func::FuncDialect, scf::SCFDialect,
                       vector::VectorDialect, LLVM::LLVMDialect>();
  SmallVector<Value> operands = kernelOperands(nest);
  for (auto types :
       {llvm::to_vector(TypeRange(ValueRange(operands))), llvm::to_vector(nest->getResultTypes())})
    for (Type type : types)
      if (!cast<nd::NdTensorType>(type).isStatic())
        return nest->emitOpError() << "has sizes that are not numbers: " << type, failure();
  Location loc = nest->getLoc();
  KernelInfo info;
  info.module = ModuleOp::create(loc);
  OpBuilder builder = OpBuilder::atBlockEnd(info.module->getBody());
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto function =
      func::FuncOp::create(builder, loc, request.symbol,
                           builder.getFunctionType({pointer, builder.getI64Type(), pointer}, {}));
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToEnd(entry);
  Emitter emitter(builder, loc, request.machine);
  emitter.scratch = entry->getArgument(2);
  unsigned position = 0;
  auto place = [&](Value value, const Layout &layout) {
    Value slot = LLVM::GEPOp::create(builder, loc, pointer, pointer, entry->getArgument(0),
                                     ArrayRef<LLVM::GEPArg>{int32_t(position++)});
    Value base = LLVM::LoadOp::create(builder, loc, pointer, slot);
    emitter.memory[value] = {base, layout, tensorTypeOf(value), {}, {}};
  };
  for (auto [value, layout] : llvm::zip_equal(operands, request.operandLayouts))
    place(value, layout);
  for (auto [value, layout] : llvm::zip_equal(nest->getResults(), request.resultLayouts))
    place(value, layout);
  LogicalResult emitted = emitter.emitNest(nest, request.schedule, entry->getArgument(1));
  for (Operation *op : llvm::reverse(emitter.temporaries))
    op->destroy();
  if (failed(emitted))
    return failure();
  builder.setInsertionPointToEnd(entry);
  func::ReturnOp::create(builder, loc);
  info.chunks = emitter.chunks;
  info.scratchBytes = emitter.scratchBytes;
  return info;
}

namespace {
/// The error function of doubles has neither a polynomial here nor an intrinsic: it is called, one
/// element at a time.
struct CallErf : OpRewritePattern<math::ErfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ErfOp op, PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getType());
    auto module = op->getParentOfType<ModuleOp>();
    if (!element.isF64() || !module)
      return failure();
    if (!module.lookupSymbol("erf")) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(module.getBody());
      func::FuncOp::create(rewriter, op.getLoc(), "erf", rewriter.getFunctionType(element, element))
          .setPrivate();
    }
    auto call = [&](Value x) -> Value {
      return func::CallOp::create(rewriter, op.getLoc(), "erf", element, x).getResult(0);
    };
    auto vector = dyn_cast<VectorType>(op.getType());
    if (!vector) {
      rewriter.replaceOp(op, call(op.getOperand()));
      return success();
    }
    if (vector.getRank() != 1 || vector.isScalable())
      return failure();
    Value result = op.getOperand();
    for (int64_t i = 0; i < vector.getNumElements(); ++i) {
      Value x = vector::ExtractOp::create(rewriter, op.getLoc(), op.getOperand(), i);
      result = vector::InsertOp::create(rewriter, op.getLoc(), call(x), result, i);
    }
    rewriter.replaceOp(op, result);
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

/// Mathematical functions as polynomials, with a stated error, on any vector width.
struct ExpandMathPass : PassWrapper<ExpandMathPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandMathPass)
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    MathPolynomialApproximationOptions options;
    options.enableAvx2 = false;
    populateMathPolynomialApproximationPatterns(patterns, options);
    populateExpansionPatterns(patterns);
    patterns.add<CallErf, ContractProduct>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
  void populateExpansionPatterns(RewritePatternSet &patterns) {
    math::populateExpansionPatterns(patterns, {"expm1", "powf", "fpowi", "rsqrt", "roundeven"});
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, func::FuncDialect, math::MathDialect,
                    vector::VectorDialect, LLVM::LLVMDialect>();
  }
};
} // namespace

void nest::buildKernelLowering(OpPassManager &passes) {
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(std::make_unique<ExpandMathPass>());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(arith::createArithExpandOpsPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createConvertFuncToLLVMPass());
  passes.addPass(createUBToLLVMConversionPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
}
