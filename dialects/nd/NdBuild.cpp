//===- NdBuild.cpp - ops with inferred types ------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

/// Emits errors at `loc` with notes at the operands.
static auto errorsAt(Location loc, ValueRange operands) {
  return [loc, operands] {
    InFlightDiagnostic error = emitError(loc);
    noteOperands(error, operands);
    return error;
  };
}

static SmallVector<NdTensorType> typesOf(ValueRange values) {
  return llvm::map_to_vector(values, tensorType);
}

/// Fills `region` with a block that has `arguments` and yields the values of `body`.
static void fillRegion(OpBuilder &builder, Location loc, Region &region, TypeRange arguments,
                       ScalarsBody body) {
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&region);
  for (Type type : arguments)
    block->addArgument(type, loc);
  SmallVector<Value> results = body(builder, block->getArguments());
  YieldOp::create(builder, loc, results);
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

/// Creates an op of an inferred type; null if its operands do not fit.
template <typename Op, typename... Arguments>
static Value create(OpBuilder &builder, Location loc, FailureOr<NdTensorType> type,
                    Arguments &&...arguments) {
  if (failed(type))
    return {};
  return Op::create(builder, loc, *type, std::forward<Arguments>(arguments)...);
}

static SmallVector<StringRef> namesOf(ArrayRef<Dim> dims) {
  return llvm::map_to_vector(dims, [](const Dim &dim) { return dim.name.getValue(); });
}

Value nd::buildConstant(OpBuilder &builder, Location loc, NdTensorType type, TypedAttr value) {
  assert(value.getType() == type.scalarType() && "expected a value of the scalar type");
  auto splat = DenseElementsAttr::get(RankedTensorType::get({}, value.getType()),
                                      ArrayRef<Attribute>(value));
  return buildLiteral(builder, loc, type, splat, namesOf(type.getDims().getDims()));
}

Value nd::buildConstant(OpBuilder &builder, Location loc, NdTensorType type, double value) {
  return buildConstant(builder, loc, type, numberAttr(type.scalarType(), value));
}

Value nd::buildConstant(OpBuilder &builder, Location loc, Type element, DenseElementsAttr value,
                        Strings order) {
  ArrayRef<int64_t> shape = value.getType().getShape();
  if (shape.size() != order.size() || value.getElementType() != signless(element)) {
    emitError(loc) << "expected " << order.size() << " sizes and elements of type "
                   << signless(element) << ", got " << value.getType();
    return {};
  }
  SmallVector<Dim> dims;
  for (auto [name, size] : llvm::zip_equal(order, shape)) {
    if (llvm::is_contained(namesOf(dims), name)) {
      emitError(loc) << "the name '" << name << "' is listed twice";
      return {};
    }
    dims.emplace_back(builder.getContext(), name, Expr(size));
  }
  return buildLiteral(builder, loc, NdTensorType::get(element, dims), value, order);
}

Value nd::buildLiteral(OpBuilder &builder, Location loc, NdTensorType type, ElementsAttr value,
                       Strings order) {
  return ConstantOp::create(builder, loc, type, value, builder.getStrArrayAttr(order));
}

Value nd::buildIota(OpBuilder &builder, Location loc, const Dim &dim, Type element) {
  return IotaOp::create(builder, loc, NdTensorType::get(element, dim), dim.name.getValue());
}

Value nd::buildRandom(OpBuilder &builder, Location loc, Value key, ArrayRef<Dim> order) {
  return create<RandomOp>(builder, loc, inferRandom(tensorType(key), order, errorsAt(loc, key)),
                          key, builder.getStrArrayAttr(namesOf(order)));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value nd::buildPointwise(OpBuilder &builder, Location loc, ValueRange inputs, Type resultElement,
                         ScalarBody body) {
  SmallVector<NdTensorType> types = typesOf(inputs);
  FailureOr<NdTensorType> type =
      inferPointwise(resultElement, types, /*crossed=*/true, errorsAt(loc, inputs));
  if (failed(type))
    return {};
  auto op = PointwiseOp::create(builder, loc, *type, inputs, isCrossed(types));
  SmallVector<Type> scalars =
      llvm::map_to_vector(types, [](NdTensorType type) { return type.scalarType(); });
  fillRegion(builder, loc, op.getBody(), scalars, [&](OpBuilder &b, ValueRange arguments) {
    return SmallVector<Value>{body(b, arguments)};
  });
  return op.getResult();
}

template <typename FloatOp, typename IntegerOp>
static Value binary(OpBuilder &builder, Location loc, Value a, Value b) {
  Type element = tensorType(a).getElementType();
  assert(tensorType(b).scalarType() == signless(element) &&
         "expected operands of one element type");
  return buildPointwise(builder, loc, {a, b}, element, [&](OpBuilder &b, ValueRange s) -> Value {
    if (isa<FloatType>(element))
      return FloatOp::create(b, loc, s[0], s[1]);
    return IntegerOp::create(b, loc, s[0], s[1]);
  });
}

Value nd::add(OpBuilder &builder, Location loc, Value a, Value b) {
  return binary<arith::AddFOp, arith::AddIOp>(builder, loc, a, b);
}
Value nd::sub(OpBuilder &builder, Location loc, Value a, Value b) {
  return binary<arith::SubFOp, arith::SubIOp>(builder, loc, a, b);
}
Value nd::mul(OpBuilder &builder, Location loc, Value a, Value b) {
  return binary<arith::MulFOp, arith::MulIOp>(builder, loc, a, b);
}

Value nd::neg(OpBuilder &builder, Location loc, Value a) {
  Type element = tensorType(a).getElementType();
  return buildPointwise(builder, loc, a, element, [&](OpBuilder &b, ValueRange s) -> Value {
    if (isa<FloatType>(element))
      return arith::NegFOp::create(b, loc, s[0]);
    return arith::SubIOp::create(b, loc, buildNumber(b, loc, s[0].getType(), 0), s[0]);
  });
}

Value nd::select(OpBuilder &builder, Location loc, Value condition, Value yes, Value no) {
  assert(yes && no && tensorType(condition).getElementType().isInteger(1) &&
         "expected an i1 condition");
  return buildPointwise(builder, loc, {condition, yes, no}, tensorType(yes).getElementType(),
                        [&](OpBuilder &b, ValueRange s) -> Value {
                          return arith::SelectOp::create(b, loc, s[0], s[1], s[2]);
                        });
}

Value nd::buildCast(OpBuilder &builder, Location loc, Value input, Type element) {
  Type from = tensorType(input).getElementType();
  if (from == element)
    return input;
  return buildPointwise(builder, loc, input, element, [&](OpBuilder &b, ValueRange s) {
    return convertScalar(b, loc, s[0], from, element);
  });
}

static ArrayAttr arrayOf(OpBuilder &builder, ArrayRef<TypedAttr> values) {
  return builder.getArrayAttr(SmallVector<Attribute>(values.begin(), values.end()));
}

static SmallVector<Type> combinerTypes(ArrayRef<TypedAttr> neutral) {
  SmallVector<Type> types;
  for (int copy = 0; copy < 2; ++copy)
    for (TypedAttr value : neutral)
      types.push_back(value.getType());
  return types;
}

SmallVector<Value> nd::buildReduce(OpBuilder &builder, Location loc, ValueRange inputs,
                                   Strings names, ArrayRef<TypedAttr> neutral,
                                   ScalarsBody combiner) {
  SmallVector<Type> types;
  for (Value input : inputs) {
    FailureOr<NdTensorType> type = inferReduce(tensorType(input), names, errorsAt(loc, input));
    if (failed(type))
      return {};
    types.push_back(*type);
  }
  auto op = ReduceOp::create(builder, loc, types, inputs, builder.getStrArrayAttr(names),
                             arrayOf(builder, neutral));
  fillRegion(builder, loc, op.getCombiner(), combinerTypes(neutral), combiner);
  return SmallVector<Value>(op.getResults());
}

Value nd::buildReduce(OpBuilder &builder, Location loc, Value input, Strings names,
                      CombinerKind kind, Type accumulator) {
  if (names.empty())
    return input;
  FailureOr<NdTensorType> type = inferReduce(tensorType(input), names, errorsAt(loc, input));
  if (failed(type))
    return {};
  Type element = type->getElementType();
  if (!accumulator)
    accumulator = accumulatorType(element);
  bool isSigned = isSignedElement(element);
  Attribute neutral = neutralElement(kind, accumulator, isSigned);
  auto op = ReduceOp::create(builder, loc, TypeRange(*type), input, builder.getStrArrayAttr(names),
                             builder.getArrayAttr(neutral));
  buildCombiner(builder, loc, op.getCombiner(), kind, accumulator, YieldOp::getOperationName(),
                isSigned);
  return op.getResult(0);
}

Value nd::buildSumTo(OpBuilder &builder, Location loc, Value input, NdTensorType type) {
  SmallVector<StringRef> names;
  for (const Dim &dim : tensorType(input).getDims())
    if (!type.has(dim.name))
      names.push_back(dim.name);
  return buildReduce(builder, loc, input, names, CombinerKind::Add);
}

SmallVector<Value> nd::buildScan(OpBuilder &builder, Location loc, ValueRange inputs,
                                 StringRef name, ArrayRef<TypedAttr> neutral, ScalarsBody combiner,
                                 bool exclusive, bool reverse) {
  for (Value input : inputs)
    if (failed(inferScan(tensorType(input), name, errorsAt(loc, input))))
      return {};
  auto op = ScanOp::create(builder, loc, inputs.getTypes(), inputs, name, arrayOf(builder, neutral),
                           exclusive, reverse);
  fillRegion(builder, loc, op.getCombiner(), combinerTypes(neutral), combiner);
  return SmallVector<Value>(op.getResults());
}

Value nd::buildScan(OpBuilder &builder, Location loc, Value input, StringRef name,
                    CombinerKind kind, bool exclusive, bool reverse, Type accumulator) {
  NdTensorType type = tensorType(input);
  if (failed(inferScan(type, name, errorsAt(loc, input))))
    return {};
  Type element = type.getElementType();
  if (!accumulator)
    accumulator = accumulatorType(element);
  bool isSigned = isSignedElement(element);
  Attribute neutral = neutralElement(kind, accumulator, isSigned);
  auto op = ScanOp::create(builder, loc, TypeRange(type), input, name,
                           builder.getArrayAttr(neutral), exclusive, reverse);
  buildCombiner(builder, loc, op.getCombiner(), kind, accumulator, YieldOp::getOperationName(),
                isSigned);
  return op.getResult(0);
}

Value nd::buildRound(OpBuilder &builder, Location loc, Value input, Type to) {
  return RoundOp::create(builder, loc, input.getType(), input, to);
}

//===----------------------------------------------------------------------===//
// Index maps
//===----------------------------------------------------------------------===//

Value nd::buildWindow(OpBuilder &builder, Location loc, Value input, const WindowShape &shape,
                      TypedAttr padding) {
  return create<WindowOp>(builder, loc, inferWindow(tensorType(input), shape, errorsAt(loc, input)),
                          input, shape.name, shape.tap, shape.size, shape.stride, shape.dilation,
                          shape.low, shape.high, padding);
}

Value nd::buildUnwindow(OpBuilder &builder, Location loc, Value input, const WindowShape &shape,
                        const Expr &size) {
  return create<UnwindowOp>(
      builder, loc, inferUnwindow(tensorType(input), shape, size, errorsAt(loc, input)), input,
      shape.name, shape.tap, shape.size, shape.stride, shape.dilation, shape.low, shape.high);
}

Value nd::buildSlice(OpBuilder &builder, Location loc, Value input, StringRef name,
                     const Expr &start, const Expr &size, int64_t stride) {
  MLIRContext *context = builder.getContext();
  return create<SliceOp>(
      builder, loc, inferSlice(tensorType(input), name, start, size, stride, errorsAt(loc, input)),
      input, name, SizeAttr::get(context, start), SizeAttr::get(context, size), stride);
}

Value nd::buildPad(OpBuilder &builder, Location loc, Value input, StringRef name, const Expr &low,
                   const Expr &high, int64_t interior, TypedAttr value) {
  FailureOr<NdTensorType> type =
      inferPad(tensorType(input), name, low, high, interior, errorsAt(loc, input));
  if (failed(type))
    return {};
  if (!value)
    value = numberAttr(type->scalarType(), 0);
  MLIRContext *context = builder.getContext();
  return PadOp::create(builder, loc, *type, input, name, SizeAttr::get(context, low),
                       SizeAttr::get(context, high), value, interior);
}

Value nd::buildConcat(OpBuilder &builder, Location loc, ValueRange inputs, StringRef name) {
  return create<ConcatOp>(builder, loc, inferConcat(typesOf(inputs), name, errorsAt(loc, inputs)),
                          inputs, name);
}

Value nd::buildSplit(OpBuilder &builder, Location loc, Value input, StringRef name,
                     ArrayRef<Dim> into) {
  return create<SplitOp>(builder, loc,
                         inferSplit(tensorType(input), name, into, errorsAt(loc, input)), input,
                         name, builder.getStrArrayAttr(namesOf(into)));
}

Value nd::buildResized(OpBuilder &builder, Location loc, Value input, NdTensorType type) {
  for (const Dim &dim : type.getDims())
    if (input && tensorType(input).size(dim.name) != dim.size())
      input = buildSplit(builder, loc, input, dim.name, dim);
  return input;
}

Value nd::buildMerge(OpBuilder &builder, Location loc, Value input, Strings names, StringRef into) {
  return create<MergeOp>(builder, loc,
                         inferMerge(tensorType(input), names, into, errorsAt(loc, input)), input,
                         builder.getStrArrayAttr(names), into);
}

Value nd::buildRename(OpBuilder &builder, Location loc, Value input, Strings from, Strings to) {
  if (from == to)
    return input;
  return create<RenameOp>(builder, loc,
                          inferRename(tensorType(input), from, to, errorsAt(loc, input)), input,
                          builder.getStrArrayAttr(from), builder.getStrArrayAttr(to));
}

Value nd::buildAlias(OpBuilder &builder, Location loc, Value input) {
  ArrayAttr none = builder.getArrayAttr({});
  return RenameOp::create(builder, loc, input.getType(), input, none, none);
}

Value nd::buildBroadcast(OpBuilder &builder, Location loc, Value input, ArrayRef<Dim> dims) {
  FailureOr<NdTensorType> type = inferBroadcast(tensorType(input), dims, errorsAt(loc, input));
  if (failed(type))
    return {};
  if (*type == input.getType())
    return input;
  return BroadcastOp::create(builder, loc, *type, input);
}

//===----------------------------------------------------------------------===//
// Access by value, functions
//===----------------------------------------------------------------------===//

Value nd::buildGather(OpBuilder &builder, Location loc, Value input, Strings names,
                      ValueRange indices) {
  SmallVector<Value> operands{input};
  llvm::append_range(operands, indices);
  return create<GatherOp>(
      builder, loc,
      inferGather(tensorType(input), typesOf(indices), names, errorsAt(loc, operands)), input,
      indices, builder.getStrArrayAttr(names));
}

/// The op without its region; null if the operands do not fit.
static ScatterOp createScatter(OpBuilder &builder, Location loc, Value destination, Value updates,
                               Strings names, ValueRange indices, bool unique) {
  SmallVector<Value> operands{destination, updates};
  llvm::append_range(operands, indices);
  FailureOr<NdTensorType> type =
      inferGather(tensorType(destination), typesOf(indices), names, errorsAt(loc, operands));
  if (failed(type))
    return {};
  if (*type != updates.getType()) {
    errorsAt(loc, operands)() << "expected updates of type " << *type << ", got "
                              << updates.getType();
    return {};
  }
  return ScatterOp::create(builder, loc, destination.getType(), destination, updates, indices,
                           builder.getStrArrayAttr(names), unique);
}

Value nd::buildScatter(OpBuilder &builder, Location loc, Value destination, Value updates,
                       Strings names, ValueRange indices, CombinerKind kind, bool unique) {
  ScatterOp op = createScatter(builder, loc, destination, updates, names, indices, unique);
  if (!op)
    return {};
  NdTensorType type = tensorType(destination);
  buildCombiner(builder, loc, op.getCombiner(), kind, type.scalarType(),
                YieldOp::getOperationName(), isSignedElement(type.getElementType()));
  return op.getResult();
}

Value nd::buildScatter(OpBuilder &builder, Location loc, Value destination, Value updates,
                       Strings names, ValueRange indices, ScalarBody combiner, bool unique) {
  ScatterOp op = createScatter(builder, loc, destination, updates, names, indices, unique);
  if (!op)
    return {};
  Type scalar = tensorType(destination).scalarType();
  fillRegion(builder, loc, op.getCombiner(), {scalar, scalar},
             [&](OpBuilder &b, ValueRange arguments) {
               return SmallVector<Value>{combiner(b, arguments)};
             });
  return op.getResult();
}

Value nd::buildDynamicSlice(OpBuilder &builder, Location loc, Value input, StringRef name,
                            Value start, const Expr &size) {
  return create<DynamicSliceOp>(builder, loc,
                                inferDynamicSlice(tensorType(input), tensorType(start), name, size,
                                                  errorsAt(loc, {input, start})),
                                input, start, name, SizeAttr::get(builder.getContext(), size));
}

Value nd::buildUpdateSlice(OpBuilder &builder, Location loc, Value part, Value destination,
                           StringRef name, Value start) {
  return create<UpdateSliceOp>(builder, loc,
                               inferUpdateSlice(tensorType(part), tensorType(destination),
                                                tensorType(start), name,
                                                errorsAt(loc, {part, destination, start})),
                               part, destination, start, name);
}

SmallVector<Value> nd::buildSort(OpBuilder &builder, Location loc, ValueRange inputs,
                                 StringRef name, bool descending, const Expr &size) {
  FailureOr<SmallVector<NdTensorType>> types =
      inferSort(typesOf(inputs), name, size, errorsAt(loc, inputs));
  if (failed(types))
    return {};
  return SmallVector<Value>(SortOp::create(builder, loc,
                                           SmallVector<Type>(types->begin(), types->end()), inputs,
                                           name, descending)
                                .getResults());
}

Value nd::buildArgSort(OpBuilder &builder, Location loc, Value keys, StringRef name,
                       bool descending, const Expr &size) {
  NdTensorType type = tensorType(keys);
  if (!type.has(name)) {
    emitError(loc) << "expected the name '" << name << "', got " << type;
    return {};
  }
  Value index = buildIota(builder, loc, Dim(builder.getContext(), name, type.size(name).getExpr()),
                          builder.getI64Type());
  index = buildBroadcast(builder, loc, index, type.getDims().getDims());
  SmallVector<Value> sorted = buildSort(builder, loc, {keys, index}, name, descending, size);
  return sorted.empty() ? Value() : sorted[1];
}

SmallVector<Value> nd::buildCall(OpBuilder &builder, Location loc, func::FuncOp callee,
                                 ValueRange inputs, func::FuncOp gradient, bool checkpoint) {
  FailureOr<SmallVector<NdTensorType>> types =
      inferCall(callee, typesOf(inputs), errorsAt(loc, inputs));
  if (failed(types))
    return {};
  SmallVector<Type> results(types->begin(), types->end());
  return SmallVector<Value>(CallOp::create(builder, loc, results, callee.getName(), inputs,
                                           gradient ? FlatSymbolRefAttr::get(gradient) : nullptr,
                                           checkpoint)
                                .getResults());
}

SmallVector<Value> nd::buildVjp(OpBuilder &builder, Location loc, func::FuncOp callee,
                                ValueRange inputs, ValueRange cotangents, ArrayRef<int64_t> wrt) {
  SmallVector<Type> results(callee.getResultTypes());
  for (int64_t position : wrt) {
    if (position < 0 || position >= int64_t(callee.getNumArguments())) {
      emitError(loc) << "expected positions of the " << callee.getNumArguments()
                     << " arguments of '@" << callee.getName() << "', got " << position;
      return {};
    }
    results.push_back(callee.getArgumentTypes()[position]);
  }
  return SmallVector<Value>(
      VjpOp::create(builder, loc, results, callee.getName(), inputs, cotangents, wrt).getResults());
}

SmallVector<Value> nd::buildJvp(OpBuilder &builder, Location loc, func::FuncOp callee,
                                ValueRange inputs, ValueRange tangents, ArrayRef<int64_t> wrt) {
  SmallVector<Type> results(callee.getResultTypes());
  llvm::append_range(results, floatTypes(callee.getResultTypes()));
  return SmallVector<Value>(
      JvpOp::create(builder, loc, results, callee.getName(), inputs, tangents, wrt).getResults());
}
