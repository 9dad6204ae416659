//===- ThreadCount.h - how many threads a team has --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     HEDDLE_THREADS=1 ./train       a program that states no number of threads runs on one
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_DEVICE_THREADCOUNT_H
#define HEDDLE_RUNTIME_DEVICE_THREADCOUNT_H

#include <optional>

namespace heddle {

/// The threads that the user states by HEDDLE_THREADS or, where that is not set, by OMP_NUM_THREADS
/// (of a list the first number). Throws Error that names the variable for anything but a number from
/// 1 to 1024.
std::optional<int> statedThreads();
/// Those, or one for each core that the process may use.
int usualThreads();

} // namespace heddle

#endif // HEDDLE_RUNTIME_DEVICE_THREADCOUNT_H
