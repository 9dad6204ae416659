//===- DirectoryLock.h - lock a directory -----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two processes that write checkpoints into one directory overwrite each other's files. A lock on
// the directory prevents that; the second process gets an error:
//
//     DirectoryLock lock("run1");        // throws Error if another process holds it
//
// The lock is on the file `run.lock` in the directory, which contains the process ID. The system
// releases it when the process ends, for whatever reason; the file remains.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_IO_DIRECTORYLOCK_H
#define HEDDLE_IO_DIRECTORYLOCK_H

#include "heddle/Error.h"

#include <string>

namespace heddle::io {

/// Holds the lock of a directory while it lives.
class DirectoryLock {
public:
  /// Throws Error that names the directory and, if another process holds the lock, its process ID.
  explicit DirectoryLock(const std::string &directory, Here here = Here::current());
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock &) = delete;
  DirectoryLock &operator=(const DirectoryLock &) = delete;

private:
  int descriptor;
};

} // namespace heddle::io

#endif // HEDDLE_IO_DIRECTORYLOCK_H
