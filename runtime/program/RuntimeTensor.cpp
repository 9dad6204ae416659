//===- RuntimeTensor.cpp - tensors in memory ------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/program/RuntimeTensor.h"

#include "heddle/Error.h"
#include "runtime/program/Relayout.h"

#include <cstring>

using namespace heddle;

std::string heddle::describe(const TensorSpec &spec) {
  std::string text;
  for (const auto &[name, size] : spec.dims)
    text += (text.empty() ? "" : ", ") + name + ": " + size.str();
  return std::string(spelling(spec.element)) + " {" + text + "}";
}

Sizes heddle::constantSizes(const TensorSpec &spec) {
  Sizes sizes;
  for (const auto &[name, size] : spec.dims) {
    auto number = size.constant();
    if (!number || *number < 0)
      throw Error("expected a number for the size of '" + name + "', got " + size.str());
    sizes[name] = *number;
  }
  return sizes;
}

int64_t heddle::byteCount(const TensorSpec &spec, const Layout &layout) {
  return layout.elements(constantSizes(spec)) * byteSize(spec.element);
}

static void requireFit(const TensorSpec &spec, const Layout &layout) {
  if (std::string message = layout.verify(constantSizes(spec)); !message.empty())
    throw Error(message + ": " + layout.str() + " for a tensor of type " + describe(spec));
}

RuntimeTensor::RuntimeTensor(TensorSpec spec, Layout layout, std::shared_ptr<MemoryManager> given,
                             const AllocationInfo &info)
    : tensorSpec(std::move(spec)), tensorLayout(std::move(layout)) {
  requireFit(tensorSpec, tensorLayout);
  auto manager = given ? std::move(given) : defaultMemoryManager();
  byteCount = heddle::byteCount(tensorSpec, tensorLayout);
  void *address = manager->allocate(byteCount, tensorLayout.alignment, info);
  storage = std::shared_ptr<void>(address, [manager](void *memory) { manager->free(memory); });
  if (tensorLayout.zeroPadded && tensorLayout.hasPadding(sizes()))
    std::memset(address, 0, size_t(byteCount));
}

RuntimeTensor::RuntimeTensor(TensorSpec spec, Layout layout, void *address,
                             std::shared_ptr<void> owner)
    : tensorSpec(std::move(spec)), tensorLayout(std::move(layout)),
      storage(std::move(owner), address) {
  requireFit(tensorSpec, tensorLayout);
  byteCount = heddle::byteCount(tensorSpec, tensorLayout);
  if (!address && byteCount > 0)
    throw Error("expected memory for a tensor of type " + describe(tensorSpec) + ", got none");
  if (reinterpret_cast<uintptr_t>(address) % uint64_t(tensorLayout.alignment))
    throw Error("expected memory aligned to " + std::to_string(tensorLayout.alignment) +
                " bytes for a tensor of type " + describe(tensorSpec));
}

TensorRef RuntimeTensor::takeOver(RuntimeTensor &from, const Layout &layout) {
  TensorRef result(new RuntimeTensor());
  result->tensorSpec = from.tensorSpec;
  result->tensorLayout = layout;
  result->byteCount = from.byteCount;
  result->storage = std::move(from.storage);
  return result;
}

Sizes RuntimeTensor::sizes() const { return constantSizes(tensorSpec); }

void RuntimeTensor::requireMemory() const {
  if (!donatedTo.empty())
    throw Error("this tensor of type " + describe(tensorSpec) + " was given up to '" + donatedTo +
                "', which updated it in place");
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
  Layout layout = denseLayout(tensorSpec, order);
  requireMemory();
  relayout(dense, layout, address(), tensorLayout, sizes(), byteSize(tensorSpec.element));
}

void RuntimeTensor::copyTo(void *dense, const std::vector<std::string> &order) const {
  Layout layout = denseLayout(tensorSpec, order);
  requireMemory();
  relayout(address(), tensorLayout, dense, layout, sizes(), byteSize(tensorSpec.element));
}

void RuntimeTensor::copyFrom(const RuntimeTensor &other) {
  if (!(tensorSpec == other.tensorSpec))
    throw Error("expected a tensor of type " + describe(tensorSpec) + " to copy, got " +
                describe(other.tensorSpec));
  requireMemory();
  other.requireMemory();
  relayout(other.address(), other.tensorLayout, address(), tensorLayout, sizes(),
           byteSize(tensorSpec.element));
}

TensorRef RuntimeTensor::inLayout(const Layout &layout,
                                  std::shared_ptr<MemoryManager> manager) const {
  requireMemory();
  auto result = std::make_shared<RuntimeTensor>(tensorSpec, layout, std::move(manager));
  result->copyFrom(*this);
  return result;
}
