//===- NdSources.cpp - constants, coordinates and random numbers ----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/interp/Evaluator.h"

#include "dialects/nd/NdInference.h"

using namespace mlir;

namespace heddle::interp {

FailureOr<TensorValue> literal(Operation *op, nd::NdTensorType type, ElementsAttr value,
                               ArrayAttr order) {
  TensorValue result(type);
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense)
    return LogicalResult(op->emitOpError() << "expected a dense literal");
  if (dense.isSplat()) {
    std::fill(result.elements.begin(), result.elements.end(),
              ofAttribute(dense.getSplatValue<Attribute>()));
    return result;
  }
  SmallVector<SizedName> written;
  for (StringRef name : nd::stringsOf(order))
    written.emplace_back(name.str(), result.size(name));
  Walk walk(written);
  for (Attribute element : dense.getValues<Attribute>()) {
    result.at(walk.position()) = ofAttribute(element);
    ++walk;
  }
  return result;
}

void iota(TensorValue &result, Arithmetic &arithmetic) {
  for (size_t i = 0; i < result.elements.size(); ++i) {
    if (auto real = dyn_cast<FloatType>(result.elementType()))
      result.elements[i] = arithmetic.rounded(real, double(i), 0, true);
    else
      result.elements[i] = integer(i, widthOf(result.elementType()));
  }
}

/// Philox 4x32-10 (Salmon, Moraes, Dror and Shaw: Parallel random numbers, SC'11).
static std::array<uint32_t, 4> philox(uint64_t counter, uint64_t key) {
  std::array<uint32_t, 4> x = {uint32_t(counter), uint32_t(counter >> 32), 0, 0};
  uint32_t low = uint32_t(key), high = uint32_t(key >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t first = uint64_t(0xD2511F53) * x[0], second = uint64_t(0xCD9E8D57) * x[2];
    x = {uint32_t(second >> 32) ^ x[1] ^ low, uint32_t(second), uint32_t(first >> 32) ^ x[3] ^ high,
         uint32_t(first)};
    low += 0x9E3779B9;
    high += 0xBB67AE85;
  }
  return x;
}

void random(nd::RandomOp op, const TensorValue &key, TensorValue &result) {
  SmallVector<StringRef> order = nd::stringsOf(op.getOrder());
  for (Walk walk(result.dims()); walk; ++walk) {
    Sizes position = walk.position();
    uint64_t number = 0;
    for (StringRef name : order)
      number = number * uint64_t(result.size(name)) + uint64_t(position[name.str()]);
    result.elements[walk.count()] =
        integer(philox(number / 4, key.at(position).bits)[number % 4], 32);
  }
}

} // namespace heddle::interp
