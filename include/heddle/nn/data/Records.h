//===- Records.h - samples in one file --------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Caches samples that are slow to decode or compute: a file is written once, sample by sample, and
// gives random access to its samples.
//
//     writeRecords("train.records", slow);       // any Dataset
//     Records fast("train.records");
//
// The file consists of the word HDLREC01, the samples (for each field the size of its axis of any
// size, then the elements), a table with the offset and the checksum of each sample (two 64-bit
// numbers), the fields as JSON, and a trailer: the number of samples, the offset of the table, the
// length of the JSON and the word again. Numbers and elements are little-endian.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_DATA_RECORDS_H
#define HEDDLE_NN_DATA_RECORDS_H

#include "heddle/nn/data/Dataset.h"

namespace heddle::nn {

/// Writes all samples, atomically, except damaged ones if `skipDamaged`. Returns the number of
/// samples written. Throws Error that names the file, and whatever reading throws.
int64_t writeRecords(const std::string &path, const Dataset &data, bool skipDamaged = false,
                     Here here = Here::current());

class Records : public Dataset {
public:
  /// Throws Error that names the file if it can't be read or is not a file of records.
  explicit Records(const std::string &path, Here here = Here::current());
  ~Records() override;
  int64_t count() const override;
  std::vector<Field> fields() const override;
  /// Throws DamagedSample if the checksum does not match.
  Sample read(int64_t index) const override;
  int64_t length(int64_t index) const override;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace heddle::nn

#endif // HEDDLE_NN_DATA_RECORDS_H
