//===- AtomicFile.cpp - a file that appears whole or not at all -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/AtomicFile.h"

#include "heddle/Error.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace heddle;

static constexpr size_t capacity = 1 << 18;

static std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

/// Calls `action` with names beside `target` until one is free.
template <typename Action>
static int withFreeName(const std::string &target, std::string &name, Action &&action) {
  static std::atomic<unsigned> counter;
  int result;
  do {
    name = target + ".part-" + std::to_string(getpid()) + "-" + std::to_string(counter++);
    result = action(name.c_str());
  } while (result < 0 && errno == EEXIST);
  return result;
}

void AtomicFile::fail(int error) {
  throw Error("can't write '" + given + "': " + std::strerror(error));
}

AtomicFile::AtomicFile(const std::string &path) : given(path) {
  buffer.reserve(capacity); // nothing below may throw while the file is open
  std::unique_ptr<char, void (*)(void *)> resolved(realpath(path.c_str(), nullptr), std::free);
  target = resolved ? resolved.get() : path;
  struct stat old;
  bool exists = stat(target.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode))
    fail(EISDIR);
  inPlace = exists && !S_ISREG(old.st_mode);
  if (inPlace)
    descriptor = open(target.c_str(), O_WRONLY | O_CLOEXEC);
  else if (access("/proc/self/fd", X_OK) == 0) // by which `commit` gives the file its name
    descriptor = open(folderOf(target).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (descriptor < 0 && !inPlace)
    descriptor = withFreeName(target, temporary, [](const char *name) {
      return open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    });
  if (descriptor < 0) {
    temporary.clear();
    fail(errno);
  }
  if (exists && !inPlace)
    (void)fchmod(descriptor, old.st_mode & 07777); // ignored on file systems without modes
}

AtomicFile::~AtomicFile() {
  if (descriptor >= 0)
    close(descriptor);
  if (!temporary.empty())
    unlink(temporary.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  if (buffer.size() + bytes.size() > capacity) {
    writeOut(buffer);
    buffer.clear();
  }
  if (bytes.size() >= capacity)
    writeOut(bytes);
  else
    buffer.append(bytes);
}

bool AtomicFile::rewrite(int64_t offset, std::string_view bytes) {
  if (inPlace)
    return false;
  writeOut(buffer);
  buffer.clear();
  if (lseek(descriptor, offset, SEEK_SET) < 0)
    fail(errno);
  writeOut(bytes);
  if (lseek(descriptor, 0, SEEK_END) < 0)
    fail(errno);
  return true;
}

void AtomicFile::writeOut(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      fail(count < 0 ? errno : ENOSPC);
    bytes.remove_prefix(size_t(count));
  }
}

void AtomicFile::commit(bool durable) {
  writeOut(buffer);
  buffer.clear();
  // Pipes and some devices do not support fsync.
  if (durable && fsync(descriptor) != 0 && !(inPlace && errno != EIO && errno != ENOSPC))
    fail(errno);
  if (!inPlace && temporary.empty()) {
    std::string self = "/proc/self/fd/" + std::to_string(descriptor);
    if (withFreeName(target, temporary, [&](const char *name) {
          return linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW);
        }) != 0) {
      temporary.clear();
      fail(errno);
    }
  }
  if (close(std::exchange(descriptor, -1)) != 0)
    fail(errno);
  if (inPlace)
    return;
  if (rename(temporary.c_str(), target.c_str()) != 0)
    fail(errno);
  temporary.clear();
  // The new name is durable once the folder is synced; the folder may be writable but not readable.
  int folder = durable ? open(folderOf(target).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  if (folder < 0)
    return;
  int result = fsync(folder), error = errno;
  close(folder);
  if (result != 0 && error != EINVAL && error != ENOTSUP)
    fail(error);
}

std::string heddle::writeAtomically(const std::string &path, std::string_view bytes, bool durable) {
  try {
    AtomicFile file(path);
    file.write(bytes);
    file.commit(durable);
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}
