//===- RuntimeTensor.h - tensors in memory ----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `RuntimeTensor` is a block of memory with the type and layout of its elements:
//
//     TensorSpec spec{ElementType::F32, {{"row", 2}, {"column", 3}}};
//     RuntimeTensor tensor(spec, *Layout::parse("[column, row]"));
//     tensor.copyFrom(values, {"row", "column"});   // dense, row by row
//
// Copies from and to the host name the order of its dimensions. Handles are shared pointers. A
// program may take a tensor's memory over (donation); after that every use of the old handle is an
// error that says where it went.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_PROGRAM_RUNTIMETENSOR_H
#define HEDDLE_RUNTIME_PROGRAM_RUNTIMETENSOR_H

#include "runtime/memory/MemoryManager.h"
#include "runtime/program/Manifest.h"

namespace heddle {

/// The type, layout and size of a tensor in memory. All tensors that a program makes for one value
/// share it, so that making one is cheap.
struct StoredType {
  TensorSpec spec; ///< of constant sizes
  Layout layout;
  int64_t bytes = 0;   ///< padding included
  bool zeroed = false; ///< has padding that must be zero
  std::string space = std::string(hostSpace);
};
/// Throws Error if the layout does not fit the sizes.
std::shared_ptr<const StoredType> storedTypeOf(TensorSpec spec, Layout layout,
                                               std::string_view space = hostSpace);

class RuntimeTensor {
public:
  /// Allocates for constant sizes, in the manager's memory space; elements are undefined, padding is
  /// zero if the layout says so. Throws Error if the layout does not fit the sizes, or if padding
  /// outside of the host's memory would have to be zero.
  RuntimeTensor(TensorSpec spec, Layout layout, std::shared_ptr<MemoryManager> manager = nullptr,
                const AllocationInfo &info = {});
  RuntimeTensor(std::shared_ptr<const StoredType> type, std::shared_ptr<MemoryManager> manager,
                const AllocationInfo &info);
  /// A tensor in memory of the caller's, which `owner` keeps alive. The address
  /// must be aligned as the layout says.
  RuntimeTensor(TensorSpec spec, Layout layout, void *address, std::shared_ptr<void> owner);
  RuntimeTensor(const RuntimeTensor &) = delete;
  RuntimeTensor &operator=(const RuntimeTensor &) = delete;

  const TensorSpec &spec() const { return type->spec; }
  const Layout &layout() const { return type->layout; }
  const std::shared_ptr<const StoredType> &storedType() const { return type; }
  Sizes sizes() const;
  /// The memory space of its elements. Those outside of "host" can be used by programs only: the
  /// copies below throw Error.
  const std::string &space() const { return type->space; }
  /// Null after the memory was given up.
  void *address() const { return storage.get(); }
  /// In memory, padding included.
  int64_t bytes() const { return type->bytes; }

  /// Copies from or to a dense array, row-major in `order`, which lists every
  /// name. Throws Error if it does not.
  void copyFrom(const void *dense, const std::vector<std::string> &order);
  void copyTo(void *dense, const std::vector<std::string> &order) const;
  /// Copies the elements of a tensor of the same type, which may have another layout.
  void copyFrom(const RuntimeTensor &other);
  /// A copy in another layout.
  std::shared_ptr<RuntimeTensor> inLayout(const Layout &layout,
                                          std::shared_ptr<MemoryManager> manager = nullptr) const;

  /// A handle that has no memory yet, for `takeOver`.
  static std::shared_ptr<RuntimeTensor> withoutMemory(std::shared_ptr<const StoredType> type);
  /// Takes the memory of `from`, which gives it up and may not be used again.
  void takeOver(RuntimeTensor &from) noexcept { storage = std::move(from.storage); }

  /// Non-empty after the tensor was given up: the entry that took it.
  std::string donatedTo;

private:
  RuntimeTensor() = default;
  void requireMemory() const;

  std::shared_ptr<const StoredType> type;
  std::shared_ptr<void> storage;
};

using TensorRef = std::shared_ptr<RuntimeTensor>;

/// The sizes of a type that mentions no symbol; throws Error for one that does.
Sizes constantSizes(const TensorSpec &spec);
/// Bytes of a tensor of constant sizes in a layout.
int64_t byteCount(const TensorSpec &spec, const Layout &layout);
/// `f32 {column: 3, row: 2}`
std::string describe(const TensorSpec &spec);

} // namespace heddle

#endif // HEDDLE_RUNTIME_PROGRAM_RUNTIMETENSOR_H
