//===- ThreadCount.h - how many threads a team has --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     HEDDLE_THREADS=1 ./train       programs that do not set a number of threads use one
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_DEVICE_THREADCOUNT_H
#define HEDDLE_RUNTIME_DEVICE_THREADCOUNT_H

#include <optional>

namespace heddle {

/// The number of threads set by HEDDLE_THREADS or, if that is not set, by OMP_NUM_THREADS (the
/// first number of a list). Throws Error that names the variable unless it is a number from 1 to
/// 1024.
std::optional<int> statedThreads();
/// That number, or one per core that the process may use.
int usualThreads();

} // namespace heddle

#endif // HEDDLE_RUNTIME_DEVICE_THREADCOUNT_H
