//===- CTensor.cpp - tensors for C ----------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/CHandles.h"

#include <algorithm>

using namespace heddle;
using namespace heddle::detail;

static std::vector<std::string> namesOf(const char *const *names, size_t rank) {
  if (rank > 0)
    required(names, "a list of names");
  std::vector<std::string> result;
  for (size_t i = 0; i < rank; ++i)
    result.emplace_back(&required(names[i], "a name"));
  return result;
}

static TensorSpec specOf(heddle_element element, const std::vector<std::string> &names,
                         const int64_t *sizes) {
  if (element < HEDDLE_I1 || element > HEDDLE_F8E5M2)
    throw Error("expected an element type, got the number " + std::to_string(element));
  if (!names.empty())
    required(sizes, "a list of sizes");
  TensorSpec spec{ElementType(element), {}};
  for (size_t i = 0; i < names.size(); ++i) {
    if (!isValidName(names[i]))
      throw Error("expected the name of a dimension, got '" + names[i] + "'");
    if (!spec.dims.emplace(names[i], sizes[i]).second)
      throw Error("expected each name once, but '" + names[i] + "' occurs twice among the names");
  }
  return spec;
}

heddle_tensor *heddle_tensor_create(heddle_element element, size_t rank, const char *const *names,
                                    const int64_t *sizes, const char *layout) {
  return made([&] {
    std::vector<std::string> order = namesOf(names, rank);
    TensorSpec spec = specOf(element, order, sizes);
    std::string error;
    auto chosen = layout ? Layout::parse(layout, &error) : Layout::rowMajor(order);
    if (!chosen)
      throw Error("malformed layout: " + error);
    return new heddle_tensor{std::make_shared<RuntimeTensor>(std::move(spec), std::move(*chosen)),
                             ""};
  });
}

heddle_tensor *heddle_tensor_view(heddle_element element, size_t rank, const char *const *names,
                                  const int64_t *sizes, void *memory) {
  return made([&] {
    std::vector<std::string> order = namesOf(names, rank);
    TensorSpec spec = specOf(element, order, sizes);
    Layout layout = Layout::rowMajor(order);
    // The alignment of the address, at most a cache line.
    uint64_t lowest = reinterpret_cast<uintptr_t>(memory) & -reinterpret_cast<uintptr_t>(memory);
    layout.alignment = memory ? int64_t(std::min<uint64_t>(lowest, 64)) : 64;
    return new heddle_tensor{
        std::make_shared<RuntimeTensor>(std::move(spec), std::move(layout), memory, nullptr), ""};
  });
}

heddle_tensor *heddle_tensor_share(const heddle_tensor *tensor) {
  return made([&] { return new heddle_tensor{required(tensor, "a tensor").tensor, ""}; });
}

void heddle_tensor_free(heddle_tensor *tensor) { delete tensor; }

heddle_element heddle_tensor_element(const heddle_tensor *tensor) {
  return tensor ? heddle_element(tensor->tensor->spec().element) : -1;
}

size_t heddle_tensor_rank(const heddle_tensor *tensor) {
  return tensor ? tensor->tensor->spec().dims.size() : 0;
}

static const std::pair<const std::string, Expr> &dimOf(const heddle_tensor *tensor, size_t index) {
  const auto &dims = required(tensor, "a tensor").tensor->spec().dims;
  if (index >= dims.size())
    throw Error("expected the number of a dimension below " + std::to_string(dims.size()) +
                ", got " + std::to_string(index));
  return *std::next(dims.begin(), std::ptrdiff_t(index));
}

const char *heddle_tensor_dim_name(const heddle_tensor *tensor, size_t index) {
  return made([&] { return dimOf(tensor, index).first.c_str(); });
}

int64_t heddle_tensor_dim_size(const heddle_tensor *tensor, size_t index) {
  int64_t size = -1;
  guarded([&] { size = *dimOf(tensor, index).second.constant(); });
  return size;
}

int64_t heddle_tensor_count(const heddle_tensor *tensor) {
  int64_t count = -1;
  guarded([&] {
    int64_t product = 1;
    for (const auto &[name, size] : required(tensor, "a tensor").tensor->spec().dims)
      product *= *size.constant();
    count = product;
  });
  return count;
}

void *heddle_tensor_address(const heddle_tensor *tensor) {
  return tensor && tensor->tensor->space() == hostSpace ? tensor->tensor->address() : nullptr;
}

const char *heddle_tensor_layout(heddle_tensor *tensor) {
  return made([&] {
    required(tensor, "a tensor").layout = tensor->tensor->layout().str();
    return tensor->layout.c_str();
  });
}

/// Returns `dense`, which may be NULL only if there is nothing to copy.
template <typename T>
static T *elements(T *dense, const heddle_tensor *tensor) {
  if (!dense && heddle_tensor_count(tensor) != 0)
    throw Error("expected memory for the elements, got NULL");
  return dense;
}

heddle_status heddle_tensor_copy_from(heddle_tensor *tensor, const void *dense,
                                      const char *const *order, size_t rank) {
  return guarded([&] {
    required(tensor, "a tensor").tensor->copyFrom(elements(dense, tensor), namesOf(order, rank));
  });
}

heddle_status heddle_tensor_copy_to(const heddle_tensor *tensor, void *dense,
                                    const char *const *order, size_t rank) {
  return guarded([&] {
    required(tensor, "a tensor").tensor->copyTo(elements(dense, tensor), namesOf(order, rank));
  });
}
