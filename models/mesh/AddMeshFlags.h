//===- AddMeshFlags.h - options of programs that train on ranks -*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_MODELS_MESH_ADDMESHFLAGS_H
#define HEDDLE_MODELS_MESH_ADDMESHFLAGS_H

#include "models/mesh/MeshFlags.h"

#include <CLI/CLI.hpp>

namespace heddle {

inline void addMeshFlags(CLI::App &command, MeshFlags &flags) {
  command.add_option("--mesh", flags.mesh, "Train on the ranks of a mesh, such as data=2,model=2");
  command
      .add_option("--shard", flags.shard,
                  "Split a name over axes: batch:data, net.wide/hidden:model; may be given several "
                  "times")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  command.add_option("--plan", flags.plan,
                     "File with such lines: mesh data=2, rules, zero 3, micro-batches 4");
  command.add_option("--engine", flags.engine,
                     "Moves tensors between ranks: shm, mpi or net (what the launcher says, shm)");
  command
      .add_option("--zero", flags.zero,
                  "Split the optimiser's state (1), gradients as well (2), parameters as well (3) "
                  "over the axes that split the batch")
      ->check(CLI::Range(0, 3));
  command
      .add_option("--micro-batches", flags.microBatches, "Parts of a batch, one after the other")
      ->check(CLI::Range(1, 1000000));
  command.add_option("--timeline", flags.timeline,
                     "Write a Chrome trace of the first steps here: for each rank its steps, and "
                     "what it moves");
}

} // namespace heddle

#endif // HEDDLE_MODELS_MESH_ADDMESHFLAGS_H
