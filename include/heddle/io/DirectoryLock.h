//===- DirectoryLock.h - one process writes into a directory ----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two runs that write their checkpoints into one directory destroy each other's work. A run that
// holds a lock on its directory prevents that; the second run is refused:
//
//     DirectoryLock lock("run1");        // throws Error if another process holds it
//
// The lock is on the file `run.lock` in the directory, which holds the process's number. It ends
// with the process, however that ends; the file stays.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_IO_DIRECTORYLOCK_H
#define HEDDLE_IO_DIRECTORYLOCK_H

#include "heddle/Error.h"

#include <string>

namespace heddle::io {

class DirectoryLock {
public:
  /// Throws Error that names the directory and, if another process holds the lock, that process.
  explicit DirectoryLock(const std::string &directory, Here here = Here::current());
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock &) = delete;
  DirectoryLock &operator=(const DirectoryLock &) = delete;

private:
  int descriptor;
};

} // namespace heddle::io

#endif // HEDDLE_IO_DIRECTORYLOCK_H
