//===- HostArray.h - a dense array in host memory ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An array as it is read from files and data sets: elements in row-major order (the last axis
// varies fastest), as plain bytes in host memory. Axes may have names, so that an array can become
// a tensor whatever the order of its axes is:
//
//     auto image = HostArray::of<uint8_t>({1, 2, 3, 4, 5, 6}, {2, 3}, {"row", "column"});
//     image.values<uint8_t>()[4]   // 5, at row 1, column 1
//
// Invariant: bytes.size() == count() * byteSize(element), and `names` is empty or as long as
// `shape`.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_IO_HOSTARRAY_H
#define HEDDLE_IO_HOSTARRAY_H

#include "heddle/ElementType.h"
#include "heddle/Error.h"

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <new>
#include <span>
#include <string>
#include <vector>

namespace heddle::io {

/// Allocates at multiples of 64 bytes, the size of a cache line and of the widest vectors.
template <typename T>
struct AlignedAllocator {
  using value_type = T;
  static constexpr std::align_val_t alignment{64};
  AlignedAllocator() = default;
  template <typename U>
  AlignedAllocator(const AlignedAllocator<U> &) {}
  T *allocate(size_t count) {
    return static_cast<T *>(::operator new(count * sizeof(T), alignment));
  }
  void deallocate(T *address, size_t) { ::operator delete(address, alignment); }
  bool operator==(const AlignedAllocator &) const { return true; }
};
using Bytes = std::vector<std::byte, AlignedAllocator<std::byte>>;

/// The product of the sizes. Throws Error if one is negative or the product exceeds 2^60.
int64_t elementCount(std::span<const int64_t> shape, Here here = Here::current());

/// A dense row-major array in host memory.
struct HostArray {
  ElementType element = ElementType::F32;
  std::vector<int64_t> shape;
  std::vector<std::string> names; ///< one for each axis, or none
  Bytes bytes = Bytes(4);         ///< by default a single 0.0

  /// An array of zeros. Throws Error if a size is negative, if there are names but not one for each
  /// axis, and if there is too little memory.
  static HostArray zeros(ElementType element, std::vector<int64_t> shape,
                         std::vector<std::string> names = {}, Here here = Here::current());
  /// An array with the given values, in row-major order. Throws Error if the shape has another
  /// number of elements.
  template <typename T>
  static HostArray of(std::span<const T> values, std::vector<int64_t> shape,
                      std::vector<std::string> names = {}, Here here = Here::current()) {
    HostArray array = zeros(elementTypeOf<T>(), std::move(shape), std::move(names), here);
    array.expectCount(values.size(), here);
    if (!values.empty())
      std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
    return array;
  }
  template <typename T>
  static HostArray of(std::initializer_list<T> values, std::vector<int64_t> shape,
                      std::vector<std::string> names = {}, Here here = Here::current()) {
    return of(std::span<const T>(values.begin(), values.size()), std::move(shape), std::move(names),
              here);
  }

  int64_t count() const { return elementCount(shape); }
  /// The elements in row-major order. Throws Error unless T is the element type.
  template <typename T>
  std::span<T> values(Here here = Here::current()) {
    expectElement(elementTypeOf<T>(), here);
    return {reinterpret_cast<T *>(bytes.data()), bytes.size() / sizeof(T)};
  }
  template <typename T>
  std::span<const T> values(Here here = Here::current()) const {
    expectElement(elementTypeOf<T>(), here);
    return {reinterpret_cast<const T *>(bytes.data()), bytes.size() / sizeof(T)};
  }
  /// The type and shape for messages: "ui8 [row: 28, column: 28]", "f32 [3, 4]".
  std::string describe() const;

  bool operator==(const HostArray &) const = default;

private:
  void expectElement(ElementType expected, Here here) const;
  void expectCount(size_t given, Here here) const;
};

} // namespace heddle::io

#endif // HEDDLE_IO_HOSTARRAY_H
