//===- MeshFlags.h - options of programs that train on ranks ----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     heddle-launch -n 2 fashion --mesh data=2 --shard batch:data
//
// `addMeshFlags` (AddMeshFlags.h) lets a command line have them.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_MODELS_MESH_MESHFLAGS_H
#define HEDDLE_MODELS_MESH_MESHFLAGS_H

#include "heddle/nn/Trainer.h"

namespace heddle {

struct MeshFlags {
  std::string mesh, plan, engine, timeline;
  std::vector<std::string> shard;
  std::optional<int64_t> zero, microBatches;

  /// Joins the job where a mesh is stated. Throws Error.
  void apply(nn::Training &training, nn::TrainerOptions &options) const {
    training.microBatches = microBatches;
    options.mesh = Mesh::parse(mesh, Here());
    options.rules = shard;
    options.plan = plan;
    options.zero = zero;
    options.timeline = timeline;
    if (mesh.empty() && plan.empty() && engine.empty())
      return;
    options.ranks = Ranks::join(engine, Here());
    if (mesh.empty() && plan.empty() && options.ranks->size() > 1)
      throw Error("expected a mesh of " + std::to_string(options.ranks->size()) +
                  " ranks, such as --mesh data=" + std::to_string(options.ranks->size()) +
                  " --shard batch:data");
  }
  /// Tells the other ranks, if there are any, why this one ends.
  void fail(const std::string &reason) const {
    if (!mesh.empty() || !plan.empty() || !engine.empty())
      try {
        Ranks::join(engine, Here()).fail(reason);
      } catch (const Error &) { // it has not joined
      }
  }
};

} // namespace heddle

#endif // HEDDLE_MODELS_MESH_MESHFLAGS_H
