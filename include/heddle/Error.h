//===- Error.h - errors that a user can act on ------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function throws an `Error` for a mistake of its caller or a failure of the machine. The text
// says what was expected and what the function got; if that was a tensor, with its names, its sizes
// and the source location that made it: "'net.heddle': can't open: No such file or directory".
// Heddle checks its own invariants by assertions, never by exceptions.
//
//     try { step(state, image, label); }
//     catch (const ExecutionError &error) { ... }   // the step error.step failed
//     catch (const Error &error) { ... }            // the program did not start
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ERROR_H
#define HEDDLE_ERROR_H

#include <source_location>
#include <stdexcept>
#include <string>

namespace heddle {

/// The source location of a call, for the messages of the errors that it throws.
using Here = std::source_location;

/// A mistake of the user or a failure of the machine, in a sentence that says what was expected and
/// what the function got.
class Error : public std::runtime_error {
public:
  explicit Error(const std::string &message) : std::runtime_error(message) {}
  /// Puts the source location of a call in front of the message, "file:line:column: ", unless
  /// `here` is `Here()`.
  Error(const std::string &message, Here here)
      : Error((here.line() ? sourceLocation(here) + ": " : "") + message) {}
  /// "file:line:column"
  static std::string sourceLocation(Here here) {
    return std::string(here.file_name()) + ":" + std::to_string(here.line()) + ":" +
           std::to_string(here.column());
  }
};

/// A program failed while it ran. Arguments that were donated to the call are lost.
class ExecutionError : public Error {
public:
  ExecutionError(const std::string &message, std::string entry, std::string step,
                 std::string location, int rank = -1)
      : Error(message), entry(std::move(entry)), step(std::move(step)),
        location(std::move(location)), rank(rank) {}
  std::string entry;    ///< the function that was called
  std::string step;     ///< the op that failed, if known
  std::string location; ///< where the op was written, "file:line:column"
  int rank;             ///< the rank of the job that failed; -1: none, or the launcher
};

} // namespace heddle

#endif // HEDDLE_ERROR_H
