//===- Dataset.h - samples that can be read in any order --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `Dataset` states the fields of its samples and reads single samples:
//
//     struct Squares : nn::Dataset {
//       int64_t count() const override { return 100; }
//       std::vector<nn::Field> fields() const override {
//         return {{"x", ElementType::F32, {}, {}}, {"square", ElementType::F32, {}, {}}};
//       }
//       nn::Sample read(int64_t index) const override {
//         float x = float(index) / 100;
//         return {io::HostArray::of<float>({x}, {}), io::HostArray::of<float>({x * x}, {})};
//       }
//     };
//
// A field may have an axis whose size differs from sample to sample, such as a text's length. A
// `Loader` (Loader.h) reads a dataset in batches; Combinators.h derives datasets from others.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_DATA_DATASET_H
#define HEDDLE_NN_DATA_DATASET_H

#include "heddle/Error.h"
#include "heddle/io/HostArray.h"

#include <memory>

namespace heddle::nn {

/// The size of an axis that differs from sample to sample; at most one axis of a field.
inline constexpr int64_t anySize = -1;

/// One part of a sample: "image", f32, {28, 28}, {"row", "column"}; "text", i32, {anySize},
/// {"time"}.
struct Field {
  std::string name;
  ElementType element;
  std::vector<int64_t> shape;
  std::vector<std::string> names;

  bool operator==(const Field &) const = default;
  /// "text: i32 [time: any]"
  std::string describe() const;
};

/// An array for each field.
using Sample = std::vector<io::HostArray>;

/// Thrown for a sample that can't be read, such as a damaged image. A loader can skip it; any other
/// Error ends the epoch.
class DamagedSample : public Error {
public:
  using Error::Error;
};

class Dataset {
public:
  virtual ~Dataset();
  virtual int64_t count() const = 0;
  virtual std::vector<Field> fields() const = 0;
  /// Returns arrays of the fields' types; they need no names. Several threads may call it at once.
  virtual Sample read(int64_t index) const = 0;
  /// The length of a sample, by which a loader groups similar samples into a batch; must be cheap.
  /// 0 if all have the same.
  virtual int64_t length(int64_t) const { return 0; }

protected:
  /// Throws Error for an index out of range.
  void requireIndex(int64_t index) const;
};

using DatasetPtr = std::shared_ptr<const Dataset>;

/// Samples in memory: arrays that share one axis, along which the samples lie.
///
///     nn::Arrays data({{"image", images}, {"label", labels}}, "sample");
class Arrays : public Dataset {
public:
  /// Throws Error if an array lacks the axis, or if its sizes differ.
  Arrays(std::vector<std::pair<std::string, io::HostArray>> arrays, const std::string &axis,
         Here here = Here::current());
  int64_t count() const override { return samples; }
  std::vector<Field> fields() const override { return parts; }
  Sample read(int64_t index) const override;

private:
  std::vector<Field> parts;
  std::vector<io::HostArray> arrays; ///< the axis first
  int64_t samples = 0;
};

} // namespace heddle::nn

#endif // HEDDLE_NN_DATA_DATASET_H
