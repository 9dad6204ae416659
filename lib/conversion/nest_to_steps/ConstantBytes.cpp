//===- ConstantBytes.cpp - literals as bytes ------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_steps/ConstantBytes.h"

#include "dialects/nd/ElementTypes.h"
#include "runtime/memory/Relayout.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace heddle;
using namespace mlir;

TensorSpec heddle::specOf(nd::NdTensorType type) {
  TensorSpec spec;
  if (auto element = nd::elementTypeOf(type.getElementType()))
    spec.element = *element;
  for (const nd::Dim &dim : type.getDims())
    spec.dims[dim.name.str()] = dim.size().getExpr();
  return spec;
}

/// The elements, row-major in the written order; i1 takes one byte.
static std::optional<std::string> denseBytes(ElementsAttr value, int64_t width, int64_t count) {
  std::string bytes;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || int64_t(blob->getData().size()) != width * count)
      return std::nullopt;
    return std::string(blob->getData().begin(), blob->getData().end());
  }
  auto elements = dyn_cast<DenseElementsAttr>(value);
  if (!elements)
    return std::nullopt;
  ArrayRef<char> raw = elements.getRawData();
  if (elements.isSplat() || elements.getElementType().isInteger(1)) {
    auto append = [&](const APInt &bits) {
      uint64_t word = bits.zextOrTrunc(64).getZExtValue();
      bytes.append(reinterpret_cast<const char *>(&word), size_t(width));
    };
    if (!elements.isSplat())
      for (const APInt &bits : elements.getValues<APInt>())
        append(bits);
    for (int64_t i = 0; elements.isSplat() && i < count; ++i)
      bytes.append(raw.data(), size_t(width));
    return bytes;
  }
  if (int64_t(raw.size()) != width * count)
    return std::nullopt;
  return std::string(raw.begin(), raw.end());
}

std::optional<int64_t> ConstantBlock::add(nd::LiteralInterface constant, const Layout &layout) {
  auto type = cast<nd::NdTensorType>(constant->getResult(0).getType());
  int64_t width = byteSize(specOf(type).element);
  auto dense = denseBytes(constant.getValue(), width, type.elements());
  if (!dense)
    return std::nullopt;
  std::vector<std::string> order;
  for (StringRef name : constant.getOrder().getAsValueRange<StringAttr>())
    order.push_back(name.str());
  std::string laid(size_t(layout.elements(type.sizes()) * width), '\0');
  relayout(dense->data(), Layout::rowMajor(order), laid.data(), layout, type.sizes(), width);
  auto hash =
      llvm::xxh3_128bits(ArrayRef(reinterpret_cast<const uint8_t *>(laid.data()), laid.size()));
  std::string key(reinterpret_cast<const char *>(&hash), sizeof(hash));
  auto [entry, isNew] = offsets.try_emplace({layout.alignment, key}, 0);
  if (isNew) {
    size_t alignment = size_t(std::max<int64_t>(layout.alignment, 64));
    bytes.resize((bytes.size() + alignment - 1) / alignment * alignment, '\0');
    entry->second = int64_t(bytes.size());
    bytes += laid;
  }
  return entry->second;
}
