//===- Loader.h - batches of samples ----------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loader reads a dataset in batches, in an order that depends only on a seed and the epoch, and
// prefetches batches on its own threads:
//
//     Loader loader(dataset, {.batch = 64, .shuffle = true, .seed = 1, .epoch = 3, .threads = 2});
//     while (std::optional<Batch> batch = loader.next())
//       use(batch->array("image"), batch->array("label"), batch->weight);
//
// Fields of different lengths are padded with zeros to the longest sample of the batch;
// `lengths("text")` has the lengths. `next` throws what reading a batch threw, after it has
// returned the batches before.
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
  std::vector<io::HostArray> sizes; ///< i32, one for each field: lengths along its axis of any size
  io::HostArray weight;             ///< f32: 1 for a sample, 0 for padding
  int64_t samples = 0;              ///< of the whole batch, without padding
  int64_t size = 0;                 ///< of the whole batch, with padding
  int64_t damaged = 0;              ///< the number of skipped samples

  /// Both throw Error that lists the fields for an unknown one.
  const io::HostArray &array(std::string_view field, Here here = Here::current()) const;
  /// The lengths of the samples along the axis of any size.
  const io::HostArray &lengths(std::string_view field, Here here = Here::current()) const;
};

/// If too few samples are left for the last batch, it is padded (Pad), smaller than the others
/// (Keep) or dropped (Drop). Padding repeats the samples of the batch, from the first one on, with
/// weight 0: losses and measures ignore them (sampleMean), and batch norms compute their moments
/// from data.
enum class Last { Pad, Keep, Drop };

struct LoaderOptions {
  int64_t batch = 64;
  bool shuffle = false;
  uint64_t seed = 0, epoch = 0; ///< of the order, if shuffled
  int64_t skip = 0;             ///< the number of batches to skip at the beginning
  std::string batchName = "batch";
  int ahead = 2;   ///< batches to prefetch on threads; 0: `next` reads
  int threads = 1; ///< reading threads, one batch each; at most `ahead` of them run
  Last last = Last::Pad;
  /// Sorts samples by length within groups of this many consecutive batches, so that a batch has
  /// similar lengths; `shuffle` then shuffles the batches of a group. 0: no sorting.
  int64_t similar = 0;
  /// This many consecutive batches are the parts of one larger batch, which `similar` counts as
  /// one.
  int64_t together = 1;
  int64_t multipleOf = 1;   ///< rounds padded lengths up to a multiple, so that fewer sizes occur
  bool skipDamaged = false; ///< skip a DamagedSample instead of throwing it
  /// Reads only this part (from 0) of each batch, for several ranks that share a batch: of n
  /// samples each part has ceil(n / parts), the last ones padded with zeros. Other samples are not
  /// read, except if lengths differ or samples may be damaged, since these determine the whole
  /// batch.
  int64_t part = 0, parts = 1;
};

class Loader {
public:
  /// The dataset must outlive the loader. Throws Error for options out of range, for a field that
  /// has the batch's name, and with Last::Drop for fewer samples than one batch.
  Loader(const Dataset &dataset, LoaderOptions options, Here here = Here::current());
  ~Loader();
  Loader(const Loader &) = delete;
  Loader &operator=(const Loader &) = delete;

  /// The number of batches of the whole epoch, skipped ones included.
  int64_t batches() const;
  /// The next batch, or none at the end.
  std::optional<Batch> next();

private:
  struct State;
  std::unique_ptr<State> state;
};

/// A permutation of [0, count) that depends only on the seed and the epoch.
std::vector<int64_t> shuffled(int64_t count, uint64_t seed, uint64_t epoch);

} // namespace heddle::nn

#endif // HEDDLE_NN_DATA_LOADER_H
