//===- Error.h - errors that a user can act on ------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything that a user can mend is thrown as an `Error`, whose text says what was expected and
// what was got, for tensors with names, sizes and source places: "'net.heddle': can't open: No such
// file or directory". Mistakes inside of Heddle are assertions, never exceptions.
//
//     try { step(state, image, label); }
//     catch (const ExecutionError &error) { ... }   // it broke off: error.step, error.location
//     catch (const Error &error) { ... }            // it was never started
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ERROR_H
#define HEDDLE_ERROR_H

#include <source_location>
#include <stdexcept>
#include <string>

namespace heddle {

/// Where a call is written, for the messages of what it throws.
using Here = std::source_location;

/// A mistake of the user or a failure of the machine, in a sentence that says what was expected and
/// what was got.
class Error : public std::runtime_error {
public:
  explicit Error(const std::string &message) : std::runtime_error(message) {}
  /// With the place of a call in front, "file:line:column: ", unless that is none.
  Error(const std::string &message, Here here)
      : Error((here.line() ? placeOf(here) + ": " : "") + message) {}
  static std::string placeOf(Here here) {
    return std::string(here.file_name()) + ":" + std::to_string(here.line()) + ":" +
           std::to_string(here.column());
  }
};

/// A program that gave up while it ran. Arguments that were given up to the call are lost.
class ExecutionError : public Error {
public:
  ExecutionError(const std::string &message, std::string entry, std::string step,
                 std::string location)
      : Error(message), entry(std::move(entry)), step(std::move(step)),
        location(std::move(location)) {}
  std::string entry;    ///< the function that was called
  std::string step;     ///< the op that was at work, if known
  std::string location; ///< where the op was written, "file:line:column"
};

} // namespace heddle

#endif // HEDDLE_ERROR_H
