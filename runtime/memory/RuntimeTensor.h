//===- RuntimeTensor.h - tensors in memory ----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `RuntimeTensor` is a block of memory with an element type, sizes by name, and a layout:
//
//     TensorSpec spec{ElementType::F32, {{"row", 2}, {"column", 3}}};
//     RuntimeTensor tensor(spec, *Layout::parse("[column, row]"));
//     tensor.copyFrom(values, {"row", "column"});   // dense, row-major
//
// Copies from and to the host state the order of the array's dimensions. They also work for a
// tensor in a device's memory, whose elements stay there until somebody reads them. Handles are
// shared pointers. A program may take over the memory of a tensor (donation); later uses of the old
// handle throw an Error that names the entry.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_MEMORY_RUNTIMETENSOR_H
#define HEDDLE_RUNTIME_MEMORY_RUNTIMETENSOR_H

#include "runtime/format/Manifest.h"
#include "runtime/memory/MemoryManager.h"

namespace heddle {

/// The type, layout and size of a tensor in memory. All tensors that a program creates for one
/// value share it, which makes them cheap to create.
struct StoredType {
  TensorSpec spec; ///< with constant sizes
  Layout layout;
  int64_t bytes = 0;   ///< including padding
  bool zeroed = false; ///< has padding that must be zero
  std::string space = std::string(hostSpace);
};
/// True if a program that expects the layout `wanted` can use memory in the layout `given`.
bool servesAs(const Layout &given, const Layout &wanted, const Sizes &sizes);
/// Throws Error if the layout does not fit the sizes.
std::shared_ptr<const StoredType> storedTypeOf(TensorSpec spec, Layout layout,
                                               std::string_view space = hostSpace);

class RuntimeTensor {
public:
  /// Allocates a tensor with constant sizes in the manager's memory space. Its elements are
  /// undefined; its padding is zero if the layout has `zero_padded`. Throws Error if the layout
  /// does not fit the sizes.
  RuntimeTensor(TensorSpec spec, Layout layout, std::shared_ptr<MemoryManager> manager = nullptr,
                const AllocationInfo &info = {});
  RuntimeTensor(std::shared_ptr<const StoredType> type, std::shared_ptr<MemoryManager> manager,
                const AllocationInfo &info);
  /// A tensor in the caller's memory, which `owner` keeps alive. The address must be aligned as the
  /// layout states.
  RuntimeTensor(TensorSpec spec, Layout layout, void *address, std::shared_ptr<void> owner);
  RuntimeTensor(const RuntimeTensor &) = delete;
  RuntimeTensor &operator=(const RuntimeTensor &) = delete;

  const TensorSpec &spec() const { return type->spec; }
  const Layout &layout() const { return type->layout; }
  const std::shared_ptr<const StoredType> &storedType() const { return type; }
  Sizes sizes() const;
  /// The memory space of its elements. The host must not read the address of another space.
  const std::string &space() const { return type->space; }
  /// The kind of memory in that space (MemoryManager::memory).
  std::string_view memory() const { return kind; }
  /// Null after the tensor was donated.
  void *address() const { return storage.get(); }
  /// The size in memory, including padding.
  int64_t bytes() const { return type->bytes; }

  /// Copies all elements from or to a dense array, row-major in `order`. Throws Error unless
  /// `order` lists every name once.
  void copyFrom(const void *dense, const std::vector<std::string> &order);
  void copyTo(void *dense, const std::vector<std::string> &order) const;
  /// Copies the elements of a tensor of the same type, which may have another layout.
  void copyFrom(const RuntimeTensor &other);
  /// A copy in another layout, in the host's memory unless `manager` is of another space.
  std::shared_ptr<RuntimeTensor> inLayout(const Layout &layout,
                                          std::shared_ptr<MemoryManager> manager = nullptr) const;

  /// A handle without memory, for `takeOver`.
  static std::shared_ptr<RuntimeTensor> withoutMemory(std::shared_ptr<const StoredType> type);
  /// Moves the memory of `from` to this handle; `from` must not be used again.
  void takeOver(RuntimeTensor &from) noexcept {
    storage = std::move(from.storage);
    manager = std::move(from.manager);
    kind = from.kind;
  }

  /// The entry that the tensor was donated to; empty if it was not.
  std::string donatedTo;

private:
  RuntimeTensor() = default;
  void requireMemory() const;
  bool isOnHost() const { return space() == hostSpace; }

  std::shared_ptr<const StoredType> type;
  std::shared_ptr<MemoryManager> manager; ///< null: the caller's memory
  std::shared_ptr<void> storage;
  std::string_view kind = {};
};

using TensorRef = std::shared_ptr<RuntimeTensor>;

} // namespace heddle

#endif // HEDDLE_RUNTIME_MEMORY_RUNTIMETENSOR_H
