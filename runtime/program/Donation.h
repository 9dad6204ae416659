//===- Donation.h - arguments whose memory results take over ----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A caller may donate an argument: a result then reuses its memory, and the tensor is unusable.
//
//     call->bind("weights", weights, /*donate=*/true);
//     call->run();                      // weights has no memory now; result 0 has it
//     call->bind("weights", weights);   // Error: was donated to 'train', which updated it in place
//
// The steps: `requireNotDonated` checks each argument when it is bound and before each run;
// `accept` decides whether the program may write to the argument's memory and prepares the result;
// `poison` makes the argument unusable after the run, also if the program failed; `takeOver` gives
// the memory to the result.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_PROGRAM_DONATION_H
#define HEDDLE_RUNTIME_PROGRAM_DONATION_H

#include "runtime/memory/RuntimeTensor.h"

namespace heddle {

/// Throws Error if the tensor was donated to an earlier call. `advice` ends the message.
void requireNotDonated(const EntrySpec &entry, size_t argument, const RuntimeTensor &tensor,
                       const char *advice = "");

/// Whether, and to what, an argument is donated.
class Donation {
public:
  Donation(bool allowed = false) : allowed(allowed) {}
  /// True if the program writes to the argument's memory in the next run.
  bool isInPlace() const { return inPlace; }
  /// Decides whether the program writes to the memory of `tensor`, which has the expected layout if
  /// it `fits`; otherwise the caller makes a copy. `all` are the addresses of the call's
  /// arguments, `type` is the result's.
  bool accept(const EntrySpec &entry, const ValueSpec &formal, const RuntimeTensor &tensor,
              bool fits, const std::vector<void *> &all,
              const std::shared_ptr<const StoredType> &type);
  void poison(RuntimeTensor &tensor) {
    if (inPlace)
      tensor.donatedTo.swap(takenBy);
  }
  /// The result with the memory of `tensor`.
  TensorRef takeOver(RuntimeTensor &tensor) noexcept;

private:
  bool allowed; ///< by the caller
  bool inPlace = false;
  // It is created before the run, because nothing may fail after it.
  TensorRef successor = nullptr;
  std::string takenBy = {};
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_PROGRAM_DONATION_H
