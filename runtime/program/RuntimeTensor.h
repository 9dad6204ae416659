//===- RuntimeTensor.h - tensors in memory ----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `RuntimeTensor` is a block of memory, the type of what it holds and the layout in which it lies. Several handles
// may share one; a program may take one over (donation), after which using it is an error.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_PROGRAM_RUNTIMETENSOR_H
#define HEDDLE_RUNTIME_PROGRAM_RUNTIMETENSOR_H

#include "runtime/memory/MemoryManager.h"
#include "runtime/program/Manifest.h"

namespace heddle {

class RuntimeTensor {
public:
  /// Allocates for constant sizes; elements are undefined.
  RuntimeTensor(TensorSpec spec, Layout layout, std::shared_ptr<MemoryManager> manager = nullptr,
                const AllocationInfo &info = {});
  ~RuntimeTensor();
  RuntimeTensor(const RuntimeTensor &) = delete;
  RuntimeTensor &operator=(const RuntimeTensor &) = delete;

  const TensorSpec &spec() const { return tensorSpec; }
  const Layout &layout() const { return tensorLayout; }
  Sizes sizes() const;
  void *address() const { return storage; }
  int64_t bytes() const { return byteCount; }

  /// Copies from or to a dense array, row-major in `order`, which lists every name. Throws Error if it does not.
  void copyFrom(const void *dense, const std::vector<std::string> &order);
  void copyTo(void *dense, const std::vector<std::string> &order) const;
  /// A copy that lies in another layout.
  std::shared_ptr<RuntimeTensor> inLayout(const Layout &layout, std::shared_ptr<MemoryManager> manager = nullptr) const;

  /// A new handle on the memory of `from`, which gives it up and may not be used again.
  static std::shared_ptr<RuntimeTensor> takeOver(RuntimeTensor &from);

  /// Non-empty after the tensor was given up: where.
  std::string donatedTo;

private:
  RuntimeTensor() = default;
  TensorSpec tensorSpec;
  Layout tensorLayout;
  std::shared_ptr<MemoryManager> manager;
  void *storage = nullptr;
  int64_t byteCount = 0;
};

/// Bytes of a tensor of constant sizes in a layout.
int64_t byteCount(const TensorSpec &spec, const Layout &layout);
/// `f32 {column: 3, row: 2}`
std::string describe(const TensorSpec &spec);

} // namespace heddle

#endif // HEDDLE_RUNTIME_PROGRAM_RUNTIMETENSOR_H
