//===- MeshCall.h - calls of programs for several ranks ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arguments and results of a program for a mesh are blocks, those of the user's function whole
// tensors:
//
//     user          step(x: batch 5)              ->  y: batch 5, this rank's block of it
//     program       train(x: batch 3), rank 1 of 2: elements 3 and 4, and one lane beyond
//
// A whole tensor is cut. A tensor that is split as the program wants it is passed as it is; one that
// is split otherwise is gathered and cut.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_BUILDER_MESHCALL_H
#define HEDDLE_LIB_BUILDER_MESHCALL_H

#include "heddle/Tensor.h"
#include "runtime/control/Gather.h"
#include "runtime/program/Placement.h"
#include "runtime/program/Program.h"

namespace heddle::detail {

class MeshCall {
public:
  /// `arguments` are whole tensors. Throws Error for a mesh of another number of ranks than the job
  /// has.
  MeshCall(const Manifest &manifest, const EntrySpec &entry, std::shared_ptr<Job> job,
           const std::vector<Tensor> &arguments, Here here);

  /// What the program gets for argument i. If `keeps`, a block that had to be cut is kept with the
  /// tensor.
  TensorRef argument(size_t i, const Tensor &tensor, bool keeps, Here here) const;
  /// Result i as the user sees it.
  Tensor result(size_t i, TensorRef given, Here here) const;
  /// The sizes of whole tensors that the program takes as numbers.
  const SuppliedNumbers &supplied() const { return placed->supplied; }

private:
  const EntrySpec &entry;
  std::shared_ptr<Job> job;
  std::optional<Placement> placed;
};

} // namespace heddle::detail

#endif // HEDDLE_LIB_BUILDER_MESHCALL_H
