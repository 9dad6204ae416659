//===- NdVerify.cpp - verifies the numbered constraints -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Comments give the number of the constraint in NdOps.td that a check belongs to.
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/Combiner.h"
#include "dialects/nd/FunctionAttrs.h"
#include "dialects/nd/NdInference.h"

#include "llvm/ADT/StringSet.h"

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

static SmallVector<NdTensorType> typesOf(ValueRange values) {
  SmallVector<NdTensorType> types;
  for (Value value : values)
    types.push_back(tensorType(value));
  return types;
}

static LogicalResult requireType(Operation *op, Type expected, Type got,
                                 StringRef what = "a result") {
  if (expected == got)
    return success();
  return operandError(op) << "expected " << what << " of type " << expected << ", got " << got;
}

static LogicalResult requireInferred(Operation *op, FailureOr<NdTensorType> inferred) {
  if (failed(inferred))
    return failure();
  return requireType(op, *inferred, op->getResult(0).getType());
}

static auto errorsOf(Operation *op) {
  return [op] { return operandError(op); };
}

/// Verifies that the region takes `arguments`, yields `results`, and contains only scalar ops.
static LogicalResult verifyScalarRegion(Operation *op, Region &region, TypeRange arguments,
                                        TypeRange results) {
  Block &block = region.front();
  if (block.getArgumentTypes() != arguments)
    return operandError(op) << "expected a region with arguments (" << arguments << "), got ("
                            << block.getArgumentTypes() << ")";
  auto yield = dyn_cast_or_null<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield)
    return op->emitOpError() << "expected a region that ends in nd.yield";
  if (yield.getValues().getTypes() != results)
    return op->emitOpError() << "expected a region that yields (" << results << "), got ("
                             << yield.getValues().getTypes() << ")";
  for (Operation &inner : block.without_terminator())
    if (!isScalarOp(&inner))
      return inner.emitOpError() << "is not a scalar op; expected only scalar ops in a region of '"
                                 << op->getName() << "'";
  return success();
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

LogicalResult nd::verifyLiteral(NdTensorType type, ElementsAttr value, ArrayAttr order,
                                EmitError emitError) {
  llvm::StringSet<> seen;
  SmallVector<int64_t> sizes;
  for (StringRef name : stringsOf(order)) {
    if (!type.has(name) || !seen.insert(name).second)
      return emitError() << "expected 'by' to list each name of " << namesText(type.getDims())
                         << " once, got '" << name << "'";
    if (auto size = type.size(name).constant())
      sizes.push_back(*size);
  }
  if (seen.size() != type.getDims().size())
    // S10
    return emitError() << "expected 'by' to list all of " << namesText(type.getDims());
  ShapedType shaped = value.getShapedType();
  if (shaped.getElementType() != type.scalarType())
    return emitError() << "expected values of type " << type.scalarType() << ", got "
                       << shaped.getElementType();
  if (!value.isSplat() && shaped.getShape() != ArrayRef<int64_t>(sizes))
    return emitError() << "expected values for " << namesText(type.getDims())
                       << " in the order written, got " << shaped;
  return success();
}

LogicalResult ConstantOp::verify() {
  if (auto layouts = getLayouts(); layouts && layouts->size() != 1) // c3
    return emitOpError() << "expected a layout for each of 1 results, got " << layouts->size();
  return verifyLiteral(tensorType(getResult()), getValue(), getOrder(), errorsOf(*this)); // c1, c2
}

LogicalResult IotaOp::verify() {
  NdTensorType type = tensorType(getResult());
  if (type.getDims().size() != 1 || !type.has(getName())) // c1
    return emitOpError() << "expected a result with exactly the name '" << getName() << "', got "
                         << namesText(type.getDims());
  return success();
}

LogicalResult RandomOp::verify() {
  NdTensorType key = tensorType(getKey()), type = tensorType(getResult());
  if (!key.getElementType().isUnsignedInteger(64)) // c1
    return operandError(*this) << "expected a key of element type ui64, got " << key;
  if (!type.getElementType().isUnsignedInteger(32)) // c1
    return emitOpError() << "expected a result of element type ui32, got " << type;
  llvm::StringSet<> fresh;
  SmallVector<Dim> order;
  for (StringRef name : stringsOf(getOrder())) {
    if (key.has(name) || !type.has(name) || !fresh.insert(name).second) // c2
      return operandError(*this) << "expected 'by' to list names of the result "
                                 << namesText(type.getDims()) << " that the key "
                                 << namesText(key.getDims()) << " lacks, once each, got '" << name
                                 << "'";
    order.emplace_back(getContext(), name, type.size(name).getExpr());
  }
  FailureOr<NdTensorType> inferred = inferRandom(key, order, errorsOf(*this));
  if (failed(inferred))
    return failure();
  if (*inferred != type) // c2
    return operandError(*this) << "expected a result with the names of the key and of 'by', "
                               << namesText(inferred->getDims()) << ", got "
                               << namesText(type.getDims());
  return success();
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

LogicalResult PointwiseOp::verify() {
  SmallVector<NdTensorType> types = typesOf(getInputs());
  NdTensorType result = tensorType(getResult());
  FailureOr<NdTensorType> inferred =
      inferPointwise(result.getElementType(), types, getCrossed(), errorsOf(*this)); // c1, c5
  if (failed(inferred))
    return failure();
  if (result != *inferred) // c2
    return operandError(*this) << "expected a result with the names "
                               << namesText(inferred->getDims()) << ", got "
                               << namesText(result.getDims());
  SmallVector<Type> scalars;
  for (NdTensorType type : types)
    scalars.push_back(type.scalarType());
  return verifyScalarRegion(*this, getBody(), scalars, {result.scalarType()}); // c3, c4
}

/// Verifies the common part of reduce and scan: inputs of one shape, neutral elements, the
/// combiner's region, the element types of the results.
static LogicalResult verifyCombination(Operation *op, ArrayAttr neutral, Region &combiner) {
  auto inputs = op->getOperands();
  if (inputs.empty())
    return op->emitOpError() << "expected an operand";
  if (op->getNumResults() != inputs.size())
    return op->emitOpError() << "expected " << inputs.size() << " results, got "
                             << op->getNumResults();
  if (neutral.size() != inputs.size())
    return op->emitOpError() << "expected " << inputs.size() << " neutral elements, got "
                             << neutral.size();
  SmallVector<Type> accumulators;
  for (auto [input, value, result] : llvm::zip_equal(inputs, neutral, op->getResults())) {
    NdTensorType type = tensorType(input);
    if (type.getDims() != tensorType(inputs[0]).getDims())
      return operandError(op) << "expected operands with the same names and sizes, got "
                              << namesText(tensorType(inputs[0]).getDims()) << " and "
                              << namesText(type.getDims());
    auto typed = dyn_cast<TypedAttr>(value);
    if (!typed)
      return op->emitOpError() << "expected neutral elements that are numbers, got " << value;
    Type scalar = type.scalarType(), accumulator = typed.getType();
    bool isFloat = isa<FloatType>(scalar) && isa<FloatType>(accumulator);
    if (accumulator != scalar &&
        !(isFloat && scalar.getIntOrFloatBitWidth() < accumulator.getIntOrFloatBitWidth()))
      return operandError(op) << "expected a neutral element of type " << scalar
                              << " or a wider float, got " << accumulator;
    Type element = tensorType(result).getElementType();
    if (signless(element) != accumulator && !(isFloat && isa<FloatType>(element)))
      return operandError(op) << "expected a result with elements of type " << accumulator
                              << (isFloat ? " or another float" : "") << ", got " << element;
    accumulators.push_back(accumulator);
  }
  SmallVector<Type> arguments(accumulators);
  arguments.append(accumulators);
  return verifyScalarRegion(op, combiner, arguments, accumulators);
}

LogicalResult ReduceOp::verify() {
  if (failed(verifyCombination(*this, getNeutral(), getCombiner()))) // c1, c3, c4, c5
    return failure();
  for (auto [input, result] : llvm::zip_equal(getInputs(), getResults())) {
    FailureOr<NdTensorType> inferred =
        inferReduce(tensorType(input), stringsOf(getNames()), errorsOf(*this)); // c2
    if (failed(inferred))
      return failure();
    if (tensorType(result).getDims() != inferred->getDims()) // c3
      return operandError(*this) << "expected a result with the names "
                                 << namesText(inferred->getDims()) << ", got "
                                 << namesText(tensorType(result).getDims());
  }
  return verifyNeutral(*this, getCombiner(), getNeutral()); // c6
}

LogicalResult ScanOp::verify() {
  if (failed(verifyCombination(*this, getNeutral(), getCombiner())) ||           // c1, c3
      failed(inferScan(tensorType(getInputs()[0]), getName(), errorsOf(*this)))) // c1
    return failure();
  for (auto [input, result] : llvm::zip_equal(getInputs(), getResults()))
    if (tensorType(result).getDims() != tensorType(input).getDims()) // c2
      return operandError(*this) << "expected a result with the names "
                                 << namesText(tensorType(input).getDims()) << ", got "
                                 << namesText(tensorType(result).getDims());
  return verifyNeutral(*this, getCombiner(), getNeutral(), /*fromRight=*/false); // c4
}

LogicalResult RoundOp::verify() {
  auto to = dyn_cast<FloatType>(getTo()),
       from = dyn_cast<FloatType>(tensorType(getInput()).getElementType());
  bool isElement =
      to && succeeded(NdTensorType::verify([&] { return InFlightDiagnostic(); }, to, nullptr));
  if (!isElement || !from || to.getWidth() > from.getWidth()) // c1
    return operandError(*this) << "expected an element type of floats no wider than "
                               << tensorType(getInput()).getElementType() << ", got " << getTo();
  return requireType(*this, getInput().getType(), getResult().getType());
}

//===----------------------------------------------------------------------===//
// Index maps
//===----------------------------------------------------------------------===//

LogicalResult WindowOp::verify() {
  NdTensorType input = tensorType(getInput());
  if (getPaddingAttr() && getPaddingAttr().getType() != input.scalarType()) // c4
    return operandError(*this) << "expected padding of type " << input.scalarType() << ", got "
                               << getPaddingAttr().getType();
  return requireInferred(*this,
                         inferWindow(input, windowShape(*this), errorsOf(*this))); // c1, c2, c3
}

LogicalResult UnwindowOp::verify() {
  NdTensorType result = tensorType(getResult());
  if (!result.has(getName())) // c1
    return emitOpError() << "expected a result with the name '" << getName() << "', got "
                         << namesText(result.getDims());
  return requireInferred(*this, inferUnwindow(tensorType(getInput()), windowShape(*this),
                                              result.size(getName()).getExpr(),
                                              errorsOf(*this))); // c1, c2
}

LogicalResult SliceOp::verify() {
  return requireInferred(*this, inferSlice(tensorType(getInput()), getName(), getStart().getExpr(),
                                           getSize().getExpr(), getStride(), errorsOf(*this)));
}

LogicalResult PadOp::verify() {
  NdTensorType input = tensorType(getInput());
  if (getValue().getType() != input.scalarType()) // c2
    return operandError(*this) << "expected a value of type " << input.scalarType() << ", got "
                               << getValue().getType();
  return requireInferred(*this, inferPad(input, getName(), getLow().getExpr(), getHigh().getExpr(),
                                         getInterior(), errorsOf(*this)));
}

LogicalResult ConcatOp::verify() {
  return requireInferred(*this, inferConcat(typesOf(getInputs()), getName(), errorsOf(*this)));
}

LogicalResult SplitOp::verify() {
  NdTensorType result = tensorType(getResult());
  SmallVector<Dim> into;
  for (StringRef name : stringsOf(getInto())) {
    if (!result.has(name)) // c3
      return emitOpError() << "expected a result with the name '" << name << "', got "
                           << namesText(result.getDims());
    into.emplace_back(getContext(), name, result.size(name).getExpr());
  }
  return requireInferred(*this,
                         inferSplit(tensorType(getInput()), getName(), into, errorsOf(*this)));
}

LogicalResult MergeOp::verify() {
  return requireInferred(
      *this, inferMerge(tensorType(getInput()), stringsOf(getNames()), getInto(), errorsOf(*this)));
}

LogicalResult RenameOp::verify() {
  return requireInferred(*this, inferRename(tensorType(getInput()), stringsOf(getFrom()),
                                            stringsOf(getTo()), errorsOf(*this)));
}

LogicalResult BroadcastOp::verify() {
  NdTensorType input = tensorType(getInput()), result = tensorType(getResult());
  FailureOr<NdTensorType> inferred =
      inferBroadcast(input, result.getDims().getDims(), errorsOf(*this)); // c1
  if (failed(inferred))
    return failure();
  if (inferred->getDims() != result.getDims()) // c1
    return operandError(*this) << "expected a result that has all of " << namesText(input.getDims())
                               << ", got " << namesText(result.getDims());
  return requireType(*this, *inferred, result);
}

//===----------------------------------------------------------------------===//
// Access by value
//===----------------------------------------------------------------------===//

LogicalResult GatherOp::verify() {
  return requireInferred(*this, inferGather(tensorType(getInput()), typesOf(getIndices()),
                                            stringsOf(getNames()), errorsOf(*this)));
}

LogicalResult ScatterOp::verify() {
  NdTensorType destination = tensorType(getDestination());
  FailureOr<NdTensorType> gathered =
      inferGather(destination, typesOf(getIndices()), stringsOf(getNames()), errorsOf(*this)); // c1
  if (failed(gathered))
    return failure();
  if (tensorType(getUpdates()) != *gathered) // c2
    return requireType(*this, *gathered, getUpdates().getType(), "updates");
  if (failed(requireType(*this, destination, getResult().getType()))) // c3
    return failure();
  Type scalar = destination.scalarType();
  return verifyScalarRegion(*this, getCombiner(), {scalar, scalar}, {scalar}); // c4
}

LogicalResult DynamicSliceOp::verify() {
  return requireInferred(*this, inferDynamicSlice(tensorType(getInput()), tensorType(getStart()),
                                                  getName(), getSize().getExpr(),
                                                  errorsOf(*this))); // c1 to c4
}

LogicalResult UpdateSliceOp::verify() {
  return requireInferred(*this,
                         inferUpdateSlice(tensorType(getPart()), tensorType(getDestination()),
                                          tensorType(getStart()), getName(),
                                          errorsOf(*this))); // c1, c2, c3
}

LogicalResult SortOp::verify() { return verifySort(*this, getName(), errorsOf(*this)); } // c1 to c3

//===----------------------------------------------------------------------===//
// Scalars of control flow; calls are verified in NdCall.cpp
//===----------------------------------------------------------------------===//

static LogicalResult verifyItem(Operation *op, NdTensorType tensor, Type scalar) {
  bool fits = scalar.isIndex() ? tensor.getElementType().isSignlessInteger(64)
                               : scalar == tensor.scalarType();
  if (!tensor.getDims().getDims().empty() || !fits) // c1
    return operandError(op) << "expected a tensor without names and " << scalar << ", "
                            << "or 'index' for elements of i64, got " << tensor << " and "
                            << scalar;
  return success();
}
LogicalResult ItemOp::verify() {
  return verifyItem(*this, tensorType(getInput()), getResult().getType());
}
LogicalResult FromItemOp::verify() {
  return verifyItem(*this, tensorType(getResult()), getInput().getType());
}
