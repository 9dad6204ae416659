//===- Collate.h - samples become a batch -----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_DATA_COLLATE_H
#define HEDDLE_NN_DATA_COLLATE_H

#include "heddle/nn/data/Loader.h"

namespace heddle::nn {

/// Throws Error unless the arrays of a sample have the types of the fields.
void requireFields(const std::vector<Field> &fields, const Sample &sample, int64_t index);

/// Reads samples and puts them into a batch. Throws Error for a sample that does not have the
/// fields' types, and if all are damaged.
Batch collate(const Dataset &dataset, const std::vector<Field> &fields,
              std::span<const int64_t> indices, const LoaderOptions &options);

} // namespace heddle::nn

#endif // HEDDLE_NN_DATA_COLLATE_H
