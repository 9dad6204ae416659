//===- Distribution.h - a trainer's mesh ------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a trainer decides about the ranks: which part of a batch each one reads, and the rules of
// TrainerOptions::zero.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_NN_DISTRIBUTION_H
#define HEDDLE_LIB_NN_DISTRIBUTION_H

#include "heddle/nn/Trainer.h"
#include "runtime/program/Shards.h"

namespace heddle::nn {

class Distribution {
public:
  /// `samples` is the name of the samples of a batch. Throws Error as MeshPlan::of does, for a mesh
  /// of another number of ranks than there are, and for a stage of ZeRO without split samples.
  Distribution(const TrainerOptions &options, const std::string &samples, Here here);

  const Ranks &ranks() const { return all; }
  bool isSplit() const { return all.size() > 1; }
  /// True on the rank that prints and writes.
  bool speaks() const { return all.isFirst(); }

  /// True if parts of the network are on different ranks.
  bool hasStages() const;

  /// The part of each batch that this rank reads, and the number of parts.
  int64_t part() const { return own; }
  int64_t parts() const { return count; }
  /// The tensors of a batch of which this rank has read its part.
  Fields fieldsOf(const Batch &batch, double progress, Here here) const;

  /// The micro-batches of the plan's file, or `stated`, or 1. Throws Error if the two differ, and if
  /// they do not divide a batch of so many samples.
  int64_t microBatches(std::optional<int64_t> stated, int64_t batch, Here here) const;

  /// Adds the rules of ZeRO for a state, and how gradients are split.
  void splitState(TrainingState &state);
  const std::vector<std::string> &zeroRules() const { return rules; }
  const std::map<std::string, std::vector<NameAxes>> &gradients() const { return gradientAxes; }
  /// Puts mesh, rules and ranks into the options of a function.
  void addTo(JitOptions &options) const;
  /// What to tell the user: the mesh, the parts of a batch, axes along which ranks compute the same.
  std::string describe() const;

private:
  MeshPlan plan;
  MeshSpec spec;
  Ranks all;
  std::string samples;
  std::vector<std::string> sampleAxes; ///< of the rule that splits the samples
  int64_t own = 0, count = 1;
  int64_t zero = 0;
  std::vector<std::string> rules;
  std::map<std::string, std::vector<NameAxes>> gradientAxes;

  ShardAxes splitOf(const std::string &path, const Tensor &tensor) const;
};

} // namespace heddle::nn

#endif // HEDDLE_LIB_NN_DISTRIBUTION_H
