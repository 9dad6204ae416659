//===- FoldConstants.cpp - constant folding -------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nd/simplify/Rules.h"

#include "lib/interp/Interpreter.h"
#include "lib/interp/ScalarRegion.h"

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

/// The largest literals, in elements, that folding creates and reads.
static constexpr int64_t mostElements = 256, mostRead = 4096;

/// The interpreter's result as an attribute; null if it is not deterministic.
static TypedAttr attributeOf(const interp::Scalar &scalar, Type type) {
  if (scalar.undecided || scalar.excluded)
    return {};
  if (auto real = dyn_cast<FloatType>(type))
    return FloatAttr::get(real, interp::roundTo(real, scalar.value));
  return IntegerAttr::get(type, APInt(interp::widthOf(type), scalar.bits, false, true));
}

/// The names of an op's operands and attributes in an order that does not depend on spelling.
static SmallVector<StringRef> writtenNames(Operation *op) {
  llvm::SetVector<StringRef> names;
  for (Value operand : op->getOperands())
    for (StringRef name : stringsOf(operand.getDefiningOp<LiteralInterface>().getOrder()))
      names.insert(name);
  for (StringRef attribute : {"order", "names", "into", "name", "tap"}) {
    if (auto list = op->getAttrOfType<ArrayAttr>(attribute))
      for (StringRef name : stringsOf(list))
        names.insert(name);
    else if (auto name = op->getAttrOfType<StringAttr>(attribute))
      names.insert(name);
  }
  return names.takeVector();
}

namespace {
LogicalResult foldLiterals(Operation *op, PatternRewriter &rewriter) {
  if (op->getNumOperands() == 0 || !op->getOperand(0).getDefiningOp<LiteralInterface>() ||
      !isa<NdDialect>(op->getDialect()) || !isPure(op) || op->hasTrait<Opaque>())
    return rewriter.notifyMatchFailure(op, "expected an op on literals");
  auto within = [](ValueRange values, int64_t most) {
    return llvm::all_of(values, [&](Value value) {
      auto type = dyn_cast<NdTensorType>(value.getType());
      return type && type.elements() >= 0 && type.elements() <= most;
    });
  };
  if (!within(op->getOperands(), mostRead) || !within(op->getResults(), mostElements) ||
      !llvm::all_of(op->getOperands(),
                    [](Value value) { return bool(value.getDefiningOp<LiteralInterface>()); }))
    return rewriter.notifyMatchFailure(op, "expected few elements");
  auto values = interp::interpretLiterals(op);
  if (failed(values))
    return rewriter.notifyMatchFailure(op, "expected an op with values");
  SmallVector<StringRef> names = writtenNames(op);
  // Compute all literals before creating ops: a rule that fails must not change the IR.
  SmallVector<std::pair<DenseElementsAttr, SmallVector<StringRef>>> literals;
  for (const interp::TensorValue &value : *values) {
    Type scalar = value.type.scalarType();
    SmallVector<interp::SizedName> order;
    SmallVector<StringRef> written;
    SmallVector<int64_t> shape;
    for (StringRef name : names)
      if (value.has(name)) {
        order.emplace_back(name.str(), value.size(name));
        written.push_back(name);
        shape.push_back(value.size(name));
      }
    if (order.size() != value.dims().size())
      return rewriter.notifyMatchFailure(op, "expected names that are written");
    SmallVector<Attribute> elements;
    for (interp::Walk walk(order); walk; ++walk) {
      elements.push_back(attributeOf(value.at(walk.position()), scalar));
      if (!elements.back())
        return rewriter.notifyMatchFailure(op, "expected values that are decided");
    }
    literals.emplace_back(DenseElementsAttr::get(RankedTensorType::get(shape, scalar), elements),
                          std::move(written));
  }
  SmallVector<Value> constants;
  for (auto [result, literal] : llvm::zip_equal(op->getResults(), literals))
    constants.push_back(
        buildLiteral(rewriter, op->getLoc(), tensorType(result), literal.first, literal.second));
  rewriter.replaceOp(op, constants);
  return success();
}

LogicalResult evaluateSplats(ScalarCodeInterface op, PatternRewriter &rewriter,
                             const RuleContext &context) {
  SmallVector<interp::Scalar> arguments;
  for (auto [argument, input] : llvm::zip_equal(op.getBody().getArguments(), op.getInputs())) {
    TypedAttr splat = splatOf(input);
    if (!splat && (!argument.use_empty() || context.mayBeExcluded(input)))
      return rewriter.notifyMatchFailure(op, "expected operands that are splats");
    arguments.push_back(splat ? interp::ofAttribute(splat) : interp::Scalar());
  }
  interp::Arithmetic arithmetic;
  auto body = interp::ScalarRegion::prepare(op.getBody(), arithmetic);
  if (failed(body))
    return failure();
  NdTensorType type = tensorType(op->getResult(0));
  TypedAttr value = attributeOf(body->run(arguments)[0], type.scalarType());
  if (!value)
    return rewriter.notifyMatchFailure(op, "expected a value that is decided");
  rewriter.replaceOp(op, buildConstant(rewriter, op.getLoc(), type, value));
  return success();
}

/// True if all elements of the op's result are `splat`, given that those of its operands are.
bool keepsSplat(Operation *op, TypedAttr splat) {
  auto moves = dyn_cast<MovesElementsInterface>(op);
  if (!moves || op->hasTrait<Opaque>())
    return false;
  auto map = indexMapOf(op);
  return (!map || map->conditions.empty() || map->outside == splat) &&
         llvm::all_of(op->getOperands().take_front(moves.getNumSources()),
                      [&](Value source) { return splatOf(source) == splat; });
}

LogicalResult mapSplat(Operation *op, PatternRewriter &rewriter) {
  TypedAttr splat = op->getNumOperands() ? splatOf(op->getOperand(0)) : TypedAttr();
  if (!splat || !keepsSplat(op, splat))
    return rewriter.notifyMatchFailure(op, "expected an index map of a splat");
  rewriter.replaceOp(op,
                     buildConstant(rewriter, op->getLoc(), tensorType(op->getResult(0)), splat));
  return success();
}
} // namespace

void nd::addConstantRules(Rules &rules) {
  rules.add("evaluate-splats", "Evaluates a pointwise function of splats to a splat.",
            evaluateSplats, Strict,
            /*benefit=*/2);
  rules.add("index-map-of-splat",
            "Folds an index map of a splat to a splat if its other elements have the same value.",
            mapSplat, Strict, /*benefit=*/2);
  rules.add("fold-literals", "Evaluates ops on literals if their results are small.", foldLiterals);
}
