//===- Failure.h - why a job failed -----------------------------*- C++ -*-===//
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

#ifndef HEDDLE_RUNTIME_CONTROL_FAILURE_H
#define HEDDLE_RUNTIME_CONTROL_FAILURE_H

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
    Reported,  ///< the rank said so itself, and lives
    Lost,      ///< its process ended
    Silent,    ///< it was not heard of for too long
    Missing,   ///< it did not come to what others wait for
    Disagreed, ///< it does something else than the others
    Damaged    ///< it sent what is no frame
  };
  static constexpr int kinds = 6;

  Kind kind = Kind::Reported;
  Member member = {};      ///< of which rank
  std::string reason = {}; ///< a predicate: "ended without leaving the job"; of a step, its error
  /// The function that was called, the op that failed, and where it is written; of `Reported` only.
  std::string entry = {}, step = {}, location = {};

  /// A sentence without its period, as above.
  std::string describe() const;
  std::string pack() const;
  /// Throws Error if the body of a frame is none that `pack` makes.
  static Failure unpack(std::string_view body);
};

/// Thrown where a rank waits for others after the job has failed.
class JobError : public Error {
public:
  explicit JobError(Failure failure) : Error(failure.describe()), failure(std::move(failure)) {}
  Failure failure;
};

/// Adds a member to a body, and reads one.
void packMember(BodyWriter &writer, const Member &member);
Member unpackMember(BodyReader &reader);

} // namespace heddle

#endif // HEDDLE_RUNTIME_CONTROL_FAILURE_H
