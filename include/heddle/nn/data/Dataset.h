//===- Dataset.h - samples that can be read in any order --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `Dataset` says what a sample is made of, and reads one:
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
// `Loader` (Loader.h) walks over a dataset in batches; Combinators.h makes datasets of others.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_DATA_DATASET_H
#define HEDDLE_NN_DATA_DATASET_H

#include "heddle/Error.h"
#include "heddle/io/HostArray.h"

#include <memory>

namespace heddle::nn {

/// The size of an axis that differs from sample to sample; one in a field at most.
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

/// A sample that can't be read, such as a damaged image. A loader may leave it out; any other Error
/// ends the epoch.
class DamagedSample : public Error {
public:
  using Error::Error;
};

class Dataset {
public:
  virtual ~Dataset();
  virtual int64_t count() const = 0;
  virtual std::vector<Field> fields() const = 0;
  /// The arrays have the fields' types; names may be left out. Several threads may read at once.
  virtual Sample read(int64_t index) const = 0;
  /// How large a sample is, cheaply, so that those of similar length get into one batch; 0 if all
  /// are alike.
  virtual int64_t length(int64_t) const { return 0; }

protected:
  /// Throws Error unless there is a sample of this index.
  void requireIndex(int64_t index) const;
};

using DatasetPtr = std::shared_ptr<const Dataset>;

/// Samples in memory: arrays that share one axis, along which the samples lie.
///
///     nn::Arrays data({{"image", images}, {"label", labels}}, "sample");
class Arrays : public Dataset {
public:
  /// Throws Error if an array lacks the axis, or has another size of it.
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
