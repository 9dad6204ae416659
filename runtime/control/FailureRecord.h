//===- FailureRecord.h - why a job failed -----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first failure of a job is sent to all of its ranks, which report it:
//
//     rank 2 (host n7, pid 4711) failed in 'train' at 'dense' (net.cpp:3:9): out of memory
//     rank 1 (host n7, pid 4710) is dead or hung: last heard 5.0 s ago
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CONTROL_FAILURERECORD_H
#define HEDDLE_RUNTIME_CONTROL_FAILURERECORD_H

#include "heddle/Error.h"
#include "runtime/control/Frame.h"

namespace heddle {

/// A process of a job.
struct Member {
  int rank = -1; ///< -1: the launcher
  std::string host = {};
  int64_t pid = 0;

  /// "rank 2 (host n7, pid 4711)"
  std::string describe() const;
};

struct Failure {
  enum class Kind : uint8_t {
    Reported,  ///< by the rank itself, which is still running
    Lost,      ///< its process ended
    Silent,    ///< it sent nothing for too long
    Missing,   ///< it did not make the call that others wait in
    Disagreed, ///< its call differs from the others'
    Damaged    ///< it sent invalid bytes
  };
  static constexpr int kinds = 6;

  Kind kind = Kind::Reported;
  Member member = {};      ///< the rank that failed
  std::string reason = {}; ///< a predicate: "ended without leaving the job"; of a step, its error
  /// The function that was called, the op that failed, and its source location; `Reported` only.
  std::string entry = {}, step = {}, location = {};

  /// The message above, without a final period.
  std::string describe() const;
  std::string pack() const;
  /// Throws Error if `pack` did not write this body.
  static Failure unpack(std::string_view body);
};

/// Thrown by functions that wait for other ranks, after the job has failed.
class JobError : public Error {
public:
  explicit JobError(Failure failure) : Error(failure.describe()), failure(std::move(failure)) {}
  Failure failure;
};

/// Writes a member to a body, and reads one.
void packMember(BodyWriter &writer, const Member &member);
Member unpackMember(BodyReader &reader);

} // namespace heddle

#endif // HEDDLE_RUNTIME_CONTROL_FAILURERECORD_H
