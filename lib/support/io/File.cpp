//===- File.cpp - opened files, and messages about them -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "File.h"

#include "heddle/Error.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <zlib.h>

using namespace heddle;
using namespace heddle::io;

void io::fail(const std::string &path, const std::string &message) {
  throw Error("'" + path + "': " + message);
}

void io::failCall(const std::string &path, const std::string &what, int error) {
  fail(path, "can't " + what + ": " + std::generic_category().message(error));
}

InputFile::InputFile(const std::string &path) : name(path) {
  // Without O_NONBLOCK, opening a pipe without a writer would block.
  descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    failCall(path, "open", errno);
  struct stat info = {};
  int result = fstat(descriptor, &info), error = errno;
  if (result == 0 && S_ISREG(info.st_mode)) {
    length = info.st_size;
    return;
  }
  close(descriptor);
  if (result != 0)
    failCall(path, "open", error);
  fail(path,
       S_ISDIR(info.st_mode) ? "expected a file, got a directory" : "expected a regular file");
}

InputFile::~InputFile() { close(descriptor); }

void InputFile::read(int64_t offset, void *to, int64_t size, const std::string &what) const {
  for (int64_t done = 0; done < size;) {
    ssize_t count =
        pread(descriptor, static_cast<char *>(to) + done, size_t(size - done), offset + done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      failCall(name, "read", errno);
    if (count == 0)
      fail(name, "truncated: expected " + std::to_string(size) + " bytes of " + what + " at byte " +
                     std::to_string(offset) + ", got " + std::to_string(done));
    done += count;
  }
}

void InputFile::read(int64_t offset, Bytes &to, int64_t size, const std::string &what,
                     uint32_t *checksum) const {
  try {
    to.resize(size_t(size));
  } catch (const std::exception &) {
    fail(name, "no memory for the " + std::to_string(size) + " bytes of " + what);
  }
  if (!checksum)
    return read(offset, to.data(), size, what);
  *checksum = 0;
  for (size_t done = 0; done < to.size(); done += pieceBytes) {
    size_t count = std::min(pieceBytes, to.size() - done);
    read(offset + int64_t(done), to.data() + done, int64_t(count), what);
    *checksum = checksumOf(to.data() + done, count, *checksum);
  }
}

uint32_t io::checksumOf(const void *data, size_t size, uint32_t before) {
  return uint32_t(crc32_z(before, static_cast<const Bytef *>(data), size));
}

void io::swapBytes(Bytes &bytes, int64_t size) {
  for (size_t i = 0; size > 1 && i < bytes.size(); i += size_t(size))
    std::reverse(bytes.begin() + std::ptrdiff_t(i), bytes.begin() + std::ptrdiff_t(i) + size);
}

void io::checkBooleans(const std::string &path, const std::string &what, const HostArray &array) {
  if (array.element != ElementType::I1)
    return;
  for (size_t i = 0; i < array.bytes.size(); ++i)
    if (int value = std::to_integer<int>(array.bytes[i]); value > 1)
      fail(path, "element " + std::to_string(i) + " of " + what +
                     " is not a truth value: expected " + "0 or 1, got " + std::to_string(value));
}
