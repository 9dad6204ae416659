//===- CheckFailure.cpp - failed run-time checks as messages --------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/builder/CheckFailure.h"

using namespace heddle;

void detail::requireChecked(const std::vector<std::string> &checks,
                            const std::vector<TensorRef> &results, Here here) {
  auto number = [&](size_t fromEnd) {
    int64_t value;
    results[results.size() - fromEnd]->copyTo(&value, {});
    return value;
  };
  if (int64_t failed = number(2); failed >= 0) {
    const std::string &message = checks[size_t(failed)];
    throw Error(message + (message.ends_with(' ') ? std::to_string(number(1)) : "") +
                (here.line() ? "; in the call at " + Error::sourceLocation(here) : ""));
  }
}
