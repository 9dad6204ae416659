//===- Faults.cpp - fault injection into system calls ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/runtime/Faults.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <new>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace heddle::test;

static std::atomic<unsigned> armed{0};
static std::atomic<int64_t> left{0};
static std::atomic<bool> kills{false};

void heddle::test::armFaults(unsigned kinds, int64_t n) {
  left = n;
  armed = kinds;
}

void heddle::test::armKill(unsigned kinds, int64_t n) {
  kills = true;
  armFaults(kinds, n);
}

bool heddle::test::disarmFaults() { return armed.exchange(0) != 0 && left <= 0; }

std::atomic<int64_t> heddle::test::heldBytes, heddle::test::mostHeldBytes;

static bool isDue(Fault::Kind kind) {
  bool due = (armed & kind) && left.fetch_sub(1) == 1;
  if (due && kills)
    _exit(9);
  return due;
}

/// The system's function of this name.
template <typename Function>
static Function *original(const char *name) {
  return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void *operator new(size_t bytes) {
  void *memory = isDue(Fault::Memory) ? nullptr : std::malloc(bytes ? bytes : 1);
  if (!memory)
    throw std::bad_alloc();
  return memory;
}
void *operator new(size_t bytes, std::align_val_t alignment) {
  void *memory = nullptr;
  size_t least = std::max(size_t(alignment), sizeof(void *));
  if (isDue(Fault::Memory) || posix_memalign(&memory, least, bytes) != 0)
    throw std::bad_alloc();
  heldBytes += int64_t(malloc_usable_size(memory));
  mostHeldBytes = std::max(mostHeldBytes.load(), heldBytes.load());
  return memory;
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::align_val_t) noexcept {
  heldBytes -= int64_t(malloc_usable_size(memory));
  std::free(memory);
}
void operator delete(void *memory, size_t, std::align_val_t alignment) noexcept {
  operator delete(memory, alignment);
}

extern "C" void *aligned_alloc(size_t alignment, size_t bytes) noexcept {
  static auto *real = original<void *(size_t, size_t)>("aligned_alloc");
  if (isDue(Fault::Memory)) {
    errno = ENOMEM;
    return nullptr;
  }
  return real(alignment, bytes);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Fails if this is the n-th call.
#define HEDDLE_FAILS(kind, error, result)                                                          \
  if (isDue(Fault::kind)) {                                                                        \
    errno = error;                                                                                 \
    return result;                                                                                 \
  }

static int openFile(const char *path, int flags, va_list more) {
  static auto *real = original<int(const char *, int, ...)>("open");
  HEDDLE_FAILS(Files, EMFILE, -1)
  return real(path, flags, (flags & (O_CREAT | O_TMPFILE)) ? va_arg(more, unsigned) : 0);
}
extern "C" int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  int result = openFile(path, flags, more);
  va_end(more);
  return result;
}
extern "C" int open64(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  int result = openFile(path, flags, more);
  va_end(more);
  return result;
}
extern "C" ssize_t read(int file, void *to, size_t bytes) {
  static auto *real = original<ssize_t(int, void *, size_t)>("read");
  HEDDLE_FAILS(Files, EIO, -1)
  return real(file, to, bytes);
}
extern "C" ssize_t pread(int file, void *to, size_t bytes, off_t at) {
  static auto *real = original<ssize_t(int, void *, size_t, off_t)>("pread");
  HEDDLE_FAILS(Files, EIO, -1)
  return real(file, to, bytes, at);
}
extern "C" ssize_t write(int file, const void *from, size_t bytes) {
  static auto *real = original<ssize_t(int, const void *, size_t)>("write");
  HEDDLE_FAILS(Files, ENOSPC, -1)
  return real(file, from, bytes);
}
extern "C" int fsync(int file) {
  static auto *real = original<int(int)>("fsync");
  HEDDLE_FAILS(Files, EIO, -1)
  return real(file);
}
extern "C" int close(int file) {
  static auto *real = original<int(int)>("close");
  bool due = isDue(Fault::Files);
  int result = real(file); // the file is closed even on failure
  if (!due)
    return result;
  errno = EIO;
  return -1;
}
extern "C" int fstat(int file, struct stat *status) noexcept {
  static auto *real = original<int(int, struct stat *)>("fstat");
  HEDDLE_FAILS(Files, EIO, -1)
  return real(file, status);
}
extern "C" int linkat(int a, const char *from, int b, const char *to, int flags) noexcept {
  static auto *real = original<int(int, const char *, int, const char *, int)>("linkat");
  HEDDLE_FAILS(Files, EDQUOT, -1)
  return real(a, from, b, to, flags);
}
extern "C" int rename(const char *from, const char *to) noexcept {
  static auto *real = original<int(const char *, const char *)>("rename");
  HEDDLE_FAILS(Files, EACCES, -1)
  return real(from, to);
}
extern "C" int ftruncate(int file, off_t length) noexcept {
  static auto *real = original<int(int, off_t)>("ftruncate");
  HEDDLE_FAILS(Files, EIO, -1)
  return real(file, length);
}

//===----------------------------------------------------------------------===//
// Maps and threads
//===----------------------------------------------------------------------===//

extern "C" void *mmap(void *at, size_t bytes, int protection, int flags, int file,
                      off_t offset) noexcept {
  static auto *real = original<void *(void *, size_t, int, int, int, off_t)>("mmap");
  HEDDLE_FAILS(Maps, ENOMEM, MAP_FAILED)
  return real(at, bytes, protection, flags, file, offset);
}
extern "C" int mprotect(void *at, size_t bytes, int protection) noexcept {
  static auto *real = original<int(void *, size_t, int)>("mprotect");
  HEDDLE_FAILS(Maps, ENOMEM, -1)
  return real(at, bytes, protection);
}
extern "C" int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                              void *(*body)(void *), void *argument) noexcept {
  static auto *real = original<int(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *)>(
      "pthread_create");
  return isDue(Fault::Threads) ? EAGAIN : real(thread, attributes, body, argument);
}
