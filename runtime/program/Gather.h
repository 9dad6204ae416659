//===- Gather.h - gathers a sharded tensor ----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each rank holds a shard of a tensor (program/Shards.h). To get the whole tensor, all ranks call:
//
//     TensorRef whole = gather(*job, shards, *mine, "'weight' at main.cpp:12:3");
//
// They first compare their calls, as for a call of a program. So if one rank gathers alone, or
// gathers a different tensor, the job ends with an error that names the rank and the tensor.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_PROGRAM_GATHER_H
#define HEDDLE_RUNTIME_PROGRAM_GATHER_H

#include "runtime/control/Job.h"
#include "runtime/program/Shards.h"

namespace heddle {

/// The whole tensor, row-major over the sorted names; `block` is this rank's shard. A collective:
/// all ranks call it, in the same order relative to calls of programs. `what` is for messages, and
/// equal on all ranks. Throws JobError if the job fails, and Error if the mesh is not the job's or
/// the job has no engine.
TensorRef gather(Job &job, const Shards &shards, const RuntimeTensor &block,
                 const std::string &what);

/// A tensor of which this rank holds one shard.
struct SplitTensor {
  Shards shards;
  TensorRef block;
  std::shared_ptr<Job> job; ///< null: one rank
  std::string name;         ///< for messages

  TensorRef gather() const;
};

/// Allocates the whole tensor, row-major over the sorted names; its elements are undefined.
TensorRef wholeTensor(const Shards &shards, ElementType element);

/// Throws Error unless the mesh has as many ranks as the job.
void requireRanks(const MeshSpec &mesh, int ranks);

} // namespace heddle

#endif // HEDDLE_RUNTIME_PROGRAM_GATHER_H
