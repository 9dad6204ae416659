//===- File.h - file access with error messages -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Helpers for the readers of file formats. Sizes in a file's header are untrusted: they are checked
// against the file's length before memory is allocated. Every message names the file.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_SUPPORT_IO_FILE_H
#define HEDDLE_SUPPORT_IO_FILE_H

#include "heddle/Error.h"
#include "heddle/io/HostArray.h"

namespace heddle::io {

/// Throws Error: "'path': message".
[[noreturn]] void fail(const std::string &path, const std::string &message);
/// The same for a failed system call: "'path': can't WHAT: REASON", with the reason for `error`.
[[noreturn]] void failCall(const std::string &path, const std::string &what, int error);

/// Runs `action`; an Error that it throws gets the location of the user's call.
template <typename Action>
auto located(Here here, Action &&action) {
  try {
    return action();
  } catch (const Error &error) {
    throw Error(error.what(), here);
  }
}

/// A regular file opened for reading. All errors are Error and name the file.
class InputFile {
public:
  explicit InputFile(const std::string &path);
  ~InputFile();
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;

  const std::string &path() const { return name; }
  int64_t size() const { return length; }
  /// Reads `size` bytes at `offset`. If the file ends before, throws Error that calls the bytes
  /// `what`.
  void read(int64_t offset, void *to, int64_t size, const std::string &what) const;
  /// Resizes `to` first. Stores the checksum of the bytes in `checksum` unless it is null.
  void read(int64_t offset, Bytes &to, int64_t size, const std::string &what,
            uint32_t *checksum = nullptr) const;

private:
  std::string name;
  int descriptor = -1;
  int64_t length = 0;
};

/// The size of the pieces in which files are read, written and checksummed, so that they stay in
/// the cache.
constexpr size_t pieceBytes = 1 << 20;
/// The CRC-32 of bytes, continued from `before`, the CRC-32 of preceding bytes.
uint32_t checksumOf(const void *data, size_t size, uint32_t before = 0);

/// Reverses the bytes of elements of `size` bytes each.
void swapBytes(Bytes &bytes, int64_t size);

/// Throws Error for i1 elements other than 0 and 1.
void checkBooleans(const std::string &path, const std::string &what, const HostArray &array);

} // namespace heddle::io

#endif // HEDDLE_SUPPORT_IO_FILE_H
