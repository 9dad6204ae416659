//===- Guarded.h - failures as a status and a message -----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of a table return a status, and keep a message for the thread that called them:
//
//     .wait = [](HeddlePending *pending, double seconds) {
//       return guarded([&] { ... throw Failure(HEDDLE_TIMEOUT, "rank ", 1, " did not arrive"); });
//     },
//     .message = [] { return lastMessage.c_str(); },
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_COLLECTIVES_ENGINE_GUARDED_H
#define HEDDLE_RUNTIME_COLLECTIVES_ENGINE_GUARDED_H

#include "runtime/collectives/engine/World.h"

namespace heddle::collectives {

inline thread_local std::string lastMessage;

/// Runs a function of the table; its failure becomes a status and a message.
template <typename Action>
int32_t guarded(Action &&action) noexcept {
  try {
    action();
    return HEDDLE_OK;
  } catch (const Failure &failure) {
    lastMessage = failure.text;
    return failure.status;
  } catch (const std::exception &error) {
    lastMessage = error.what();
    return HEDDLE_FAILED;
  }
}

} // namespace heddle::collectives

#endif // HEDDLE_RUNTIME_COLLECTIVES_ENGINE_GUARDED_H
