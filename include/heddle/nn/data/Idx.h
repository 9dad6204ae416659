//===- Idx.h - IDX files and labelled images --------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The IDX format of the MNIST family: a magic number 0x00 0x00 type rank, big-endian sizes, elements. Plain and
// gzip-compressed files are read alike.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_DATA_IDX_H
#define HEDDLE_NN_DATA_IDX_H

#include "heddle/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::nn {

/// The contents of an IDX file of unsigned bytes, row-major.
struct IdxArray {
  std::vector<int64_t> sizes;
  std::vector<uint8_t> values;
};

/// Reads `path`, or `path` + ".gz" if there is no such file. Throws Error that names the file for one that is missing,
/// truncated, too long, of another type or no IDX file.
IdxArray readIdx(const std::string &path);

/// Grey images with labels.
struct LabelledImages {
  int64_t count = 0, rows = 0, columns = 0;
  std::vector<uint8_t> pixels; ///< [image, row, column]
  std::vector<uint8_t> labels;
};

/// Zalando's Fashion-MNIST: 60,000 images to train on, 10,000 to test. `directory` empty: where Debian's package
/// dataset-fashion-mnist puts it; a missing one is an Error that says so.
LabelledImages fashionMnist(bool train, std::string directory = "");

/// The order of samples in an epoch: a permutation of [0, count) that depends on the seed and the epoch alone.
std::vector<int64_t> shuffled(int64_t count, uint64_t seed, uint64_t epoch);

} // namespace heddle::nn

#endif // HEDDLE_NN_DATA_IDX_H
