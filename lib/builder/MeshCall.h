//===- MeshCall.h - calls of programs for several ranks ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program for a mesh takes and returns blocks, the user's function whole tensors:
//
//     user          step(x: batch 5)              ->  y: batch 5, this rank's block of it
//     program       train(x: batch 3), rank 1 of 2: elements 3 and 4, and one of padding
//
// A whole tensor is cut into blocks. A tensor with the program's sharding is passed unchanged; one
// with another sharding is gathered and cut.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_BUILDER_MESHCALL_H
#define HEDDLE_LIB_BUILDER_MESHCALL_H

#include "heddle/Tensor.h"
#include "runtime/program/CallShards.h"
#include "runtime/program/Gather.h"
#include "runtime/program/Program.h"

namespace heddle::detail {

class MeshCall {
public:
  /// `arguments` are whole tensors. Throws Error for a mesh whose size is not the number of ranks
  /// of the job.
  MeshCall(const Manifest &manifest, const EntrySpec &entry, std::shared_ptr<Job> job,
           const std::vector<Tensor> &arguments, Here here);

  /// The block to pass for argument i. If `keeps`, a newly cut block is stored with the tensor.
  TensorRef argument(size_t i, const Tensor &tensor, bool keeps, Here here) const;
  /// Result i as the user sees it.
  Tensor result(size_t i, TensorRef given, Here here) const;
  /// The sizes of whole tensors, which the program takes as numbers.
  const SuppliedNumbers &supplied() const { return placed->supplied; }

private:
  const EntrySpec &entry;
  std::shared_ptr<Job> job;
  std::optional<CallShards> placed;
};

} // namespace heddle::detail

#endif // HEDDLE_LIB_BUILDER_MESHCALL_H
