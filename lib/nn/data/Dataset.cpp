//===- Dataset.cpp - samples that can be read in any order ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/data/Dataset.h"

#include <algorithm>

using namespace heddle;
using namespace heddle::nn;

Dataset::~Dataset() = default;

std::string Field::describe() const {
  std::string text = name + ": " + std::string(spelling(element)) + " [";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + (i < names.size() ? names[i] + ": " : "") +
            (shape[i] == anySize ? "any" : std::to_string(shape[i]));
  return text + "]";
}

/// The same elements with `axis` first.
static io::HostArray withFirst(const io::HostArray &array, size_t axis) {
  io::HostArray result = array;
  std::rotate(result.shape.begin(), result.shape.begin() + long(axis),
              result.shape.begin() + long(axis) + 1);
  std::rotate(result.names.begin(), result.names.begin() + long(axis),
              result.names.begin() + long(axis) + 1);
  size_t inner = size_t(byteSize(array.element)), outer = 1;
  for (size_t i = 0; i < array.shape.size(); ++i)
    (i < axis ? outer : inner) *= i == axis ? 1 : size_t(array.shape[i]);
  size_t samples = size_t(array.shape[axis]);
  for (size_t i = 0; i < outer; ++i)
    for (size_t s = 0; s < samples; ++s)
      std::memcpy(result.bytes.data() + (s * outer + i) * inner,
                  array.bytes.data() + (i * samples + s) * inner, inner);
  return result;
}

Arrays::Arrays(std::vector<std::pair<std::string, io::HostArray>> given, const std::string &axis,
               Here here) {
  for (auto &[name, array] : given) {
    auto found = std::find(array.names.begin(), array.names.end(), axis);
    if (found == array.names.end())
      throw Error("expected '" + name + "' to have the axis '" + axis + "' of the samples, got " +
                      array.describe(),
                  here);
    arrays.push_back(withFirst(array, size_t(found - array.names.begin())));
    const io::HostArray &own = arrays.back();
    if (own.shape[0] != arrays[0].shape[0])
      throw Error("expected " + std::to_string(arrays[0].shape[0]) + " samples in '" + name +
                      "', as in '" + given[0].first + "', got " + array.describe(),
                  here);
    parts.push_back({name,
                     own.element,
                     {own.shape.begin() + 1, own.shape.end()},
                     {own.names.begin() + 1, own.names.end()}});
  }
  if (arrays.empty())
    throw Error("expected at least one array", here);
  samples = arrays[0].shape[0];
}

void Dataset::requireIndex(int64_t index) const {
  if (index < 0 || index >= count())
    throw Error("expected a sample from 0 to " + std::to_string(count() - 1) + ", got " +
                std::to_string(index));
}

Sample Arrays::read(int64_t index) const {
  requireIndex(index);
  Sample sample;
  for (size_t i = 0; i < parts.size(); ++i) {
    sample.push_back(
        io::HostArray::zeros(parts[i].element, parts[i].shape, parts[i].names, Here()));
    size_t size = sample[i].bytes.size();
    if (size > 0)
      std::memcpy(sample[i].bytes.data(), arrays[i].bytes.data() + size * size_t(index), size);
  }
  return sample;
}
