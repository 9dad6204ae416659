//===- FileMemory.cpp - tensors in files ----------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/memory/FileMemory.h"

#include "heddle/Error.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

using namespace heddle;

static std::string directory(std::string &variable) {
  for (const char *name : {"HEDDLE_SPILL_DIR", "TMPDIR"})
    if (const char *value = std::getenv(name); value && *value) {
      variable = std::string(" (") + name + ")";
      return value;
    }
  return "/tmp";
}

/// Opens an anonymous file; -1: see `errno`.
static int openUnnamed(const std::string &folder) {
  int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
    return file;
  std::string path = folder + "/heddle-XXXXXX"; // a file system without O_TMPFILE
  file = mkostemp(path.data(), O_CLOEXEC);
  if (file >= 0)
    unlink(path.c_str());
  return file;
}

/// Reserves the first `bytes` of a file. Returns an error number, or 0.
static int reserve(int file, int64_t bytes) {
  // Exceeding this limit raises a signal.
  if (rlimit most; getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur != RLIM_INFINITY &&
                   uint64_t(bytes) > most.rlim_cur)
    return EFBIG;
  int status;
  do
    status = fallocate(file, 0, 0, bytes) == 0 ? 0 : errno;
  while (status == EINTR);
  if (status != EOPNOTSUPP)
    return status;
  // posix_fallocate would write to each block, so check the free space first.
  if (struct statvfs disk;
      fstatvfs(file, &disk) == 0 && uint64_t(bytes) / disk.f_frsize >= uint64_t(disk.f_bavail))
    return ENOSPC;
  return posix_fallocate(file, 0, bytes);
}

/// Maps the file at a multiple of `alignment`; null: see `errno`.
static void *mapAligned(int file, int64_t bytes, int64_t alignment) {
  int64_t page = sysconf(_SC_PAGESIZE), extra = alignment > page ? alignment : 0;
  if (extra == 0) {
    void *address = mmap(nullptr, size_t(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return address == MAP_FAILED ? nullptr : address;
  }
  int64_t whole = (bytes + page - 1) / page * page;
  void *found = mmap(nullptr, size_t(whole + extra), PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED)
    return nullptr;
  char *begin = static_cast<char *>(found);
  char *address =
      begin + (alignment - int64_t(reinterpret_cast<uintptr_t>(begin)) % alignment) % alignment;
  void *mapped =
      mmap(address, size_t(bytes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
  int reason = errno;
  if (mapped == MAP_FAILED) {
    munmap(begin, size_t(whole + extra));
    errno = reason;
    return nullptr;
  }
  if (address > begin)
    munmap(begin, size_t(address - begin));
  if (int64_t behind = begin + extra - address; behind > 0)
    munmap(address + whole, size_t(behind));
  return address;
}

void *FileManager::obtain(int64_t bytes, int64_t alignment) {
  std::string variable, folder = directory(variable);
  auto fail = [&](const char *what, int reason) {
    throw Error(std::string("can't ") + what + " a file of " + std::to_string(bytes) +
                " bytes in '" + folder + "'" + variable + ": " + std::strerror(reason));
  };
  int file = openUnnamed(folder);
  if (file < 0)
    fail("make", errno);
  int reason = reserve(file, bytes);
  void *address = reason ? nullptr : mapAligned(file, bytes, alignment);
  int mapping = errno;
  close(file); // the mapping keeps the file alive
  if (!address)
    fail(reason ? "reserve" : "map", reason ? reason : mapping);
  return address;
}

void FileManager::release(void *address, int64_t bytes) { munmap(address, size_t(bytes)); }

const std::shared_ptr<MemoryManager> &heddle::fileMemory() {
  // Never destroyed: tensors may outlive other static objects.
  static auto &manager = *new std::shared_ptr<MemoryManager>(std::make_shared<FileManager>());
  return manager;
}
