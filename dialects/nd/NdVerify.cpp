//===- NdVerify.cpp - the numbered constraints of the ops -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Comments give the number of the constraint in NdOps.td that a check belongs to.
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdInference.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringSet.h"

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

static NdTensorType typeOf(Value value) { return cast<NdTensorType>(value.getType()); }
static SmallVector<NdTensorType> typesOf(ValueRange values) {
  SmallVector<NdTensorType> types;
  for (Value value : values)
    types.push_back(typeOf(value));
  return types;
}
static SmallVector<StringRef> strings(ArrayAttr names) {
  return llvm::to_vector(names.getAsValueRange<StringAttr>());
}

static LogicalResult requireType(Operation *op, Type expected, Type got, StringRef what = "a result") {
  if (expected == got)
    return success();
  return op->emitOpError() << "expected " << what << " of type " << expected << ", got " << got;
}

static LogicalResult requireInferred(Operation *op, FailureOr<NdTensorType> inferred) {
  if (failed(inferred))
    return failure();
  return requireType(op, *inferred, op->getResult(0).getType());
}

static auto errorsOf(Operation *op) {
  return [op] { return op->emitOpError(); };
}

/// The region takes `arguments`, yields `results`, and holds scalar ops alone.
static LogicalResult verifyScalarRegion(Operation *op, Region &region, TypeRange arguments, TypeRange results) {
  Block &block = region.front();
  if (block.getArgumentTypes() != arguments)
    return op->emitOpError() << "expected a region with arguments (" << arguments << "), got ("
                             << block.getArgumentTypes() << ")";
  auto yield = dyn_cast_or_null<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield)
    return op->emitOpError() << "expected a region that ends in nd.yield";
  if (yield.getValues().getTypes() != results)
    return op->emitOpError() << "expected a region that yields (" << results << "), got ("
                             << yield.getValues().getTypes() << ")";
  for (Operation &inner : block.without_terminator())
    if (!isScalarOp(&inner))
      return inner.emitOpError() << "is not a scalar op that may stand in a region of '" << op->getName() << "'";
  return success();
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

LogicalResult ConstantOp::verify() {
  NdTensorType type = typeOf(getResult());
  llvm::StringSet<> seen;
  SmallVector<int64_t> sizes;
  for (StringRef name : strings(getOrder())) {
    if (!type.has(name) || !seen.insert(name).second) // c1
      return emitOpError() << "expected `by` to list each name of " << namesText(type.getDims()) << " once, got '"
                           << name << "'";
    if (auto size = type.size(name).constant())
      sizes.push_back(*size);
  }
  if (seen.size() != type.getDims().size()) // c1
    return emitOpError() << "expected `by` to list all of " << namesText(type.getDims());
  ShapedType shaped = getValue().getShapedType();
  if (shaped.getElementType() != type.scalarType()) // c2
    return emitOpError() << "expected values of type " << type.scalarType() << ", got " << shaped.getElementType();
  if (!getValue().isSplat() && shaped.getShape() != ArrayRef<int64_t>(sizes)) // c2
    return emitOpError() << "expected values for " << namesText(type.getDims()) << " in the order written, got "
                         << shaped;
  return success();
}

LogicalResult IotaOp::verify() {
  NdTensorType type = typeOf(getResult());
  if (type.getDims().size() != 1 || !type.has(getName())) // c1
    return emitOpError() << "expected a result with exactly the name '" << getName() << "', got "
                         << namesText(type.getDims());
  return success();
}

LogicalResult RandomOp::verify() {
  NdTensorType key = typeOf(getKey()), type = typeOf(getResult());
  if (!key.getElementType().isUnsignedInteger(64)) // c1
    return emitOpError() << "expected a key of element type ui64, got " << key;
  if (!type.getElementType().isUnsignedInteger(32)) // c1
    return emitOpError() << "expected a result of element type ui32, got " << type;
  llvm::StringSet<> fresh;
  for (StringRef name : strings(getOrder()))
    if (key.has(name) || !fresh.insert(name).second || !type.has(name)) // c2
      return emitOpError() << "expected `by` to list names of the result that the key lacks, once each, got '" << name
                           << "'";
  for (const Dim &dim : key.getDims())
    if (type.size(dim.name.getValue()) != dim.size()) // c2
      return emitOpError() << "expected the result to have the key's names " << namesText(key.getDims()) << ", got "
                           << namesText(type.getDims());
  if (type.getDims().size() != key.getDims().size() + fresh.size()) // c2
    return emitOpError() << "expected a result with the names of the key and of `by`, got "
                         << namesText(type.getDims());
  return success();
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

LogicalResult PointwiseOp::verify() {
  SmallVector<NdTensorType> types = typesOf(getInputs());
  NdTensorType result = typeOf(getResult());
  DimsAttr expected = DimsAttr::getSorted(getContext(), {});
  if (!types.empty()) {
    FailureOr<DimsAttr> all = unionOfNames(types, errorsOf(*this)); // c1
    if (failed(all))
      return failure();
    expected = *all;
  }
  if (result.getDims() != expected) // c2
    return emitOpError() << "expected a result with the names " << namesText(expected) << ", got "
                         << namesText(result.getDims());
  SmallVector<Type> scalars;
  for (NdTensorType type : types)
    scalars.push_back(type.scalarType());
  if (!getCrossed())
    for (size_t i = 0; i < types.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        auto names = [](NdTensorType type) { return type.getDims().getDims(); };
        bool share = llvm::any_of(names(types[i]), [&](const Dim &dim) { return types[j].has(dim.name.getValue()); });
        // Three operands may be linked by the third: what matters is that none stands alone.
        bool linked = llvm::any_of(types, [&](NdTensorType other) {
          return llvm::any_of(names(types[i]), [&](const Dim &dim) { return other.has(dim.name.getValue()); }) &&
                 llvm::any_of(names(types[j]), [&](const Dim &dim) { return other.has(dim.name.getValue()); });
        });
        if (!share && !linked && !names(types[i]).empty() && !names(types[j]).empty()) // c5
          return emitOpError() << "expected operands that share a name, got " << namesText(types[j].getDims())
                               << " and " << namesText(types[i].getDims())
                               << "; write 'crossed' for an outer product";
      }
  return verifyScalarRegion(*this, getBody(), scalars, {result.scalarType()}); // c3, c4
}

/// What reduce and scan share: inputs of one shape, neutral elements, the combiner's region.
static LogicalResult verifyCombination(Operation *op, ValueRange inputs, ArrayAttr neutral, Region &combiner) {
  if (inputs.empty())
    return op->emitOpError() << "expected an operand";
  if (neutral.size() != inputs.size())
    return op->emitOpError() << "expected " << inputs.size() << " neutral elements, got " << neutral.size();
  SmallVector<Type> accumulators;
  for (auto [input, value] : llvm::zip_equal(inputs, neutral)) {
    NdTensorType type = typeOf(input);
    if (type.getDims() != typeOf(inputs[0]).getDims())
      return op->emitOpError() << "expected operands with the same names and sizes, got "
                               << namesText(typeOf(inputs[0]).getDims()) << " and " << namesText(type.getDims());
    auto typed = dyn_cast<TypedAttr>(value);
    if (!typed)
      return op->emitOpError() << "expected neutral elements that are numbers, got " << value;
    Type scalar = type.scalarType();
    bool wider = isa<FloatType>(scalar) && isa<FloatType>(typed.getType()) &&
                 scalar.getIntOrFloatBitWidth() < typed.getType().getIntOrFloatBitWidth();
    if (typed.getType() != scalar && !wider)
      return op->emitOpError() << "expected a neutral element of type " << scalar << " or a wider float, got "
                               << typed.getType();
    accumulators.push_back(typed.getType());
  }
  SmallVector<Type> arguments(accumulators);
  arguments.append(accumulators);
  return verifyScalarRegion(op, combiner, arguments, accumulators);
}

LogicalResult ReduceOp::verify() {
  if (failed(verifyCombination(*this, getInputs(), getNeutral(), getCombiner()))) // c1, c4, c5
    return failure();
  if (getNames().empty()) // c2
    return emitOpError() << "expected names to reduce over";
  if (getNumResults() != getInputs().size())
    return emitOpError() << "expected " << getInputs().size() << " results, got " << getNumResults();
  for (auto [input, result] : llvm::zip_equal(getInputs(), getResults())) {
    FailureOr<DimsAttr> dims = withoutNames(typeOf(input), getNames(), errorsOf(*this)); // c2
    if (failed(dims))
      return failure();
    if (typeOf(result).getDims() != *dims) // c3
      return emitOpError() << "expected a result with the names " << namesText(*dims) << ", got "
                           << namesText(typeOf(result).getDims());
  }
  return success();
}

LogicalResult ScanOp::verify() {
  if (failed(verifyCombination(*this, getInputs(), getNeutral(), getCombiner()))) // c1, c3
    return failure();
  if (!typeOf(getInputs()[0]).has(getName())) // c1
    return emitOpError() << "unknown name '" << getName() << "'; the tensor has "
                         << namesText(typeOf(getInputs()[0]).getDims());
  if (getNumResults() != getInputs().size())
    return emitOpError() << "expected " << getInputs().size() << " results, got " << getNumResults();
  for (auto [input, result] : llvm::zip_equal(getInputs(), getResults()))
    if (typeOf(result).getDims() != typeOf(input).getDims()) // c2
      return emitOpError() << "expected a result with the names " << namesText(typeOf(input).getDims()) << ", got "
                           << namesText(typeOf(result).getDims());
  return success();
}

LogicalResult RoundOp::verify() {
  auto to = dyn_cast<FloatType>(getTo()), from = dyn_cast<FloatType>(typeOf(getInput()).getElementType());
  if (!to || !from || to.getWidth() > from.getWidth()) // c1
    return emitOpError() << "expected a float type no wider than " << typeOf(getInput()).getElementType() << ", got "
                         << getTo();
  return requireType(*this, getInput().getType(), getResult().getType());
}

//===----------------------------------------------------------------------===//
// Index maps
//===----------------------------------------------------------------------===//

LogicalResult WindowOp::verify() {
  NdTensorType input = typeOf(getInput());
  if (getPaddingAttr() && getPaddingAttr().getType() != input.scalarType()) // c4
    return emitOpError() << "expected padding of type " << input.scalarType() << ", got "
                         << getPaddingAttr().getType();
  return requireInferred(*this, inferWindow(input, windowShape(*this), errorsOf(*this))); // c1, c2, c3
}

LogicalResult UnwindowOp::verify() {
  NdTensorType result = typeOf(getResult());
  FailureOr<NdTensorType> windowed = inferWindow(result, windowShape(*this), errorsOf(*this)); // c1
  if (failed(windowed))
    return failure();
  return requireType(*this, *windowed, getInput().getType(), "an operand"); // c2
}

LogicalResult SliceOp::verify() {
  return requireInferred(*this, inferSlice(typeOf(getInput()), getName(), getStart(), getSize().getExpr(), getStride(),
                                           errorsOf(*this)));
}

LogicalResult PadOp::verify() {
  NdTensorType input = typeOf(getInput());
  if (getValue().getType() != input.scalarType()) // c2
    return emitOpError() << "expected a value of type " << input.scalarType() << ", got " << getValue().getType();
  return requireInferred(*this, inferPad(input, getName(), getLow(), getHigh(), getInterior(), errorsOf(*this)));
}

LogicalResult ConcatOp::verify() {
  return requireInferred(*this, inferConcat(typesOf(getInputs()), getName(), errorsOf(*this)));
}

LogicalResult SplitOp::verify() {
  NdTensorType result = typeOf(getResult());
  SmallVector<Dim> into;
  for (StringRef name : strings(getInto())) {
    if (!result.has(name)) // c3
      return emitOpError() << "expected a result with the name '" << name << "', got " << namesText(result.getDims());
    into.emplace_back(getContext(), name, result.size(name).getExpr());
  }
  return requireInferred(*this, inferSplit(typeOf(getInput()), getName(), into, errorsOf(*this)));
}

LogicalResult MergeOp::verify() {
  return requireInferred(*this, inferMerge(typeOf(getInput()), strings(getNames()), getInto(), errorsOf(*this)));
}

LogicalResult RenameOp::verify() {
  return requireInferred(*this, inferRename(typeOf(getInput()), strings(getFrom()), strings(getTo()),
                                            errorsOf(*this)));
}

LogicalResult BroadcastOp::verify() {
  NdTensorType input = typeOf(getInput()), result = typeOf(getResult());
  if (input.getElementType() != result.getElementType())
    return requireType(*this, input.getElementType(), result.getElementType(), "a result with elements");
  for (const Dim &dim : input.getDims())
    if (result.size(dim.name.getValue()) != dim.size()) // c1
      return emitOpError() << "expected a result that has all of " << namesText(input.getDims()) << ", got "
                           << namesText(result.getDims());
  return success();
}

//===----------------------------------------------------------------------===//
// Access by value
//===----------------------------------------------------------------------===//

LogicalResult GatherOp::verify() {
  return requireInferred(*this, inferGather(typeOf(getInput()), typesOf(getIndices()), getNames(), errorsOf(*this)));
}

LogicalResult ScatterOp::verify() {
  NdTensorType destination = typeOf(getDestination());
  FailureOr<NdTensorType> gathered =
      inferGather(destination, typesOf(getIndices()), getNames(), errorsOf(*this)); // c1
  if (failed(gathered))
    return failure();
  if (typeOf(getUpdates()) != *gathered) // c2
    return requireType(*this, *gathered, getUpdates().getType(), "updates");
  if (failed(requireType(*this, destination, getResult().getType()))) // c3
    return failure();
  Type scalar = destination.scalarType();
  return verifyScalarRegion(*this, getCombiner(), {scalar, scalar}, {scalar}); // c4
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

LogicalResult CallOp::verify() { return success(); }
LogicalResult VjpOp::verify() { return success(); }

static func::FuncOp calleeOf(Operation *op, FlatSymbolRefAttr symbol, SymbolTableCollection &tables) {
  auto callee = tables.lookupNearestSymbolFrom<func::FuncOp>(op, symbol);
  if (!callee)
    op->emitOpError() << "expected a function, '@" << symbol.getValue() << "' is none";
  return callee;
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &tables) {
  func::FuncOp callee = calleeOf(*this, getCalleeAttr(), tables);
  if (!callee)
    return failure();
  FunctionType type = callee.getFunctionType();
  if (type.getNumInputs() != getInputs().size() || type.getNumResults() != getNumResults()) // c1
    return emitOpError() << "expected " << type.getNumInputs() << " operands and " << type.getNumResults()
                         << " results for '@" << getCallee() << "', got " << getInputs().size() << " and "
                         << getNumResults();
  SmallVector<Dim> lifted;
  std::map<std::string, Expr, std::less<>> symbols;
  for (auto [operand, formalType] : llvm::zip_equal(getInputs(), type.getInputs())) {
    auto formal = cast<NdTensorType>(formalType);
    NdTensorType actual = typeOf(operand);
    if (formal.getElementType() != actual.getElementType()) // c2
      return emitOpError() << "expected an operand of element type " << formal.getElementType() << ", got " << actual;
    for (const Dim &dim : formal.getDims()) {
      SizeAttr size = actual.size(dim.name.getValue());
      if (!size) // c2
        return emitOpError() << "expected an operand with the names " << namesText(formal.getDims()) << ", got "
                             << namesText(actual.getDims());
      Expr want = dim.size().getExpr();
      if (auto symbol = want.asName())
        want = symbols.try_emplace(*symbol, size.getExpr()).first->second;
      want = want.substitute(symbols);
      if (want != size.getExpr()) // c2
        return emitOpError() << "expected size " << want.str() << " for '" << dim.name.getValue() << "', got "
                             << size.getExpr().str();
    }
    for (const Dim &dim : actual.getDims())
      if (!formal.has(dim.name.getValue())) {
        const auto *known = llvm::find_if(lifted, [&](const Dim &other) { return other.name == dim.name; });
        if (known == lifted.end())
          lifted.push_back(dim);
        else if (known->sizeAttr != dim.sizeAttr) // c3
          return emitOpError() << "the lifted name '" << dim.name.getValue() << "' has the sizes "
                               << known->size().getExpr().str() << " and " << dim.size().getExpr().str();
      }
  }
  for (auto [result, formalType] : llvm::zip_equal(getResults(), type.getResults())) {
    auto formal = cast<NdTensorType>(formalType);
    SmallVector<Dim> dims;
    for (const Dim &dim : formal.getDims()) {
      if (llvm::any_of(lifted, [&](const Dim &other) { return other.name == dim.name; }))
        return emitOpError() << "the lifted name '" << dim.name.getValue()
                             << "' is a name of the callee's result " << namesText(formal.getDims());
      dims.emplace_back(getContext(), dim.name.getValue(), dim.size().getExpr().substitute(symbols));
    }
    // A result that does not depend on a lifted operand may lack its names.
    for (const Dim &dim : typeOf(result).getDims())
      if (llvm::is_contained(lifted, dim))
        dims.push_back(dim);
    if (failed(requireType(*this, formal.withDims(dims), result.getType()))) // c4
      return failure();
  }
  return success();
}

LogicalResult VjpOp::verifySymbolUses(SymbolTableCollection &tables) {
  func::FuncOp callee = calleeOf(*this, getCalleeAttr(), tables);
  if (!callee)
    return failure();
  FunctionType type = callee.getFunctionType();
  if (TypeRange(getInputs().getTypes()) != TypeRange(type.getInputs()) ||
      TypeRange(getCotangents().getTypes()) != TypeRange(type.getResults())) // c1
    return emitOpError() << "expected operands (" << type.getInputs() << ") and cotangents (" << type.getResults()
                         << "), got (" << getInputs().getTypes() << ") and (" << getCotangents().getTypes() << ")";
  SmallVector<Type> expected(type.getResults());
  llvm::SmallSet<int64_t, 8> seen;
  for (int64_t position : getWrt()) {
    if (position < 0 || position >= int64_t(type.getNumInputs()) || !seen.insert(position).second ||
        !isa<FloatType>(cast<NdTensorType>(type.getInput(position)).getElementType())) // c2
      return emitOpError() << "expected `wrt` to list positions of float arguments once each, got " << position;
    expected.push_back(type.getInput(position));
  }
  if (TypeRange(getResultTypes()) != TypeRange(expected)) // c3
    return emitOpError() << "expected results (" << expected << "), got (" << getResultTypes() << ")";
  return success();
}
