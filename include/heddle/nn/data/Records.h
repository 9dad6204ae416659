//===- Records.h - samples in one file --------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Keeps samples that took long to decode or make for later runs: one file is written once, sample
// by sample, and any sample is read without reading the rest.
//
//     writeRecords("train.records", slow);       // any Dataset
//     Records fast("train.records");
//
// The file is the word HDLREC01, the samples (for each field the size of its axis of any size, then
// the elements), a table of where each sample begins and of its checksum (two numbers of 64 bits),
// the fields as JSON, and at the end the number of samples, where the table begins, the length of
// the JSON and the word once more. Numbers and elements are little-endian.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_DATA_RECORDS_H
#define HEDDLE_NN_DATA_RECORDS_H

#include "heddle/nn/data/Dataset.h"

namespace heddle::nn {

/// Writes all samples, whole or not at all; those that are damaged are left out if `skipDamaged`.
/// Gives the number of samples written. Throws Error that names the file, and what reading throws.
int64_t writeRecords(const std::string &path, const Dataset &data, bool skipDamaged = false,
                     Here here = Here::current());

class Records : public Dataset {
public:
  /// Throws Error that names the file if it can't be read or is not such a file.
  explicit Records(const std::string &path, Here here = Here::current());
  ~Records() override;
  int64_t count() const override;
  std::vector<Field> fields() const override;
  /// Throws DamagedSample if the checksum is another.
  Sample read(int64_t index) const override;
  int64_t length(int64_t index) const override;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace heddle::nn

#endif // HEDDLE_NN_DATA_RECORDS_H
