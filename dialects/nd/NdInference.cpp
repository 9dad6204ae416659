//===- NdInference.cpp - the types that ops have --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdInference.h"

#include "llvm/ADT/StringSet.h"

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

std::string nd::namesText(DimsAttr dims) {
  std::string text = "{";
  for (const Dim &dim : dims)
    text += (text.size() > 1 ? ", " : "") + dim.name.str() + ": " + dim.size().getExpr().str();
  return text + "}";
}

FailureOr<DimsAttr> nd::unionOfNames(ArrayRef<NdTensorType> types, EmitError emitError) {
  SmallVector<Dim> dims;
  SmallVector<NdTensorType> owner;
  MLIRContext *context = nullptr;
  for (NdTensorType type : types) {
    context = type.getContext();
    for (const Dim &dim : type.getDims()) {
      auto *known = llvm::find_if(dims, [&](const Dim &other) { return other.name == dim.name; });
      if (known == dims.end()) {
        dims.push_back(dim);
        owner.push_back(type);
      } else if (known->sizeAttr != dim.sizeAttr) {
        return emitError() << "the name '" << dim.name.getValue() << "' has size " << known->size().getExpr().str()
                           << " in " << namesText(owner[known - dims.begin()].getDims()) << " and size "
                           << dim.size().getExpr().str() << " in " << namesText(type.getDims()),
               failure();
      }
    }
  }
  if (!context)
    return emitError() << "expected an operand", failure();
  return DimsAttr::getSorted(context, dims);
}

static LogicalResult requireName(NdTensorType type, StringRef name, EmitError emitError) {
  if (type.has(name))
    return success();
  return emitError() << "unknown name '" << name << "'; the tensor has " << namesText(type.getDims());
}

static SmallVector<Dim> others(NdTensorType type, StringRef name) {
  SmallVector<Dim> dims;
  for (const Dim &dim : type.getDims())
    if (dim.name.getValue() != name)
      dims.push_back(dim);
  return dims;
}

FailureOr<DimsAttr> nd::withoutNames(NdTensorType type, ArrayAttr names, EmitError emitError) {
  llvm::StringSet<> removed;
  for (auto name : names.getAsValueRange<StringAttr>()) {
    if (failed(requireName(type, name, emitError)))
      return failure();
    if (!removed.insert(name).second)
      return emitError() << "the name '" << name << "' is listed twice", failure();
  }
  SmallVector<Dim> dims;
  for (const Dim &dim : type.getDims())
    if (!removed.contains(dim.name.getValue()))
      dims.push_back(dim);
  return DimsAttr::getSorted(type.getContext(), dims);
}

Expr nd::windowedSize(const Expr &size, const WindowShape &shape) {
  Expr room = size + Expr(shape.low + shape.high - (shape.size - 1) * shape.dilation - 1);
  return room.floordiv(shape.stride) + Expr(1);
}

FailureOr<NdTensorType> nd::inferWindow(NdTensorType input, const WindowShape &shape, EmitError emitError) {
  if (failed(requireName(input, shape.name, emitError)))
    return failure();
  if (input.has(shape.tap))
    return emitError() << "the tensor has the name '" << shape.tap << "' already: " << namesText(input.getDims()),
           failure();
  if (shape.size < 1 || shape.stride < 1 || shape.dilation < 1)
    return emitError() << "expected size, stride and dilation of at least 1 along '" << shape.name << "', got "
                       << shape.size << ", " << shape.stride << ", " << shape.dilation,
           failure();
  if (shape.low < 0 || shape.high < 0)
    return emitError() << "expected padding of at least 0 along '" << shape.name << "', got " << shape.low << " and "
                       << shape.high,
           failure();
  Expr size = windowedSize(input.size(shape.name).getExpr(), shape);
  if (auto constant = size.constant(); constant && *constant < 0)
    size = Expr(0);
  SmallVector<Dim> dims = others(input, shape.name);
  dims.emplace_back(input.getContext(), shape.name, size);
  dims.emplace_back(input.getContext(), shape.tap, Expr(shape.size));
  return input.withDims(dims);
}

FailureOr<NdTensorType> nd::inferSlice(NdTensorType input, StringRef name, int64_t start, const Expr &size, int64_t stride,
                                     EmitError emitError) {
  if (failed(requireName(input, name, emitError)))
    return failure();
  auto count = size.constant(), whole = input.size(name).constant();
  if (start < 0 || stride < 1 || (count && *count < 0))
    return emitError() << "expected start >= 0, size >= 0 and stride >= 1 along '" << name << "', got " << start << ", "
                       << size.str() << ", " << stride,
           failure();
  if (count && whole && *count > 0 && start + (*count - 1) * stride >= *whole)
    return emitError() << "the slice of '" << name << "' reads element " << start + (*count - 1) * stride
                       << "; expected less than the size " << *whole,
           failure();
  SmallVector<Dim> dims = others(input, name);
  dims.emplace_back(input.getContext(), name, size);
  return input.withDims(dims);
}

FailureOr<NdTensorType> nd::inferPad(NdTensorType input, StringRef name, int64_t low, int64_t high, int64_t interior,
                                   EmitError emitError) {
  if (failed(requireName(input, name, emitError)))
    return failure();
  if (low < 0 || high < 0 || interior < 0)
    return emitError() << "expected low, high and interior of at least 0 along '" << name << "', got " << low << ", "
                       << high << ", " << interior,
           failure();
  Expr size = input.size(name).getExpr();
  Expr between = interior == 0 ? Expr(0) : Expr::max(size - Expr(1), Expr(0)) * Expr(interior);
  SmallVector<Dim> dims = others(input, name);
  dims.emplace_back(input.getContext(), name, size + Expr(low + high) + between);
  return input.withDims(dims);
}

FailureOr<NdTensorType> nd::inferConcat(ArrayRef<NdTensorType> inputs, StringRef name, EmitError emitError) {
  if (inputs.empty())
    return emitError() << "expected an operand", failure();
  Expr size(0);
  for (NdTensorType type : inputs) {
    if (failed(requireName(type, name, emitError)))
      return failure();
    if (type.getElementType() != inputs[0].getElementType() || others(type, name) != others(inputs[0], name))
      return emitError() << "expected operands that differ in the size of '" << name << "' alone, got " << inputs[0]
                         << " and " << type,
             failure();
    size = size + type.size(name).getExpr();
  }
  SmallVector<Dim> dims = others(inputs[0], name);
  dims.emplace_back(inputs[0].getContext(), name, size);
  return inputs[0].withDims(dims);
}

static LogicalResult requireNew(ArrayRef<Dim> dims, StringRef name, EmitError emitError) {
  if (llvm::none_of(dims, [&](const Dim &dim) { return dim.name.getValue() == name; }))
    return success();
  return emitError() << "the name '" << name << "' would stand twice";
}

FailureOr<NdTensorType> nd::inferSplit(NdTensorType input, StringRef name, ArrayRef<Dim> into, EmitError emitError) {
  if (failed(requireName(input, name, emitError)))
    return failure();
  SmallVector<Dim> dims = others(input, name);
  Expr product(1);
  for (const Dim &dim : into) {
    if (failed(requireNew(dims, dim.name.getValue(), emitError)))
      return failure();
    dims.push_back(dim);
    product = product * dim.size().getExpr();
  }
  if (product != input.size(name).getExpr())
    return emitError() << "expected sizes whose product is the size of '" << name << "', "
                       << input.size(name).getExpr().str() << ", got " << product.str(),
           failure();
  return input.withDims(dims);
}

FailureOr<NdTensorType> nd::inferMerge(NdTensorType input, ArrayRef<StringRef> names, StringRef into, EmitError emitError) {
  Expr product(1);
  llvm::StringSet<> merged;
  for (StringRef name : names) {
    if (failed(requireName(input, name, emitError)))
      return failure();
    if (!merged.insert(name).second)
      return emitError() << "the name '" << name << "' is listed twice", failure();
    product = product * input.size(name).getExpr();
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

FailureOr<NdTensorType> nd::inferRename(NdTensorType input, ArrayRef<StringRef> from, ArrayRef<StringRef> to,
                                      EmitError emitError) {
  if (from.size() != to.size())
    return emitError() << "expected as many new names as old ones, got " << to.size() << " and " << from.size(),
           failure();
  llvm::StringMap<StringRef> map;
  for (auto [oldName, newName] : llvm::zip_equal(from, to)) {
    if (failed(requireName(input, oldName, emitError)))
      return failure();
    if (!map.try_emplace(oldName, newName).second)
      return emitError() << "the name '" << oldName << "' is listed twice", failure();
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

FailureOr<NdTensorType> nd::inferGather(NdTensorType input, ArrayRef<NdTensorType> indices, ArrayAttr names,
                                      EmitError emitError) {
  if (names.size() != indices.size())
    return emitError() << "expected one index tensor for each of " << names.size() << " names, got " << indices.size(),
           failure();
  FailureOr<DimsAttr> rest = withoutNames(input, names, emitError);
  if (failed(rest))
    return failure();
  SmallVector<NdTensorType> all{NdTensorType::get(input.getContext(), input.getElementType(), *rest)};
  for (NdTensorType index : indices) {
    if (!isa<IntegerType>(index.getElementType()))
      return emitError() << "expected an index of integer elements, got " << index, failure();
    all.push_back(index);
  }
  FailureOr<DimsAttr> dims = unionOfNames(all, emitError);
  if (failed(dims))
    return failure();
  return NdTensorType::get(input.getContext(), input.getElementType(), *dims);
}
