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
/// The same for a failed system call: "'path': can't do: reason", with the reason from `error`.
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
  /// Reads `size` bytes at `offset`; the message calls them `what` if the file ends before.
  void read(int64_t offset, void *to, int64_t size, const std::string &what) const;
  /// Resizes `to` first. `checksum`, if any, gets the checksum of the bytes.
  void read(int64_t offset, Bytes &to, int64_t size, const std::string &what,
            uint32_t *checksum = nullptr) const;

private:
  std::string name;
  int descriptor = -1;
  int64_t length = 0;
};

/// Bytes that are read or written and summed up piece by piece are in the processor's cache.
constexpr size_t pieceBytes = 1 << 20;
/// The CRC-32 of bytes, after others whose CRC-32 is `before`.
uint32_t checksumOf(const void *data, size_t size, uint32_t before = 0);

/// Reverses the bytes of elements of `size` bytes each.
void swapBytes(Bytes &bytes, int64_t size);

/// Refuses i1 elements other than 0 and 1.
void checkBooleans(const std::string &path, const std::string &what, const HostArray &array);

} // namespace heddle::io

#endif // HEDDLE_SUPPORT_IO_FILE_H
