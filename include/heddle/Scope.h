//===- Scope.h - where operations are written and traced --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function that is made of operations passes the source location of its call on to them, so that
// messages and profiles point at the user's line and not into the function:
//
//     Tensor softplus(const Tensor &x, Here here = Here::current()) {
//       CallScope scope(here);
//       return log1p(exp(x));
//     }
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_SCOPE_H
#define HEDDLE_SCOPE_H

#include "heddle/Error.h"

#include <cstdint>

namespace heddle {

/// While it lives, the operations that this thread makes, and the errors that they throw, are
/// located at `here`. Of nested scopes the outermost decides.
class CallScope {
public:
  explicit CallScope(Here here);
  ~CallScope();
  CallScope(const CallScope &) = delete;
  CallScope &operator=(const CallScope &) = delete;
  /// The location of the outermost scope of this thread, else `here`.
  static Here placed(Here here);

private:
  bool isOutermost;
};

/// Throws Error with the location of the outermost CallScope, else `here`.
[[noreturn]] inline void refuse(const std::string &message, Here here) {
  throw Error(message, CallScope::placed(here));
}

namespace detail {
/// Open while the body of a gradient, a checkpoint, a lift, a branch, a loop or a scan is traced. A
/// tensor computed from the body's formals has no value outside of it; only results leave it.
class BodyScope {
public:
  BodyScope();
  ~BodyScope() { close(); }
  BodyScope(const BodyScope &) = delete;
  BodyScope &operator=(const BodyScope &) = delete;
  void close();
  /// The number of the innermost body that this thread traces; 0 outside of any.
  static uint64_t current();

private:
  uint64_t outer;
  bool isOpen = true;
};
} // namespace detail

} // namespace heddle

#endif // HEDDLE_SCOPE_H
