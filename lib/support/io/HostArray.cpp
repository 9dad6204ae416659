//===- HostArray.cpp - a dense array in host memory -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/io/HostArray.h"

#include "heddle/Error.h"

using namespace heddle;
using namespace heddle::io;

int64_t io::elementCount(std::span<const int64_t> shape, Here here) {
  // With a zero size the product is zero, even if the other sizes would overflow.
  bool empty = false;
  for (int64_t size : shape) {
    if (size < 0)
      throw Error("expected sizes of at least 0, got " + std::to_string(size), here);
    empty |= size == 0;
  }
  int64_t count = empty ? 0 : 1;
  for (int64_t size : shape)
    if (__builtin_mul_overflow(count, empty ? 0 : size, &count) || count > int64_t(1) << 60)
      throw Error("expected at most 2^60 elements, got a shape with more", here);
  return count;
}

HostArray HostArray::zeros(ElementType element, std::vector<int64_t> shape,
                           std::vector<std::string> names, Here here) {
  if (!names.empty() && names.size() != shape.size())
    throw Error("expected a name for each of " + std::to_string(shape.size()) + " axes, got " +
                    std::to_string(names.size()),
                here);
  HostArray array{element, std::move(shape), std::move(names), {}};
  size_t bytes = size_t(elementCount(array.shape, here) * byteSize(element));
  try {
    array.bytes.resize(bytes);
  } catch (const std::bad_alloc &) {
    throw Error("out of memory: " + std::to_string(bytes) + " bytes for " + array.describe(), here);
  }
  return array;
}

std::string HostArray::describe() const {
  std::string text = std::string(spelling(element)) + " [";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + (names.empty() ? "" : names[i] + ": ") + std::to_string(shape[i]);
  return text + "]";
}

void HostArray::expectElement(ElementType expected, Here here) const {
  if (element != expected)
    throw Error("expected elements of type " + std::string(spelling(expected)) + ", got " +
                    describe(),
                here);
}

void HostArray::expectCount(size_t given, Here here) const {
  if (int64_t(given) != count())
    throw Error("expected " + std::to_string(count()) + " values for " + describe() + ", got " +
                    std::to_string(given),
                here);
}
