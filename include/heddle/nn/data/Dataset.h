//===- Dataset.h - samples, and batches of them -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `Dataset` says what a sample is made of and writes one sample; a `Loader`
// walks over it in batches, in an order that depends on a seed and the epoch
// alone, and reads ahead on a thread of its own:
//
//     Loader loader(dataset, {.batch = 64, .shuffle = true, .seed = 1, .epoch = 3});
//     while (std::optional<Batch> batch = loader.next())
//       use(batch->array("image"), batch->array("label"), batch->weight);
//
// Every batch has the same size: one that has too few samples is filled up with
// zeros, whose weight is zero. What reading throws is thrown by `next`.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_DATA_DATASET_H
#define HEDDLE_NN_DATA_DATASET_H

#include "heddle/Error.h"
#include "heddle/io/HostArray.h"

#include <memory>
#include <optional>

namespace heddle::nn {

/// One part of a sample: "image", f32, {28, 28}, {"row", "column"}.
struct Field {
  std::string name;
  ElementType element;
  std::vector<int64_t> shape;
  std::vector<std::string> names;
};

/// Samples that can be read in any order.
class Dataset {
public:
  virtual ~Dataset();
  virtual int64_t count() const = 0;
  virtual std::vector<Field> fields() const = 0;
  /// Writes sample `index` densely, field i to `fields[i]`. A loader calls it from one thread at a
  /// time.
  virtual void read(int64_t index, std::span<std::byte *const> places) const = 0;
};

struct Batch {
  std::vector<Field> fields;
  std::vector<io::HostArray> arrays; ///< one for each field; the first axis is the sample
  io::HostArray weight;              ///< f32: 1 for a sample, 0 for filling
  int64_t samples = 0;               ///< that are not filling

  /// Throws Error that lists the fields for an unknown one.
  const io::HostArray &array(std::string_view field, Here here = Here::current()) const;
};

struct LoaderOptions {
  int64_t batch = 64;
  bool shuffle = false;
  uint64_t seed = 0, epoch = 0; ///< of the order, if shuffled
  int64_t skip = 0;             ///< batches to leave out at the beginning
  std::string batchName = "batch";
  int ahead = 2; ///< batches to read ahead on a thread; 0: none, `next` reads
};

class Loader {
public:
  /// The dataset has to live as long. Throws Error for a batch size below 1.
  Loader(const Dataset &dataset, LoaderOptions options, Here here = Here::current());
  ~Loader();
  Loader(const Loader &) = delete;
  Loader &operator=(const Loader &) = delete;

  /// In the whole epoch, those left out included.
  int64_t batches() const;
  /// The next batch, or none at the end.
  std::optional<Batch> next();

private:
  struct State;
  std::unique_ptr<State> state;
};

/// A permutation of [0, count) that depends on the seed and the epoch alone.
std::vector<int64_t> shuffled(int64_t count, uint64_t seed, uint64_t epoch);

} // namespace heddle::nn

#endif // HEDDLE_NN_DATA_DATASET_H
