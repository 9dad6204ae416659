//===- Pointwise.cpp - pointwise ops and scalar code ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nd/simplify/Rules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Pointwise ops
//===----------------------------------------------------------------------===//

namespace {
/// Drops broadcasts to names that other operands have, and moves others after the op.
LogicalResult broadcastAfterwards(PointwiseOp op, PatternRewriter &rewriter) {
  SmallVector<Value> inputs(op.getInputs());
  for (Value &input : inputs)
    if (auto broadcast = input.getDefiningOp<BroadcastOp>())
      input = broadcast.getInput();
  if (ValueRange(inputs) == ValueRange(op.getInputs()))
    return rewriter.notifyMatchFailure(op, "expected an operand that is repeated");
  SmallVector<NdTensorType> types = llvm::map_to_vector(inputs, tensorType);
  bool isCrossedNow = isCrossed(types);
  auto type = inferPointwise(tensorType(op.getResult()).getElementType(), types, isCrossedNow,
                             [&] { return op.emitError(); });
  if (failed(type))
    return failure();
  if (*type == op.getResult().getType()) {
    rewriter.modifyOpInPlace(op, [&] {
      op->setOperands(inputs);
      op.setCrossed(isCrossedNow);
    });
    return success();
  }
  auto smaller = PointwiseOp::create(rewriter, op.getLoc(), *type, inputs, isCrossedNow);
  rewriter.inlineRegionBefore(op.getBody(), smaller.getBody(), smaller.getBody().end());
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getResult().getType(), smaller);
  return success();
}

/// Folds inverse operations: a negation of a negation, the narrowing of a widened number. Composes
/// the code of both ops and folds it; applies if only one of the operands remains.
LogicalResult undoOperand(PointwiseOp op, PatternRewriter &rewriter, const RuleContext &context) {
  constexpr size_t most = 3; // ops in either body, including the yield
  auto isSmall = [&](PointwiseOp each) {
    return each && each.getBody().front().getOperations().size() <= most;
  };
  if (!isSmall(op))
    return rewriter.notifyMatchFailure(op, "expected little code");
  for (auto [at, input] : llvm::enumerate(op.getInputs())) {
    auto inner = input.getDefiningOp<PointwiseOp>();
    if (!isSmall(inner))
      continue;
    // The arguments of the composed code, with the operands that they represent.
    Block code;
    IRMapping map;
    DenseMap<Value, Value> operandOf;
    DenseMap<Value, Value> argumentOf;
    auto take = [&](PointwiseOp each) {
      for (auto [argument, operand] :
           llvm::zip_equal(each.getBody().getArguments(), each.getInputs())) {
        if (each == op && operand == input)
          continue;
        Value &own = argumentOf[operand];
        if (!own)
          own = code.addArgument(argument.getType(), argument.getLoc());
        operandOf[own] = operand;
        map.map(argument, own);
      }
    };
    auto run = [&](PointwiseOp each) -> Value {
      OpBuilder builder(each.getContext());
      builder.setInsertionPointToEnd(&code);
      for (Operation &scalar : each.getBody().front().without_terminator()) {
        Operation *copy = builder.clone(scalar, map);
        SmallVector<Value> folded;
        if (succeeded(builder.tryFold(copy, folded)) && folded.size() == 1)
          map.map(scalar.getResult(0), folded[0]);
      }
      return map.lookupOrDefault(each.getBody().front().getTerminator()->getOperand(0));
    };
    take(inner);
    take(op);
    Value between = run(inner);
    for (auto [argument, operand] : llvm::zip_equal(op.getBody().getArguments(), op.getInputs()))
      if (operand == input)
        map.map(argument, between);
    Value left = operandOf.lookup(run(op));
    // Elements that other operands exclude must remain excluded. (`left` keeps its own.)
    auto excludes = [&](auto &each) {
      return each.second != left && context.mayBeExcluded(each.second);
    };
    if (left && left.getType() == op.getResult().getType() && llvm::none_of(operandOf, excludes)) {
      rewriter.replaceOp(op, left);
      return success();
    }
  }
  return rewriter.notifyMatchFailure(op, "expected code that undoes an operand's");
}

//===----------------------------------------------------------------------===//
// Scalar code
//===----------------------------------------------------------------------===//

/// The value of a float constant.
std::optional<APFloat> numberOf(Value value) {
  APFloat number(0.0);
  return matchPattern(value, m_ConstantFloat(&number)) ? std::optional(number) : std::nullopt;
}

/// x / c is x * (1 / c), bit for bit, where c is a power of two whose inverse is a normal number.
LogicalResult divideByPower(arith::DivFOp op, PatternRewriter &rewriter) {
  auto number = numberOf(op.getRhs());
  APFloat inverse(0.0);
  if (!number || !number->getExactInverse(&inverse))
    return rewriter.notifyMatchFailure(op, "expected a power of two");
  Value factor =
      arith::ConstantOp::create(rewriter, op.getLoc(), FloatAttr::get(op.getType(), inverse));
  rewriter.replaceOpWithNewOp<arith::MulFOp>(op, op.getLhs(), factor);
  return success();
}

LogicalResult powerOfSmall(math::PowFOp op, PatternRewriter &rewriter) {
  auto number = numberOf(op.getRhs());
  auto is = [&](double value) { return number && number->isExactlyValue(value); };
  Value x = op.getLhs();
  auto one = [&] {
    return arith::ConstantOp::create(rewriter, op.getLoc(), FloatAttr::get(op.getType(), 1.0));
  };
  if (is(0))
    rewriter.replaceOp(op, one());
  else if (is(1))
    rewriter.replaceOp(op, x);
  else if (is(2))
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, x, x);
  else if (is(-1))
    rewriter.replaceOpWithNewOp<arith::DivFOp>(op, one(), x);
  else
    return rewriter.notifyMatchFailure(op, "expected an exponent of -1, 0, 1 or 2");
  return success();
}

LogicalResult negateProduct(arith::MulFOp op, PatternRewriter &rewriter) {
  auto a = op.getLhs().getDefiningOp<arith::NegFOp>(),
       b = op.getRhs().getDefiningOp<arith::NegFOp>();
  if (a && b) {
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, a.getOperand(), b.getOperand());
    return success();
  }
  auto number = numberOf(op.getRhs());
  if (!number || !number->isExactlyValue(-1.0))
    return rewriter.notifyMatchFailure(op, "expected negations");
  rewriter.replaceOpWithNewOp<arith::NegFOp>(op, op.getLhs());
  return success();
}

/// a + (-b) is a - b.
LogicalResult addNegated(arith::AddFOp op, PatternRewriter &rewriter) {
  for (unsigned i : {1, 0})
    if (auto negated = op->getOperand(i).getDefiningOp<arith::NegFOp>()) {
      rewriter.replaceOpWithNewOp<arith::SubFOp>(op, op->getOperand(1 - i), negated.getOperand());
      return success();
    }
  return rewriter.notifyMatchFailure(op, "expected a negated operand");
}

/// a - (-b) is a + b.
LogicalResult subtractNegated(arith::SubFOp op, PatternRewriter &rewriter) {
  auto negated = op.getRhs().getDefiningOp<arith::NegFOp>();
  if (!negated)
    return rewriter.notifyMatchFailure(op, "expected a negated operand");
  rewriter.replaceOpWithNewOp<arith::AddFOp>(op, op.getLhs(), negated.getOperand());
  return success();
}

LogicalResult addZero(arith::AddFOp op, PatternRewriter &rewriter) {
  for (unsigned i : {1, 0})
    if (auto number = numberOf(op->getOperand(i)); number && number->isZero()) {
      rewriter.replaceOp(op, op->getOperand(1 - i));
      return success();
    }
  return rewriter.notifyMatchFailure(op, "expected a zero");
}

LogicalResult subtractFromZero(arith::SubFOp op, PatternRewriter &rewriter) {
  auto number = numberOf(op.getLhs());
  if (!number || !number->isZero())
    return rewriter.notifyMatchFailure(op, "expected zero minus something");
  rewriter.replaceOpWithNewOp<arith::NegFOp>(op, op.getRhs());
  return success();
}

LogicalResult subtractItself(arith::SubFOp op, PatternRewriter &rewriter) {
  if (op.getLhs() != op.getRhs())
    return rewriter.notifyMatchFailure(op, "expected x - x");
  rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, FloatAttr::get(op.getType(), 0.0));
  return success();
}

LogicalResult multiplyByZero(arith::MulFOp op, PatternRewriter &rewriter) {
  auto a = numberOf(op.getLhs()), b = numberOf(op.getRhs());
  if (!(a && a->isZero()) && !(b && b->isZero()))
    return rewriter.notifyMatchFailure(op, "expected a factor of zero");
  rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, FloatAttr::get(op.getType(), 0.0));
  return success();
}

/// Marks a cast as one that need not round, for the folds of casts and for the interpreter.
LogicalResult keepCastPrecision(Operation *op, PatternRewriter &rewriter) {
  if (!isa<arith::ExtFOp, arith::TruncFOp>(op) || keepsPrecision(op))
    return rewriter.notifyMatchFailure(op, "expected a cast that rounds");
  rewriter.modifyOpInPlace(op, [&] { keepPrecision(op); });
  return success();
}

/// If the divisor lacks names of the result, divides once and multiplies by the reciprocal.
LogicalResult divideOnce(PointwiseOp op, PatternRewriter &rewriter) {
  for (auto [i, argument] : llvm::enumerate(op.getBody().getArguments())) {
    NdTensorType type = tensorType(op.getInputs()[i]);
    auto divides = [&, argument = argument](OpOperand &use) {
      return isa<arith::DivFOp>(use.getOwner()) && use.getOperandNumber() == 1 &&
             use.getOwner()->getOperand(0) != argument;
    };
    if (argument.use_empty() || !llvm::all_of(argument.getUses(), divides) ||
        type.getDims().size() >= tensorType(op.getResult()).getDims().size())
      continue;
    Location loc = op.getLoc();
    Value inverse = buildPointwise(rewriter, loc, op.getInputs()[i], type.getElementType(),
                                   [&](OpBuilder &b, ValueRange s) -> Value {
                                     Value one = arith::ConstantOp::create(
                                         b, loc, FloatAttr::get(s[0].getType(), 1.0));
                                     return arith::DivFOp::create(b, loc, one, s[0]);
                                   });
    for (Operation *user : llvm::to_vector(argument.getUsers())) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPoint(user);
      rewriter.replaceOpWithNewOp<arith::MulFOp>(user, user->getOperand(0), argument);
    }
    rewriter.modifyOpInPlace(op, [&] { op->setOperand(unsigned(i), inverse); });
    return success();
  }
  return rewriter.notifyMatchFailure(op, "expected a divisor that many share");
}
} // namespace

void nd::addPointwiseRules(Rules &rules) {
  rules.add("broadcast-afterwards",
            "Moves broadcasts of operands behind the op, and removes those over names that other "
            "operands have.",
            broadcastAfterwards);
  rules.add("undo-operand",
            "Removes a pair of inverse functions (two negations, a widening and its narrowing).",
            undoOperand);
  rules.add("divide-by-power-of-two", "A division by a power of two becomes a multiplication.",
            divideByPower);
  rules.add("small-power", "x to the power of -1, 0, 1 or 2 becomes 1 / x, 1, x or x * x.",
            powerOfSmall);
  rules.add("negate-product", "(-a) * (-b) becomes a * b, and a * -1 becomes -a.", negateProduct);
  rules.add("add-negated", "a + (-b) becomes a - b.", addNegated);
  rules.add("subtract-negated", "a - (-b) becomes a + b.", subtractNegated);
  rules.add("add-zero", "x + 0.0 becomes x.", addZero, NoSignedZeros);
  rules.add("subtract-from-zero", "0.0 - x becomes -x.", subtractFromZero, NoSignedZeros);
  rules.add("subtract-itself", "x - x becomes 0.0.", subtractItself, NoNans);
  rules.add("multiply-by-zero", "x * 0.0 becomes 0.0.", multiplyByZero, NoNans | NoSignedZeros);
  rules.add("keep-precision", "A cast between floats may keep excess precision.", keepCastPrecision,
            ExcessPrecision);
  rules.add("divide-once",
            "A division by a divisor that lacks names of the quotient becomes a product with its "
            "reciprocal.",
            divideOnce, Reciprocal);
}
