//===- Binding.h - the arguments and results of a call ----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks the arguments that a caller binds, and finds the memory of arguments and results: the
// caller's own where type and layout fit, else a copy. A donated argument gives its memory to a
// result (Donation.h).
//
//     binding.bind(0, image);
//     binding.place();                     // sets the addresses of arguments and results
//     binding.copyIn();                    // each run: converts arguments
//     ...                                  //           the program
//     binding.copyOut();                   //           results that are arguments or constants
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_PROGRAM_BINDING_H
#define HEDDLE_RUNTIME_PROGRAM_BINDING_H

#include "runtime/program/CallMemory.h"
#include "runtime/program/Donation.h"

namespace heddle {

class Binding {
public:
  Binding(const EntrySpec &entry, CallMemory &memory);

  /// See Call::bind.
  void bind(size_t argument, TensorRef tensor, bool donate);
  /// Throws Error unless all arguments are bound.
  void requireAll() const;
  /// Throws Error if an argument was donated since it was bound.
  void requireUsable() const;
  std::vector<const TensorSpec *> types() const;
  void clear();

  /// Sets the addresses of arguments and results for the sizes of the call.
  void place();
  void copyIn();
  /// True if there is something to do after a run.
  bool hasOutputs() const { return !spec.donations.empty() || !copiesAfter.empty(); }
  /// Donated arguments become unusable.
  void poison();
  void copyOut();
  /// Gives the memory of donated arguments to results; false if there are none.
  bool takeOver();

  TensorRef result(size_t result) const;
  std::vector<TensorRef> results; ///< null: not run yet

private:
  struct Argument {
    TensorRef tensor;
    TensorRef converted; ///< a copy in the layout that the program expects
    Donation donation;
  };
  const EntrySpec &spec;
  CallMemory &memory;
  std::vector<Argument> arguments;
  std::vector<int32_t> resultOf;      ///< by value: index of the result, or -1
  std::vector<int32_t> resultDonated; ///< by argument: the result that may take it over, or -1
  std::vector<std::pair<RuntimeTensor *, RuntimeTensor *>> copiesBefore; ///< (to, from)
  std::vector<std::pair<RuntimeTensor *, int32_t>> copiesAfter;          ///< (to, value)

  const ValueSpec &formalOf(size_t argument) const {
    return spec.values[size_t(spec.arguments[argument])];
  }
  void placeArguments();
  void placeResults();
  TensorRef &ensureResult(size_t result);
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_PROGRAM_BINDING_H
