//===- Rendezvous.cpp - processes meet by files ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/base/Rendezvous.h"

#include "heddle/Error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace heddle;

static void writePrivately(const std::string &path, const std::string &bytes) {
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

void Rendezvous::publish(const std::string &path, const std::string &bytes) {
  files.push_back(path); // may throw; writing may as well
  try {
    writePrivately(path, bytes);
  } catch (...) {
    files.pop_back();
    throw;
  }
}

void Rendezvous::withdraw() {
  for (const std::string &path : files)
    unlink(path.c_str());
  files.clear();
}

std::optional<std::string> Rendezvous::find(const std::string &path) {
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
