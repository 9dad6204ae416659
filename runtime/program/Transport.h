//===- Transport.h - moves tensors between ranks ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps of a program that communicate (`CommunicationSpec`) are run by the transport of the job.
// The engines of runtime/collectives stand behind it; a program sees nothing of them.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_PROGRAM_TRANSPORT_H
#define HEDDLE_RUNTIME_PROGRAM_TRANSPORT_H

#include "runtime/program/Mesh.h"

#include <memory>

namespace heddle {

class Transport {
public:
  virtual ~Transport() = default;

  /// A step of a call: what it does, with its numbers evaluated.
  struct Operation {
    const CommunicationSpec *spec;
    std::vector<int32_t> group;                ///< the ranks, in the order of members
    std::vector<int64_t> counts, outputCounts; ///< elements
    int64_t source = -1, target = -1;          ///< members
    const void *input = nullptr;
    void *output = nullptr;
    /// The values after the first one that are moved together with it, one for each further count.
    std::vector<std::pair<const void *, void *>> others = {};
    bool overlapped = false; ///< other steps run before it is waited for
  };
  /// An operation that has begun; it owns input and output until then. The destructor waits.
  class Pending {
  public:
    virtual ~Pending() = default;
    /// Throws Error that says what failed, and on which rank.
    virtual void wait() = 0;
  };

  /// Begins an operation; all members of the group begin it, in one order. Throws Error.
  virtual std::unique_ptr<Pending> start(const Operation &operation) = 0;
  /// Ends all operations, now and later, with an error. Any thread may call it.
  virtual void abort(const std::string &reason) = 0;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_PROGRAM_TRANSPORT_H
