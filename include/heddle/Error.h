//===- Error.h - errors that a user can act on ------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ERROR_H
#define HEDDLE_ERROR_H

#include <stdexcept>
#include <string>

namespace heddle {

/// A mistake of the user or a failure of the machine, in a sentence that says what was expected and what was got.
class Error : public std::runtime_error {
public:
  explicit Error(const std::string &message) : std::runtime_error(message) {}
};

} // namespace heddle

#endif // HEDDLE_ERROR_H
