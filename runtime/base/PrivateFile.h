//===- PrivateFile.h - files by which processes meet ------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranks find each other by files in folders where other users may write too, such as /tmp. A rank
// reads such a file only if it belongs to its own user and others have no access.
//
//     writePrivately(folder + "/17", "127.0.0.1:4711 ...");
//     if (auto text = readPrivately(folder + "/17"))          // none: it does not exist yet
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_BASE_PRIVATEFILE_H
#define HEDDLE_RUNTIME_BASE_PRIVATEFILE_H

#include "heddle/Error.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace heddle {

/// Creates or replaces a file; others see it when it is complete. Throws Error.
inline void writePrivately(const std::string &path, const std::string &bytes) {
  std::string draft = path + "." + std::to_string(getpid());
  int file = open(draft.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
  bool written = file >= 0 && write(file, bytes.data(), bytes.size()) == ssize_t(bytes.size());
  if (written && rename(draft.c_str(), path.c_str()) == 0) {
    close(file);
    return;
  }
  std::string reason = std::strerror(errno);
  if (file >= 0) {
    unlink(draft.c_str());
    close(file);
  }
  throw Error("can't write '" + path + "': " + reason);
}

/// The contents of a file, at most 64 KiB; none if it does not exist. Throws Error if the file
/// belongs to another user, is accessible to others, or is not regular.
inline std::optional<std::string> readPrivately(const std::string &path) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0 && errno == ENOENT)
    return std::nullopt;
  struct stat about{};
  std::string bytes(1 << 16, '\0'), reason;
  ssize_t got = file >= 0 && fstat(file, &about) == 0 ? read(file, bytes.data(), bytes.size()) : -1;
  if (got < 0)
    reason = errno == ELOOP ? "it is a link" : std::strerror(errno);
  else if (!S_ISREG(about.st_mode))
    reason = "it is no file";
  else if (about.st_uid != geteuid())
    reason = "it belongs to user " + std::to_string(about.st_uid) + ", this is user " +
             std::to_string(geteuid());
  else if (about.st_mode & 077)
    reason = "other users may open it, expected the mode 0600";
  if (file >= 0)
    close(file);
  if (!reason.empty())
    throw Error("can't use '" + path + "', by which ranks meet: " + reason);
  bytes.resize(size_t(got));
  return bytes;
}

} // namespace heddle

#endif // HEDDLE_RUNTIME_BASE_PRIVATEFILE_H
