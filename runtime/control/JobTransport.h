//===- JobTransport.h - moves tensors between ranks -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The transport of a job runs the steps of a program that communicate (`CommunicationSpec`). It
// hides the engines of runtime/collectives from the program.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CONTROL_JOBTRANSPORT_H
#define HEDDLE_RUNTIME_CONTROL_JOBTRANSPORT_H

#include "runtime/format/Communication.h"

#include <memory>

namespace heddle {

class JobTransport {
public:
  virtual ~JobTransport() = default;

  /// A step to run, with its numbers evaluated.
  struct Operation {
    const CommunicationSpec *spec;
    std::vector<int32_t> group;                ///< ranks, in the order of members
    std::vector<int64_t> counts, outputCounts; ///< elements
    int64_t source = -1, target = -1;          ///< members
    const void *input = nullptr;
    void *output = nullptr;
    /// Further values that are moved together with the first, one per further count.
    std::vector<std::pair<const void *, void *>> others = {};
    bool overlapped = false; ///< other steps run before `wait`
  };
  /// A started operation; it owns input and output until it completes. The destructor waits.
  class Pending {
  public:
    virtual ~Pending() = default;
    /// Throws Error that names the failure and the rank.
    virtual void wait() = 0;
  };

  /// Starts an operation; all members of the group start theirs in the same order. Throws Error.
  virtual std::unique_ptr<Pending> start(const Operation &operation) = 0;
  /// Fails all operations, running and later ones. Thread-safe.
  virtual void abort(const std::string &reason) = 0;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_CONTROL_JOBTRANSPORT_H
