//===- CheckFailure.h - failed run-time checks as messages ------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With `JitOptions::check` a function also returns the number of the first failed check, or -1, and
// the coordinate that failed it (lib/transforms/nd/RuntimeChecks.cpp), which become a message:
//
//     checks   ["a.cpp:7:3: 'nd.gather' expected coordinates of 'row' from 0 to 2, got "]
//     results  ..., 0, 5
//     Error    a.cpp:7:3: 'nd.gather' expected coordinates of 'row' from 0 to 2, got 5; in the call
//              at a.cpp:9:5
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_BUILDER_CHECKFAILURE_H
#define HEDDLE_LIB_BUILDER_CHECKFAILURE_H

#include "heddle/Error.h"
#include "runtime/memory/RuntimeTensor.h"

namespace heddle::detail {

/// Throws Error for the first failed check, if any; the last two results identify it.
void requireChecked(const std::vector<std::string> &checks, const std::vector<TensorRef> &results,
                    Here here);

} // namespace heddle::detail

#endif // HEDDLE_LIB_BUILDER_CHECKFAILURE_H
