//===- File.h - opened files, and messages about them -----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the readers of files share. Sizes in a header are claims: what they say is held against the
// file's length before memory is taken for it, and every message names the file.
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

/// A regular file opened for reading. All errors are Error and name the file.
/// Runs `action`. What it throws as an Error gets the place of the user's call in front.
template <typename Action>
auto located(Here here, Action &&action) {
  try {
    return action();
  } catch (const Error &error) {
    throw Error(error.what(), here);
  }
}

class InputFile {
public:
  explicit InputFile(const std::string &path);
  ~InputFile();
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;

  const std::string &path() const { return name; }
  int64_t size() const { return length; }
  /// Reads `size` bytes at `offset`, called `what` in the message if the file ends before.
  void read(int64_t offset, void *to, int64_t size, const std::string &what) const;
  /// Makes room for them, too.
  void read(int64_t offset, Bytes &to, int64_t size, const std::string &what) const;

private:
  std::string name;
  int descriptor = -1;
  int64_t length = 0;
};

/// Turns elements of `size` bytes each from the other byte order to the machine's.
void swapBytes(Bytes &bytes, int64_t size);

/// Refuses i1 elements other than 0 and 1, which a program can't tell from neither.
void checkBooleans(const std::string &path, const std::string &what, const HostArray &array);

} // namespace heddle::io

#endif // HEDDLE_SUPPORT_IO_FILE_H
