//===- Loader.h - batches of samples ----------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loader walks over a dataset in batches, in an order that depends on a seed and the epoch alone,
// and reads ahead on threads of its own:
//
//     Loader loader(dataset, {.batch = 64, .shuffle = true, .seed = 1, .epoch = 3, .threads = 2});
//     while (std::optional<Batch> batch = loader.next())
//       use(batch->array("image"), batch->array("label"), batch->weight);
//
// The axis of a field that differs from sample to sample is as long as the longest in the batch;
// what is behind the end of a sample is zero, and `lengths("text")` says where that is. What
// reading throws is thrown by `next`, after the batches before it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_DATA_LOADER_H
#define HEDDLE_NN_DATA_LOADER_H

#include "heddle/nn/data/Dataset.h"

#include <optional>

namespace heddle::nn {

struct Batch {
  std::vector<Field> fields;
  std::vector<io::HostArray> arrays; ///< one for each field; the first axis is the sample
  std::vector<io::HostArray> sizes;  ///< i32, one for each field: of its axis of any size, or 0
  io::HostArray weight;              ///< f32: 1 for a sample, 0 for filling
  int64_t samples = 0;               ///< of the whole batch, that are not filling
  int64_t size = 0;                  ///< of the whole batch, filling included
  int64_t damaged = 0;               ///< that were left out

  /// Both throw Error that lists the fields for an unknown one.
  const io::HostArray &array(std::string_view field, Here here = Here::current()) const;
  /// The sizes of the axis that differs.
  const io::HostArray &lengths(std::string_view field, Here here = Here::current()) const;
};

/// If too few samples are left for the last batch, it is filled (Pad), is smaller than the others
/// (Keep), or is left out (Drop). What fills a batch are its own samples again, from the first one
/// on, with weight 0: losses and measures leave them out (sampleMean), and the moments of a batch
/// norm are still those of data.
enum class Last { Pad, Keep, Drop };

struct LoaderOptions {
  int64_t batch = 64;
  bool shuffle = false;
  uint64_t seed = 0, epoch = 0; ///< of the order, if shuffled
  int64_t skip = 0;             ///< batches to leave out at the beginning
  std::string batchName = "batch";
  int ahead = 2;   ///< batches to read ahead on threads; 0: none, `next` reads
  int threads = 1; ///< that read, each a batch; no more than batches are read ahead
  Last last = Last::Pad;
  /// Samples are sorted by length within groups of so many batches, in the loader's order; then
  /// the batches of a group are in a random order, if shuffled. 0: not at all.
  int64_t similar = 0;
  /// So many batches are the parts of a larger one: those are meant by `similar`.
  int64_t together = 1;
  int64_t multipleOf = 1;   ///< sizes that differ are rounded up to this, so that fewer occur
  bool skipDamaged = false; ///< leave out a DamagedSample, instead of throwing it
  /// Of each batch only this part (from 0), where several ranks read one batch together: of a batch
  /// of n samples the parts have ceil(n / parts); what the last ones have beyond are zeros. The
  /// other samples are not read, unless sizes differ or samples may be damaged: then all ranks have
  /// to know of all samples.
  int64_t part = 0, parts = 1;
};

class Loader {
public:
  /// The dataset has to live as long. Throws Error for options out of range, for a field that has
  /// the batch's name, and for samples too few for a single batch where the last one is dropped.
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

#endif // HEDDLE_NN_DATA_LOADER_H
