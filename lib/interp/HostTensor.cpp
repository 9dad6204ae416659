//===- HostTensor.cpp - tensors as bytes ----------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/interp/HostTensor.h"

using namespace mlir;

namespace heddle::interp {

/// The format of a float type; null for integers.
static const llvm::fltSemantics *semanticsOf(ElementType element) {
  switch (element) {
  case ElementType::F16:
    return &llvm::APFloat::IEEEhalf();
  case ElementType::BF16:
    return &llvm::APFloat::BFloat();
  case ElementType::F32:
    return &llvm::APFloat::IEEEsingle();
  case ElementType::F64:
    return &llvm::APFloat::IEEEdouble();
  case ElementType::F8E4M3FN:
    return &llvm::APFloat::Float8E4M3FN();
  case ElementType::F8E5M2:
    return &llvm::APFloat::Float8E5M2();
  default:
    return nullptr;
  }
}

Scalar loadElement(ElementType element, const std::byte *from) {
  unsigned bytes = unsigned(byteSize(element));
  uint64_t bits = 0;
  std::memcpy(&bits, from, bytes);
  const llvm::fltSemantics *semantics = semanticsOf(element);
  if (!semantics)
    return integer(bits, element == ElementType::I1 ? 1 : bytes * 8);
  llvm::APFloat value(*semantics, llvm::APInt(bytes * 8, bits));
  bool loses;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &loses);
  return exactly(value.convertToDouble());
}

void storeElement(ElementType element, const Scalar &scalar, std::byte *to) {
  uint64_t bits = scalar.bits;
  if (const llvm::fltSemantics *semantics = semanticsOf(element)) {
    llvm::APFloat value(scalar.value);
    bool loses;
    value.convert(*semantics, llvm::APFloat::rmNearestTiesToEven, &loses);
    bits = value.bitcastToAPInt().getZExtValue();
  }
  std::memcpy(to, &bits, size_t(byteSize(element)));
}

io::HostArray toHost(const TensorValue &tensor) {
  std::vector<int64_t> shape;
  std::vector<std::string> names;
  for (const auto &[name, size] : tensor.dims()) {
    names.push_back(name);
    shape.push_back(size);
  }
  ElementType element = *nd::elementTypeOf(tensor.elementType());
  io::HostArray array = io::HostArray::zeros(element, std::move(shape), std::move(names), Here());
  std::byte *to = array.bytes.data();
  for (const Scalar &scalar : tensor.elements) {
    storeElement(element, scalar, to);
    to += byteSize(element);
  }
  return array;
}

TensorValue fromHost(MLIRContext *context, const io::HostArray &array) {
  assert(array.names.size() == array.shape.size() && "expected a name for each axis");
  SmallVector<nd::Dim> dims;
  SmallVector<SizedName> written;
  for (auto [name, size] : llvm::zip_equal(array.names, array.shape)) {
    dims.emplace_back(context, name, Expr(size));
    written.emplace_back(name, size);
  }
  TensorValue tensor(nd::NdTensorType::get(nd::mlirType(context, array.element), dims));
  SmallVector<int64_t> strides = tensor.strides(written);
  const std::byte *from = array.bytes.data();
  for (Walk walk(written); walk; ++walk) {
    int64_t offset = 0;
    for (auto [coordinate, stride] : llvm::zip_equal(walk.coordinates(), strides))
      offset += coordinate * stride;
    tensor.elements[size_t(offset)] = loadElement(array.element, from);
    from += byteSize(array.element);
  }
  return tensor;
}

} // namespace heddle::interp
