//===- RuntimeTensor.cpp - tensors in memory ------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/memory/RuntimeTensor.h"

#include "heddle/Error.h"
#include "runtime/memory/Relayout.h"

#include <cstring>

using namespace heddle;

std::shared_ptr<const StoredType> heddle::storedTypeOf(TensorSpec spec, Layout layout,
                                                       std::string_view space) {
  Sizes sizes = constantSizes(spec);
  if (std::string message = layout.verify(sizes); !message.empty())
    throw Error(message + ": " + layout.str() + " for a tensor of type " + describe(spec));
  int64_t bytes = layout.elements(sizes) * byteSize(spec.element);
  bool zeroed = layout.zeroPadded && layout.hasPadding(sizes);
  return std::make_shared<const StoredType>(
      StoredType{std::move(spec), std::move(layout), bytes, zeroed, std::string(space)});
}

RuntimeTensor::RuntimeTensor(TensorSpec spec, Layout layout, std::shared_ptr<MemoryManager> manager,
                             const AllocationInfo &info)
    : RuntimeTensor(
          storedTypeOf(std::move(spec), std::move(layout), manager ? manager->space() : hostSpace),
          manager, info) {}

RuntimeTensor::RuntimeTensor(std::shared_ptr<const StoredType> given,
                             std::shared_ptr<MemoryManager> by, const AllocationInfo &info)
    : type(std::move(given)), manager(by ? std::move(by) : defaultMemoryManager()) {
  std::string what = info.name.empty() ? "a tensor of type " + describe(spec()) : "";
  kind = manager->memory();
  AllocationInfo asked{info.name.empty() ? what : info.name, info.location, space()};
  void *address = manager->allocate(bytes(), layout().alignment, asked);
  // If this throws, it frees the memory.
  storage =
      std::shared_ptr<void>(address, [manager = manager](void *memory) { manager->free(memory); });
  if (type->zeroed && isOnHost())
    std::memset(address, 0, size_t(bytes()));
  else if (type->zeroed)
    manager->copy(MemoryManager::Way::In, address, std::string(size_t(bytes()), '\0').data(),
                  bytes());
}

RuntimeTensor::RuntimeTensor(TensorSpec spec, Layout layout, void *address,
                             std::shared_ptr<void> owner)
    : type(storedTypeOf(std::move(spec), std::move(layout))), storage(std::move(owner), address) {
  if (!address && bytes() > 0)
    throw Error("expected memory for a tensor of type " + describe(this->spec()) + ", got none");
  if (reinterpret_cast<uintptr_t>(address) % uint64_t(type->layout.alignment))
    throw Error("expected memory aligned to " + std::to_string(type->layout.alignment) +
                " bytes for a tensor of type " + describe(this->spec()));
}

TensorRef RuntimeTensor::withoutMemory(std::shared_ptr<const StoredType> type) {
  TensorRef result(new RuntimeTensor());
  result->type = std::move(type);
  return result;
}

Sizes RuntimeTensor::sizes() const { return constantSizes(spec()); }

void RuntimeTensor::requireMemory() const {
  if (!donatedTo.empty())
    throw Error("this tensor of type " + describe(spec()) + " was donated to '" + donatedTo +
                "', which updated it in place");
}

bool heddle::servesAs(const Layout &given, const Layout &wanted, const Sizes &sizes) {
  return given.factors == wanted.factors && given.swizzle == wanted.swizzle &&
         (given.zeroPadded || !wanted.zeroPadded || !wanted.hasPadding(sizes));
}

static Layout denseLayout(const TensorSpec &spec, const std::vector<std::string> &order) {
  std::string got;
  bool good = order.size() == spec.dims.size();
  std::map<std::string_view, int> seen;
  for (const std::string &name : order) {
    got += (got.empty() ? "" : ", ") + name;
    good &= spec.dims.count(name) && !seen[name]++;
  }
  if (!good)
    throw Error("expected an order that lists each name of " + describe(spec) + " once, got [" +
                got + "]");
  return Layout::rowMajor(order);
}

void RuntimeTensor::copyFrom(const void *dense, const std::vector<std::string> &order) {
  Layout given = denseLayout(spec(), order);
  requireMemory();
  if (!isOnHost()) {
    RuntimeTensor staged(spec(), layout());
    staged.copyFrom(dense, order);
    return copyFrom(staged);
  }
  relayout(dense, given, address(), layout(), sizes(), byteSize(spec().element));
}

void RuntimeTensor::copyTo(void *dense, const std::vector<std::string> &order) const {
  Layout wanted = denseLayout(spec(), order);
  requireMemory();
  if (!isOnHost())
    return inLayout(layout())->copyTo(dense, order);
  relayout(address(), layout(), dense, wanted, sizes(), byteSize(spec().element));
}

void RuntimeTensor::copyFrom(const RuntimeTensor &other) {
  if (!(spec() == other.spec()))
    throw Error("expected a tensor of type " + describe(spec()) + " to copy, got " +
                describe(other.spec()));
  requireMemory();
  other.requireMemory();
  bool areEqual = servesAs(other.layout(), layout(), sizes());
  using Way = MemoryManager::Way;
  if (isOnHost() && other.isOnHost())
    relayout(other.address(), other.layout(), address(), layout(), sizes(),
             byteSize(spec().element));
  else if (areEqual && isOnHost())
    other.manager->copy(Way::Out, address(), other.address(), bytes());
  else if (areEqual && (other.isOnHost() || manager == other.manager))
    manager->copy(other.isOnHost() ? Way::In : Way::Within, address(), other.address(), bytes());
  else // through the host's memory, where layouts change
    copyFrom(*other.inLayout(other.isOnHost() ? layout() : other.layout()));
}

TensorRef RuntimeTensor::inLayout(const Layout &layout,
                                  std::shared_ptr<MemoryManager> manager) const {
  requireMemory();
  auto result = std::make_shared<RuntimeTensor>(spec(), layout, std::move(manager));
  result->copyFrom(*this);
  return result;
}
