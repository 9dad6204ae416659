//===- CodePages.cpp - code and constants in memory -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/base/CodePages.h"

#include "heddle/Error.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace heddle;

Mapping::Mapping(std::string_view bytes, Use use) {
  if (bytes.empty())
    return;
  size_t page = size_t(sysconf(_SC_PAGESIZE));
  length = (bytes.size() + page - 1) / page * page;
  const char *what = use == Use::Code ? "code" : "constants";
  // Write first, then protect: pages are never writable and executable at once.
  void *mapped = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    throw Error("can't map " + std::to_string(bytes.size()) + " bytes for the program's " + what +
                ": " + std::strerror(errno));
  start = static_cast<char *>(mapped);
  if (use == Use::Constants && length >= (size_t(2) << 20))
    madvise(start, length, MADV_HUGEPAGE);
  std::memcpy(start, bytes.data(), bytes.size());
  if (mprotect(start, length, use == Use::Code ? PROT_READ | PROT_EXEC : PROT_READ) != 0) {
    int error = errno;
    munmap(start, length);
    throw Error(std::string("can't protect the program's ") + what + ": " + std::strerror(error));
  }
  if (use == Use::Code)
    __builtin___clear_cache(start, start + length);
}

Mapping::~Mapping() {
  if (start)
    munmap(start, length);
}
