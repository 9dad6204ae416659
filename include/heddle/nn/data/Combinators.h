//===- Combinators.h - datasets made of others ------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     auto all = concat({monday, tuesday});                  // one after the other
//     auto pairs = merge({images, texts});                   // the fields of both
//     auto tenth = span(all, 0, all->count() / 10);
//     auto rest = span(all, tenth->count(), all->count() - tenth->count());
//     auto grey = transform(rest, [](Sample sample, int64_t) { ...; return sample; });
//     Loader loader(*grey, {.batch = 64});
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_DATA_COMBINATORS_H
#define HEDDLE_NN_DATA_COMBINATORS_H

#include "heddle/nn/data/Dataset.h"

#include <functional>

namespace heddle::nn {

/// Concatenates datasets. Throws Error unless all have the same fields.
DatasetPtr concat(std::vector<DatasetPtr> parts, Here here = Here::current());
/// Sample i has the fields of sample i of all parts. Throws Error unless all have the same number
/// of samples and no field occurs twice.
DatasetPtr merge(std::vector<DatasetPtr> parts, Here here = Here::current());
/// `count` samples from `begin` on. Throws Error if there are fewer.
DatasetPtr span(DatasetPtr data, int64_t begin, int64_t count, Here here = Here::current());
/// The samples with these indices, which may repeat. Throws Error for an index out of range.
DatasetPtr subset(DatasetPtr data, std::vector<int64_t> indices, Here here = Here::current());
/// `count` samples drawn at random with replacement, with probabilities in proportion to `weights`
/// (empty: equal). Throws Error for weights that are negative or all zero, and for no samples to
/// draw from.
DatasetPtr resample(DatasetPtr data, int64_t count, uint64_t seed,
                    const std::vector<double> &weights = {}, Here here = Here::current());
/// Applies `function(sample, index)` to each sample; `fields`: those of the result, if they differ.
/// Random changes should depend only on the index and a seed, so that an epoch can be repeated.
DatasetPtr transform(DatasetPtr data, std::function<Sample(Sample, int64_t)> function,
                     std::vector<Field> fields = {});

} // namespace heddle::nn

#endif // HEDDLE_NN_DATA_COMBINATORS_H
