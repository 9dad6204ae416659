//===- Combinators.cpp - datasets made of others --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/data/Combinators.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

using namespace heddle;
using namespace heddle::nn;

static std::string describe(const std::vector<Field> &fields) {
  std::string text;
  for (const Field &field : fields)
    text += (text.empty() ? "" : ", ") + field.describe();
  return "{" + text + "}";
}

namespace {
struct Concat : Dataset {
  std::vector<DatasetPtr> parts;
  std::vector<int64_t> ends;

  int64_t count() const override { return ends.back(); }
  std::vector<Field> fields() const override { return parts[0]->fields(); }
  Sample read(int64_t index) const override { return at(index, &Dataset::read); }
  int64_t length(int64_t index) const override { return at(index, &Dataset::length); }
  /// Calls `ask` on the part that has this sample.
  template <typename R>
  R at(int64_t index, R (Dataset::*ask)(int64_t) const) const {
    requireIndex(index);
    size_t part = size_t(std::upper_bound(ends.begin(), ends.end(), index) - ends.begin());
    return (parts[part].get()->*ask)(index - (part ? ends[part - 1] : 0));
  }
};

struct Merge : Dataset {
  std::vector<DatasetPtr> parts;

  int64_t count() const override { return parts[0]->count(); }
  std::vector<Field> fields() const override {
    std::vector<Field> all;
    for (const DatasetPtr &part : parts)
      for (Field &field : part->fields())
        all.push_back(std::move(field));
    return all;
  }
  Sample read(int64_t index) const override {
    Sample all;
    for (const DatasetPtr &part : parts)
      for (io::HostArray &array : part->read(index))
        all.push_back(std::move(array));
    return all;
  }
  int64_t length(int64_t index) const override {
    int64_t longest = 0;
    for (const DatasetPtr &part : parts)
      longest = std::max(longest, part->length(index));
    return longest;
  }
};

struct Subset : Dataset {
  DatasetPtr data;
  std::vector<int64_t> indices;

  int64_t count() const override { return int64_t(indices.size()); }
  std::vector<Field> fields() const override { return data->fields(); }
  Sample read(int64_t index) const override { return data->read(at(index)); }
  int64_t length(int64_t index) const override { return data->length(at(index)); }
  int64_t at(int64_t index) const {
    requireIndex(index);
    return indices[size_t(index)];
  }
};

struct Transform : Dataset {
  DatasetPtr data;
  std::function<Sample(Sample, int64_t)> function;
  std::vector<Field> changed;

  int64_t count() const override { return data->count(); }
  std::vector<Field> fields() const override { return changed; }
  Sample read(int64_t index) const override { return function(data->read(index), index); }
  int64_t length(int64_t index) const override { return data->length(index); }
};
} // namespace

static void requireData(const DatasetPtr &data, Here here) {
  if (!data)
    throw Error("expected a dataset, got a null pointer", here);
}

static void requireParts(const std::vector<DatasetPtr> &parts, Here here) {
  if (parts.empty())
    throw Error("expected at least one dataset", here);
  for (const DatasetPtr &part : parts)
    requireData(part, here);
}

DatasetPtr nn::concat(std::vector<DatasetPtr> parts, Here here) {
  requireParts(parts, here);
  auto result = std::make_shared<Concat>();
  for (const DatasetPtr &part : parts) {
    if (part->fields() != parts[0]->fields())
      throw Error("expected datasets of the same fields, got " + describe(parts[0]->fields()) +
                      " and " + describe(part->fields()),
                  here);
    result->ends.push_back((result->ends.empty() ? 0 : result->ends.back()) + part->count());
  }
  result->parts = std::move(parts);
  return result;
}

DatasetPtr nn::merge(std::vector<DatasetPtr> parts, Here here) {
  requireParts(parts, here);
  auto result = std::make_shared<Merge>();
  std::set<std::string> names;
  for (const DatasetPtr &part : parts) {
    if (part->count() != parts[0]->count())
      throw Error("expected datasets of as many samples, got " + std::to_string(parts[0]->count()) +
                      " and " + std::to_string(part->count()),
                  here);
    for (const Field &field : part->fields())
      if (!names.insert(field.name).second)
        throw Error("expected different fields, got '" + field.name + "' twice", here);
  }
  result->parts = std::move(parts);
  return result;
}

DatasetPtr nn::subset(DatasetPtr data, std::vector<int64_t> indices, Here here) {
  requireData(data, here);
  for (int64_t index : indices)
    if (index < 0 || index >= data->count())
      throw Error("expected samples from 0 to " + std::to_string(data->count() - 1) + ", got " +
                      std::to_string(index),
                  here);
  auto result = std::make_shared<Subset>();
  result->data = std::move(data);
  result->indices = std::move(indices);
  return result;
}

DatasetPtr nn::span(DatasetPtr data, int64_t begin, int64_t count, Here here) {
  requireData(data, here);
  if (begin < 0 || count < 0 || count > data->count() - begin)
    throw Error("expected a part of " + std::to_string(data->count()) + " samples, got " +
                    std::to_string(count) + " from " + std::to_string(begin) + " on",
                here);
  std::vector<int64_t> indices(static_cast<size_t>(count));
  std::iota(indices.begin(), indices.end(), begin);
  return subset(std::move(data), std::move(indices), here);
}

DatasetPtr nn::resample(DatasetPtr data, int64_t count, uint64_t seed,
                        const std::vector<double> &weights, Here here) {
  requireData(data, here);
  if (count < 0)
    throw Error("expected at least 0 samples to draw, got " + std::to_string(count), here);
  if (!weights.empty() && int64_t(weights.size()) != data->count())
    throw Error("expected a weight for each of " + std::to_string(data->count()) +
                    " samples, got " + std::to_string(weights.size()),
                here);
  std::vector<double> sums; // prefix sums of the weights
  for (int64_t i = 0; i < data->count(); ++i) {
    double weight = weights.empty() ? 1 : weights[size_t(i)];
    if (!(weight >= 0 && std::isfinite(weight)))
      throw Error("expected finite weights of at least 0, got " + std::to_string(weight) +
                      " for sample " + std::to_string(i),
                  here);
    sums.push_back((sums.empty() ? 0 : sums.back()) + weight);
  }
  if (!sums.empty() && !std::isfinite(sums.back()))
    throw Error("expected weights with a finite sum", here);
  if (count > 0 && (sums.empty() || sums.back() == 0))
    throw Error("can't draw " + std::to_string(count) + " samples from " +
                    std::to_string(sums.size()) + (sums.empty() ? "" : " of weight 0"),
                here);
  std::mt19937_64 random(seed); // its numbers are the same on all platforms
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < count; ++i) {
    double at = double(random() >> 11) * 0x1p-53 * sums.back();
    indices.push_back(std::upper_bound(sums.begin(), sums.end(), at) - sums.begin());
  }
  return subset(std::move(data), std::move(indices), here);
}

DatasetPtr nn::transform(DatasetPtr data, std::function<Sample(Sample, int64_t)> function,
                         std::vector<Field> fields) {
  auto result = std::make_shared<Transform>();
  result->changed = fields.empty() ? data->fields() : std::move(fields);
  result->data = std::move(data);
  result->function = std::move(function);
  return result;
}
