//===- TrainerRanks.h - the ranks of a trainer ------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How a trainer uses several ranks: the part of a batch that each one reads, and the sharding rules
// of TrainerOptions::zero.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_NN_TRAINERRANKS_H
#define HEDDLE_LIB_NN_TRAINERRANKS_H

#include "heddle/nn/Trainer.h"
#include "runtime/program/Shards.h"

namespace heddle::nn {

class TrainerRanks {
public:
  /// `samples` is the name of the samples of a batch. Throws Error as MeshPlan::of does, for a mesh
  /// whose size is not the number of ranks, and for a stage of ZeRO if no rule splits the samples.
  TrainerRanks(const TrainerOptions &options, const std::string &samples, Here here);

  const Ranks &ranks() const { return all; }
  bool isSplit() const { return all.size() > 1; }
  /// True on the rank that prints and writes.
  bool speaks() const { return all.isFirst(); }

  /// True if parts of the network are on different ranks.
  bool hasStages() const;

  /// The part of each batch that this rank reads, and the number of parts.
  int64_t part() const { return own; }
  int64_t parts() const { return count; }
  /// The tensors of a batch; this rank has read only its part of them.
  Fields fieldsOf(const Batch &batch, double progress, Here here) const;

  /// The number of micro-batches: that of the plan's file, else `stated`, else 1. Throws Error if
  /// both are set and differ, and if it does not divide `batch`.
  int64_t microBatches(std::optional<int64_t> stated, int64_t batch, Here here) const;

  /// Adds the rules of ZeRO for a state, and the axes that split its gradients.
  void splitState(TrainingState &state);
  const std::vector<std::string> &zeroRules() const { return rules; }
  const std::map<std::string, std::vector<NameAxes>> &gradients() const { return gradientAxes; }
  /// Puts mesh, rules and ranks into the options of a function.
  void addTo(JitOptions &options) const;
  /// A message for the user: the mesh, the parts of a batch, and a warning of axes whose ranks all
  /// compute the same.
  std::string describe() const;

private:
  MeshPlan plan;
  MeshSpec spec;
  Ranks all;
  std::string samples;
  AxisList sampleAxes; ///< of the rule that splits the samples
  int64_t own = 0, count = 1;
  int64_t zero = 0;
  std::vector<std::string> rules;
  std::map<std::string, std::vector<NameAxes>> gradientAxes;

  Sharding splitOf(const std::string &path, const Tensor &tensor) const;
};

} // namespace heddle::nn

#endif // HEDDLE_LIB_NN_TRAINERRANKS_H
