//===- DirectoryLock.cpp - one process writes into a directory ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/io/DirectoryLock.h"

#include "File.h"

#include "heddle/Error.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

using namespace heddle;
using namespace heddle::io;

/// Returns the descriptor of the locked file.
static int lock(const std::string &directory) {
  std::string path = directory + "/run.lock";
  int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (descriptor < 0 && errno == ELOOP)
    fail(path, "expected a file, got a symbolic link, whose target would be overwritten");
  if (descriptor < 0)
    failCall(path, "open", errno);
  int result, error;
  do {
    result = flock(descriptor, LOCK_EX | LOCK_NB);
    error = errno;
  } while (result != 0 && error == EINTR);
  std::string number = std::to_string(getpid()) + "\n";
  if (result == 0 && (ftruncate(descriptor, 0) != 0 ||
                      write(descriptor, number.data(), number.size()) != ssize_t(number.size()))) {
    result = -1;
    error = errno;
  }
  if (result == 0)
    return descriptor;
  char holder[32] = "";
  (void)!pread(descriptor, holder, sizeof holder - 1, 0);
  close(descriptor);
  if (error != EWOULDBLOCK)
    failCall(path, "lock", error);
  long process = std::strtol(holder, nullptr, 10);
  throw Error("the directory '" + directory + "' is in use by " +
              (process > 0 ? "process " + std::to_string(process) : "another process") +
              "; expected one that no other run writes into");
}

DirectoryLock::DirectoryLock(const std::string &directory, Here here)
    : descriptor(located(here, [&] { return lock(directory); })) {}

DirectoryLock::~DirectoryLock() { close(descriptor); }
