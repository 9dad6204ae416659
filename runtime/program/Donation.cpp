//===- Donation.cpp - arguments whose memory results take over ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/program/Donation.h"

#include "heddle/Error.h"

#include <algorithm>

using namespace heddle;

void heddle::requireNotDonated(const EntrySpec &entry, size_t argument, const RuntimeTensor &tensor,
                               const char *advice) {
  if (!tensor.donatedTo.empty())
    throw Error("the argument '" + entry.values[size_t(entry.arguments[argument])].name + "' of '" +
                entry.name + "' was donated to '" + tensor.donatedTo +
                "', which updated it in place" + advice);
}

bool Donation::accept(const EntrySpec &entry, const ValueSpec &formal, const RuntimeTensor &tensor,
                      bool fits, const std::vector<void *> &all,
                      const std::shared_ptr<const StoredType> &type) {
  // Memory with other readers must not be donated.
  inPlace = allowed && fits && (formal.memory.empty() || formal.memory == tensor.memory()) &&
            std::ranges::count(all, tensor.address()) == 1;
  if (inPlace) {
    successor = RuntimeTensor::withoutMemory(type);
    takenBy = entry.name;
  }
  return inPlace;
}

TensorRef Donation::takeOver(RuntimeTensor &tensor) noexcept {
  successor->takeOver(tensor);
  inPlace = false;
  return std::move(successor);
}
