//===- NdInferenceIndexMaps.cpp - types of windows, slices, pads, ... -----===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdInferenceNames.h"

#include "llvm/ADT/StringSet.h"

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

/// A bound of the size of `name` in `type`, with 1 for each symbol.
static double sizeOf(NdTensorType type, StringRef name) {
  return magnitude(type.size(name).getExpr());
}

Expr nd::windowedSize(const Expr &size, const WindowShape &shape) {
  Expr room = size + Expr(shape.low + shape.high - (shape.size - 1) * shape.dilation - 1);
  return room.floordiv(shape.stride) + Expr(1);
}

FailureOr<NdTensorType> nd::inferWindow(NdTensorType input, const WindowShape &shape,
                                        EmitError emitError) {
  if (failed(requireName(input, shape.name, emitError)))
    return failure();
  // S4
  if (input.has(shape.tap))
    return LogicalResult(emitError() << "the tensor has the name '" << shape.tap
                                     << "' already: " << namesText(input.getDims()));
  if (shape.size < 1 || shape.stride < 1 || shape.dilation < 1)
    return LogicalResult(emitError() << "expected size, stride and dilation of at least 1 along '"
                                     << shape.name << "', got " << shape.size << ", "
                                     << shape.stride << ", " << shape.dilation);
  if (shape.low < 0 || shape.high < 0)
    return LogicalResult(emitError() << "expected padding of at least 0 along '" << shape.name
                                     << "', got " << shape.low << " and " << shape.high);
  if (failed(requireSize(shape.tap, (double(shape.size) - 1) * double(shape.dilation) + 1,
                         emitError)) ||
      failed(requireSize(shape.name,
                         sizeOf(input, shape.name) + double(shape.low) + double(shape.high),
                         emitError)))
    return failure();
  Expr size = windowedSize(input.size(shape.name).getExpr(), shape);
  if (failed(requireTerms(shape.name, size, emitError)))
    return failure();
  if (auto constant = size.constant(); constant && *constant < 0)
    return LogicalResult(emitError()
                         << "the window of " << shape.size << " along '" << shape.name
                         << "' does not fit: expected at least "
                         << (shape.size - 1) * shape.dilation + 1 - shape.low - shape.high
                         << " elements, got " << input.size(shape.name).getExpr().str());
  SmallVector<Dim> dims = others(input, shape.name);
  dims.emplace_back(input.getContext(), shape.name, size);
  dims.emplace_back(input.getContext(), shape.tap, Expr(shape.size));
  return input.withDims(dims);
}

FailureOr<NdTensorType> nd::inferUnwindow(NdTensorType input, const WindowShape &shape,
                                          const Expr &size, EmitError emitError) {
  if (failed(requireName(input, shape.name, emitError)) ||
      failed(requireName(input, shape.tap, emitError)))
    return failure();
  if (failed(requireSubstituted(shape.name, size, {}, emitError)))
    return failure();
  SmallVector<Dim> dims;
  for (const Dim &dim : input.getDims())
    if (dim.name.getValue() == shape.name)
      dims.emplace_back(input.getContext(), shape.name, size);
    else if (dim.name.getValue() != shape.tap)
      dims.push_back(dim);
  NdTensorType result = input.withDims(dims);
  FailureOr<NdTensorType> windowed = inferWindow(result, shape, emitError);
  if (failed(windowed))
    return failure();
  if (*windowed != input)
    return LogicalResult(emitError()
                         << "expected an operand with the names " << namesText(windowed->getDims())
                         << ", which is the window of " << namesText(result.getDims()) << ", got "
                         << namesText(input.getDims()));
  return result;
}

FailureOr<NdTensorType> nd::inferSlice(NdTensorType input, StringRef name, const Expr &start,
                                       const Expr &size, int64_t stride, EmitError emitError) {
  if (failed(requireName(input, name, emitError)))
    return failure();
  auto count = size.constant();
  if (start.constant().value_or(0) < 0 || stride == 0 || count.value_or(0) < 0)
    return LogicalResult(
        emitError() << "expected start >= 0, size >= 0 and a stride other than 0 along '" << name
                    << "', got " << start.str() << ", " << size.str() << ", " << stride);
  if (failed(requireSize(name,
                         magnitude(start) + double(count.value_or(1)) * std::abs(double(stride)),
                         emitError)))
    return failure();
  Expr whole = input.size(name).getExpr();
  if (count.value_or(0) > 0)
    for (const Expr &coordinate : {start, start + Expr((*count - 1) * stride)})
      if (coordinate.constant().value_or(0) < 0 || (whole - coordinate).constant().value_or(1) <= 0)
        return LogicalResult(
            emitError() << "the slice of '" << name << "' reads element " << coordinate.str()
                        << "; expected one of at least 0 and less than the size " << whole.str());
  SmallVector<Dim> dims = others(input, name);
  dims.emplace_back(input.getContext(), name, size);
  return input.withDims(dims);
}

FailureOr<NdTensorType> nd::inferPad(NdTensorType input, StringRef name, const Expr &low,
                                     const Expr &high, int64_t interior, EmitError emitError) {
  if (failed(requireName(input, name, emitError)))
    return failure();
  if (low.constant().value_or(0) < 0 || high.constant().value_or(0) < 0 || interior < 0)
    return LogicalResult(emitError()
                         << "expected low, high and interior of at least 0 along '" << name
                         << "', got " << low.str() << ", " << high.str() << ", " << interior);
  double known = sizeOf(input, name);
  if (failed(requireSize(name,
                         known + magnitude(low) + magnitude(high) +
                             double(interior) * std::max(known - 1, 1.0),
                         emitError)))
    return failure();
  Expr size = input.size(name).getExpr();
  Expr between = interior == 0 ? Expr(0) : Expr::max(size - Expr(1), Expr(0)) * Expr(interior);
  size = size + low + high + between;
  if (failed(requireTerms(name, size, emitError)))
    return failure();
  SmallVector<Dim> dims = others(input, name);
  dims.emplace_back(input.getContext(), name, size);
  return input.withDims(dims);
}

FailureOr<NdTensorType> nd::inferConcat(ArrayRef<NdTensorType> inputs, StringRef name,
                                        EmitError emitError) {
  if (inputs.empty())
    return LogicalResult(emitError() << "expected an operand");
  Expr size(0);
  double known = 0;
  for (NdTensorType type : inputs) {
    if (failed(requireName(type, name, emitError)))
      return failure();
    if (type.getElementType() != inputs[0].getElementType() ||
        others(type, name) != others(inputs[0], name))
      return LogicalResult(emitError() << "expected operands that differ in the size of '" << name
                                       << "' alone, got " << inputs[0] << " and " << type);
    size = size + type.size(name).getExpr();
    if (failed(requireSize(name, known += sizeOf(type, name), emitError)) ||
        failed(requireTerms(name, size, emitError)))
      return failure();
  }
  SmallVector<Dim> dims = others(inputs[0], name);
  dims.emplace_back(inputs[0].getContext(), name, size);
  return inputs[0].withDims(dims);
}

FailureOr<NdTensorType> nd::inferSplit(NdTensorType input, StringRef name, ArrayRef<Dim> into,
                                       EmitError emitError) {
  if (failed(requireName(input, name, emitError)))
    return failure();
  SmallVector<Dim> dims = others(input, name);
  Expr product(1);
  double known = 1;
  for (const Dim &dim : into) {
    if (failed(requireNew(dims, dim.name.getValue(), emitError)))
      return failure();
    dims.push_back(dim);
    product = product * dim.size().getExpr();
    if (failed(requireSize(name, known *= magnitude(dim.size().getExpr()), emitError)) ||
        failed(requireTerms(name, product, emitError)))
      return failure();
  }
  if (!mayEqual(product, input.size(name).getExpr()))
    return LogicalResult(emitError()
                         << "expected sizes whose product is the size of '" << name << "', "
                         << input.size(name).getExpr().str() << ", got " << product.str());
  return input.withDims(dims);
}

FailureOr<NdTensorType> nd::inferMerge(NdTensorType input, ArrayRef<StringRef> names,
                                       StringRef into, EmitError emitError) {
  Expr product(1);
  double known = 1;
  llvm::StringSet<> merged;
  for (StringRef name : names) {
    if (failed(requireName(input, name, emitError)))
      return failure();
    if (!merged.insert(name).second)
      return LogicalResult(emitError() << "the name '" << name << "' is listed twice");
    product = product * input.size(name).getExpr();
    if (failed(requireSize(into, known *= sizeOf(input, name), emitError)) ||
        failed(requireTerms(into, product, emitError)))
      return failure();
  }
  SmallVector<Dim> dims;
  for (const Dim &dim : input.getDims())
    if (!merged.contains(dim.name.getValue()))
      dims.push_back(dim);
  if (failed(requireNew(dims, into, emitError)))
    return failure();
  dims.emplace_back(input.getContext(), into, product);
  return input.withDims(dims);
}

FailureOr<NdTensorType> nd::inferRename(NdTensorType input, ArrayRef<StringRef> from,
                                        ArrayRef<StringRef> to, EmitError emitError) {
  if (from.size() != to.size())
    return LogicalResult(emitError() << "expected as many new names as old ones, got " << to.size()
                                     << " and " << from.size());
  llvm::StringMap<StringRef> map;
  for (auto [oldName, newName] : llvm::zip_equal(from, to)) {
    if (failed(requireName(input, oldName, emitError)))
      return failure();
    if (!map.try_emplace(oldName, newName).second)
      return LogicalResult(emitError() << "the name '" << oldName << "' is listed twice");
  }
  SmallVector<Dim> dims;
  for (const Dim &dim : input.getDims()) {
    auto found = map.find(dim.name.getValue());
    StringRef name = found == map.end() ? dim.name.getValue() : found->second;
    if (failed(requireNew(dims, name, emitError)))
      return failure();
    dims.emplace_back(input.getContext(), name, dim.size().getExpr());
  }
  return input.withDims(dims);
}

FailureOr<NdTensorType> nd::inferBroadcast(NdTensorType input, ArrayRef<Dim> dims,
                                           EmitError emitError) {
  SmallVector<Dim> all(input.getDims().getDims());
  for (const Dim &dim : dims) {
    SizeAttr size = input.size(dim.name);
    if (!size)
      all.push_back(dim);
    else if (size != dim.sizeAttr)
      return LogicalResult(emitError()
                           << "expected '" << dim.name.getValue() << "' of size "
                           << size.getExpr().str() << ", as in " << namesText(input.getDims())
                           << ", got " << dim.size().getExpr().str());
  }
  return input.withDims(all);
}

/// `size` is known not to be the size of a part of `whole`.
