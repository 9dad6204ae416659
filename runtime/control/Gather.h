//===- Gather.h - the whole of a tensor that is split -----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranks hold blocks of a tensor (program/Shards.h). When one of them wants the whole, all take part:
//
//     TensorRef whole = gather(*job, shards, *mine, "'weight' at main.cpp:12:3");
//
// They agree on it first, as on a call of a program. A rank that gathers alone, or another tensor
// than the others, therefore ends the job with an error that names it and what it gathers.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CONTROL_GATHER_H
#define HEDDLE_RUNTIME_CONTROL_GATHER_H

#include "runtime/control/Job.h"
#include "runtime/program/Shards.h"

namespace heddle {

/// The whole tensor, row-major over the sorted names, of which this rank holds `block`. All ranks
/// call it, between the same calls of programs. `what` is for messages, and is the same on all.
/// Throws JobError if the job fails, and Error for a mesh that is not the job's or without an
/// engine.
TensorRef gather(Job &job, const Shards &shards, const RuntimeTensor &block,
                 const std::string &what);

/// A tensor of which this rank holds a block.
struct SplitTensor {
  Shards shards;
  TensorRef block;
  std::shared_ptr<Job> job; ///< null: one rank
  std::string name;         ///< for messages

  TensorRef gather() const;
};

/// A new tensor for the whole, row-major over the sorted names; its elements are undefined.
TensorRef wholeTensor(const Shards &shards, ElementType element);

/// Throws Error unless the mesh is one of as many ranks as the job has.
void requireRanks(const MeshSpec &mesh, int ranks);

} // namespace heddle

#endif // HEDDLE_RUNTIME_CONTROL_GATHER_H
