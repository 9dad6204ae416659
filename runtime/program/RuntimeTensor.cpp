//===- RuntimeTensor.cpp - tensors in memory ------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/RuntimeTensor.h"

#include "heddle/Error.h"

#include <cstring>

using namespace heddle;

std::string heddle::describe(const TensorSpec &spec) {
  std::string text;
  for (const auto &[name, size] : spec.dims)
    text += (text.empty() ? "" : ", ") + name + ": " + size.str();
  return std::string(spelling(spec.element)) + " {" + text + "}";
}

static Sizes constantSizes(const TensorSpec &spec) {
  Sizes sizes;
  for (const auto &[name, size] : spec.dims) {
    if (!size.constant())
      throw Error("expected a number for the size of '" + name + "', got " + size.str());
    sizes[name] = *size.constant();
  }
  return sizes;
}

int64_t heddle::byteCount(const TensorSpec &spec, const Layout &layout) {
  return layout.elements(constantSizes(spec)) * byteSize(spec.element);
}

RuntimeTensor::RuntimeTensor(TensorSpec spec, Layout layout, std::shared_ptr<MemoryManager> given,
                             const AllocationInfo &info)
    : tensorSpec(std::move(spec)), tensorLayout(std::move(layout)),
      manager(given ? std::move(given) : defaultMemoryManager()) {
  if (std::string message = tensorLayout.verify(constantSizes(tensorSpec)); !message.empty())
    throw Error(message + " (a tensor of type " + describe(tensorSpec) + ")");
  byteCount = heddle::byteCount(tensorSpec, tensorLayout);
  storage = manager->allocate(byteCount, tensorLayout.alignment, info);
  if (tensorLayout.zeroPadded)
    std::memset(storage, 0, size_t(byteCount));
}

RuntimeTensor::~RuntimeTensor() {
  if (storage)
    manager->free(storage);
}

std::shared_ptr<RuntimeTensor> RuntimeTensor::takeOver(RuntimeTensor &from) {
  std::shared_ptr<RuntimeTensor> result(new RuntimeTensor());
  result->tensorSpec = from.tensorSpec;
  result->tensorLayout = from.tensorLayout;
  result->manager = from.manager;
  result->byteCount = from.byteCount;
  std::swap(result->storage, from.storage);
  return result;
}

Sizes RuntimeTensor::sizes() const { return constantSizes(tensorSpec); }

namespace {
/// Walks all elements of a tensor in the order of one layout's places; `offsets` of both sides follow incrementally where
/// addresses are affine, and by evaluation where they are not.
class Walker {
public:
  Walker(const Sizes &sizes, const std::vector<std::string> &order, const Layout &layout)
      : sizes(sizes), order(order), layout(layout), address(layout.address(sizes)) {
    affine = address.isAffine() && layout.swizzle == Layout::Swizzle();
    for (const std::string &name : order)
      strides.push_back(affine ? address.coefficient(name) : 0);
  }

  /// Calls move(dense index, offset, count) for runs along the last name of the order.
  template <typename Move>
  void forEachRun(Move &&move) {
    int64_t total = 1;
    for (const std::string &name : order)
      total *= sizes.find(name)->second;
    if (total == 0)
      return;
    if (order.empty()) {
      move(int64_t(0), layout.offset(sizes, {}), int64_t(1), int64_t(1));
      return;
    }
    int64_t last = sizes.find(order.back())->second;
    Sizes position;
    for (const std::string &name : order)
      position[name] = 0;
    for (int64_t dense = 0; dense < total; dense += last) {
      if (affine) {
        int64_t offset = address.offset();
        for (size_t i = 0; i < order.size(); ++i)
          offset += strides[i] * position[order[i]];
        move(dense, offset, last, strides.back());
      } else {
        for (int64_t i = 0; i < last; ++i) {
          position[order.back()] = i;
          move(dense + i, layout.offset(sizes, position), int64_t(1), int64_t(1));
        }
        position[order.back()] = 0;
      }
      for (size_t i = order.size() - 1; i-- > 0;) {
        if (++position[order[i]] < sizes.find(order[i])->second)
          break;
        position[order[i]] = 0;
      }
    }
  }

private:
  const Sizes &sizes;
  const std::vector<std::string> &order;
  const Layout &layout;
  Expr address;
  bool affine;
  std::vector<int64_t> strides;
};
} // namespace

static void requireOrder(const TensorSpec &spec, const std::vector<std::string> &order) {
  std::string got;
  for (const std::string &name : order)
    got += (got.empty() ? "" : ", ") + name;
  std::map<std::string, int> seen;
  for (const std::string &name : order)
    if (!spec.dims.count(name) || seen[name]++)
      throw Error("expected an order that lists each name of " + describe(spec) + " once, got [" + got + "]");
  if (order.size() != spec.dims.size())
    throw Error("expected an order that lists all names of " + describe(spec) + ", got [" + got + "]");
}

template <typename Element>
static void gatherRuns(Walker &walker, const void *from, void *to, bool toDense) {
  auto *source = static_cast<const Element *>(from);
  auto *target = static_cast<Element *>(to);
  walker.forEachRun([&](int64_t dense, int64_t offset, int64_t count, int64_t stride) {
    if (stride == 1) {
      std::memcpy(toDense ? target + dense : target + offset, toDense ? source + offset : source + dense,
                  size_t(count) * sizeof(Element));
      return;
    }
    for (int64_t i = 0; i < count; ++i)
      if (toDense)
        target[dense + i] = source[offset + i * stride];
      else
        target[offset + i * stride] = source[dense + i];
  });
}

static void copyElements(const Sizes &sizes, const Layout &layout, ElementType type,
                         const std::vector<std::string> &order, const void *from, void *to, bool toDense) {
  Walker walker(sizes, order, layout);
  switch (byteSize(type)) {
  case 1: return gatherRuns<uint8_t>(walker, from, to, toDense);
  case 2: return gatherRuns<uint16_t>(walker, from, to, toDense);
  case 4: return gatherRuns<uint32_t>(walker, from, to, toDense);
  default: return gatherRuns<uint64_t>(walker, from, to, toDense);
  }
}

void RuntimeTensor::copyFrom(const void *dense, const std::vector<std::string> &order) {
  requireOrder(tensorSpec, order);
  copyElements(sizes(), tensorLayout, tensorSpec.element, order, dense, storage, false);
}

void RuntimeTensor::copyTo(void *dense, const std::vector<std::string> &order) const {
  requireOrder(tensorSpec, order);
  copyElements(sizes(), tensorLayout, tensorSpec.element, order, storage, dense, true);
}

std::shared_ptr<RuntimeTensor> RuntimeTensor::inLayout(const Layout &layout,
                                                       std::shared_ptr<MemoryManager> given) const {
  auto result = std::make_shared<RuntimeTensor>(tensorSpec, layout, std::move(given));
  if (layout == tensorLayout) {
    std::memcpy(result->address(), storage, size_t(byteCount));
    return result;
  }
  std::vector<std::string> order;
  int64_t count = byteSize(tensorSpec.element);
  for (const auto &[name, size] : sizes()) {
    order.push_back(name);
    count *= size;
  }
  std::vector<char> dense(static_cast<size_t>(count));
  copyTo(dense.data(), order);
  result->copyFrom(dense.data(), order);
  return result;
}
