//===- Collate.cpp - samples become a batch -------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Collate.h"

#include <algorithm>
#include <numeric>

using namespace heddle;
using namespace heddle::nn;

/// The index of the axis of any size; the rank if there is none.
static size_t openAxis(const Field &field) {
  return size_t(std::find(field.shape.begin(), field.shape.end(), anySize) - field.shape.begin());
}

void nn::requireFields(const std::vector<Field> &fields, const Sample &sample, int64_t index) {
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

/// Copies `from` to the position of sample `number` in `to`, which may be longer along the axis
/// `open`.
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

/// Reads samples; if damaged ones are skipped, counts them in `batch`.
static std::vector<Sample> readAll(const Dataset &dataset, const std::vector<Field> &fields,
                                   std::span<const int64_t> indices, const LoaderOptions &options,
                                   Batch &batch) {
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
  return samples;
}

/// Copies `taken`, some of `samples`, to arrays of `size` samples, padded with zeros.
static void fillArrays(Batch &batch, const std::vector<Sample> &samples,
                       const std::vector<const Sample *> &taken, int64_t size,
                       const LoaderOptions &options) {
  const std::vector<Field> &fields = batch.fields;
  for (size_t f = 0; f < fields.size(); ++f) {
    size_t open = openAxis(fields[f]);
    std::vector<int64_t> shape{size};
    std::vector<std::string> names{options.batchName};
    shape.insert(shape.end(), fields[f].shape.begin(), fields[f].shape.end());
    names.insert(names.end(), fields[f].names.begin(), fields[f].names.end());
    auto lengths = io::HostArray::zeros(ElementType::I32, {size}, {options.batchName}, Here());
    if (open < fields[f].shape.size()) {
      int64_t &longest = shape[open + 1] = 0, unit = std::max<int64_t>(options.multipleOf, 1);
      for (const Sample &sample : samples)
        longest = std::max(longest, sample[f].shape[open]);
      for (size_t i = 0; i < taken.size(); ++i)
        lengths.values<int32_t>()[i] = int32_t((*taken[i])[f].shape[open]);
      longest = (longest + unit - 1) / unit * unit;
    }
    batch.arrays.push_back(io::HostArray::zeros(fields[f].element, shape, names, Here()));
    batch.sizes.push_back(std::move(lengths));
    for (size_t i = 0; i < taken.size(); ++i)
      place((*taken[i])[f], batch.arrays[f], int64_t(i), open);
  }
}

Batch nn::collate(const Dataset &dataset, const std::vector<Field> &fields,
                  std::span<const int64_t> indices, const LoaderOptions &options) {
  Batch batch;
  batch.fields = fields;
  auto isOpen = [](const Field &field) { return openAxis(field) < field.shape.size(); };
  bool needsAll = options.parts == 1 || options.skipDamaged || std::ranges::any_of(fields, isOpen);
  batch.samples = int64_t(indices.size());
  std::vector<Sample> samples;
  if (needsAll) {
    samples = readAll(dataset, fields, indices, options, batch);
    batch.samples = int64_t(samples.size());
  }
  batch.size = options.last == Last::Keep ? batch.samples : options.batch;
  int64_t size = (batch.size + options.parts - 1) / options.parts, begin = options.part * size;
  // Padding repeats the samples, because batch norm computes moments over the padding too.
  std::vector<int64_t> own;
  for (int64_t place = begin; place < std::min(begin + size, batch.size); ++place)
    own.push_back(place % batch.samples);
  if (!needsAll) {
    for (int64_t &each : own)
      each = indices[size_t(each)];
    samples = readAll(dataset, fields, own, options, batch);
    std::iota(own.begin(), own.end(), 0);
  }
  std::vector<const Sample *> taken;
  for (int64_t each : own)
    taken.push_back(&samples[size_t(each)]);
  fillArrays(batch, samples, taken, size, options);
  batch.weight = io::HostArray::zeros(ElementType::F32, {size}, {options.batchName}, Here());
  std::fill_n(batch.weight.values<float>().begin(),
              std::clamp<int64_t>(batch.samples - begin, 0, size), 1.0f);
  return batch;
}
