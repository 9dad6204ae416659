//===- Collate.cpp - samples become a batch -------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Collate.h"

#include <algorithm>

using namespace heddle;
using namespace heddle::nn;

/// The axis of any size; the rank if there is none.
static size_t openAxis(const Field &field) {
  return size_t(std::find(field.shape.begin(), field.shape.end(), anySize) - field.shape.begin());
}

static void requireFields(const std::vector<Field> &fields, const Sample &sample, int64_t index) {
  std::string which = "sample " + std::to_string(index) + ": ";
  if (sample.size() != fields.size())
    throw Error(which + "expected " + std::to_string(fields.size()) + " arrays, got " +
                std::to_string(sample.size()));
  for (size_t i = 0; i < fields.size(); ++i) {
    const auto &[name, element, shape, names] = fields[i];
    const io::HostArray &array = sample[i];
    bool isAlike = array.element == element && array.shape.size() == shape.size() &&
                   (array.names.empty() || array.names == names);
    for (size_t axis = 0; isAlike && axis < shape.size(); ++axis)
      isAlike = shape[axis] == anySize || array.shape[axis] == shape[axis];
    if (!isAlike)
      throw Error(which + "expected " + fields[i].describe() + ", got " + array.describe());
  }
}

/// Copies `from` to the place of a sample in `to`, which may be longer along the axis `open`.
static void place(const io::HostArray &from, io::HostArray &to, int64_t number, size_t open) {
  if (from.count() == 0)
    return;
  size_t outer = 1, inner = from.bytes.size(), wide = inner;
  if (open < from.shape.size()) {
    for (size_t i = 0; i < open; ++i)
      outer *= size_t(from.shape[i]);
    inner /= outer;
    wide = inner / size_t(from.shape[open]) * size_t(to.shape[open + 1]);
  }
  std::byte *begin = to.bytes.data() + size_t(number) * outer * wide;
  for (size_t i = 0; i < outer; ++i)
    std::memcpy(begin + i * wide, from.bytes.data() + i * inner, inner);
}

Batch nn::collate(const Dataset &dataset, const std::vector<Field> &fields,
                  std::span<const int64_t> indices, const LoaderOptions &options) {
  Batch batch;
  std::vector<Sample> samples;
  std::string reason;
  for (int64_t index : indices)
    try {
      samples.push_back(dataset.read(index));
      requireFields(fields, samples.back(), index);
    } catch (const DamagedSample &error) {
      if (!options.skipDamaged)
        throw;
      ++batch.damaged;
      reason = error.what();
    }
  if (samples.empty() && !indices.empty())
    throw Error("all " + std::to_string(batch.damaged) +
                " samples of a batch are damaged: " + reason);
  batch.fields = fields;
  batch.samples = int64_t(samples.size());
  int64_t size = options.last == Last::Keep ? batch.samples : options.batch;
  for (size_t f = 0; f < fields.size(); ++f) {
    size_t open = openAxis(fields[f]);
    std::vector<int64_t> shape{size};
    std::vector<std::string> names{options.batchName};
    shape.insert(shape.end(), fields[f].shape.begin(), fields[f].shape.end());
    names.insert(names.end(), fields[f].names.begin(), fields[f].names.end());
    auto lengths = io::HostArray::zeros(ElementType::I32, {size}, {options.batchName}, Here());
    if (open < fields[f].shape.size()) {
      int64_t &longest = shape[open + 1] = 0, unit = std::max<int64_t>(options.multipleOf, 1);
      for (size_t i = 0; i < samples.size(); ++i) {
        longest = std::max(longest, samples[i][f].shape[open]);
        lengths.values<int32_t>()[i] = int32_t(samples[i][f].shape[open]);
      }
      longest = (longest + unit - 1) / unit * unit;
    }
    batch.arrays.push_back(io::HostArray::zeros(fields[f].element, shape, names, Here()));
    batch.sizes.push_back(std::move(lengths));
    for (size_t i = 0; i < samples.size(); ++i)
      place(samples[i][f], batch.arrays[f], int64_t(i), open);
  }
  batch.weight = io::HostArray::zeros(ElementType::F32, {size}, {options.batchName}, Here());
  std::fill_n(batch.weight.values<float>().begin(), batch.samples, 1.0f);
  return batch;
}
