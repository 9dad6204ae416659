//===- AtomicFile.h - replaces a file atomically ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces a file atomically: readers see either the old contents or the new ones:
//
//     AtomicFile file("net.heddle");
//     file.write(header);
//     file.write(code);
//     file.commit();                 // without it the file is unchanged
//
// Before `commit` the bytes are in an anonymous file if the file system supports it (nothing is
// left behind if the process is killed), else in a file next to the path whose name ends in
// `.part-` and numbers. A file that is not regular (a device, a pipe) is written directly.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_BASE_ATOMICFILE_H
#define HEDDLE_RUNTIME_BASE_ATOMICFILE_H

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle {

/// All failures throw Error with the path and the system's message.
class AtomicFile {
public:
  /// If the path is a symbolic link, its target is replaced. Keeps the permissions of an old file.
  explicit AtomicFile(const std::string &path);
  ~AtomicFile();
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;

  void write(std::string_view bytes);
  /// Overwrites earlier bytes, from `offset` on. Returns false for a file that is written directly,
  /// which may not support it.
  bool rewrite(int64_t offset, std::string_view bytes);
  /// `durable`: syncs the file to disk before returning. Caches need not be durable.
  void commit(bool durable = true);

private:
  std::string given, target, temporary; ///< `temporary` empty: anonymous
  std::string buffer;
  int descriptor = -1;
  bool inPlace = false;

  [[noreturn]] void fail(int error);
  void writeOut(std::string_view bytes);
};

/// Writes a file with these contents. For callers without exceptions: returns an error message, or
/// "".
std::string writeAtomically(const std::string &path, std::string_view bytes, bool durable = true);

} // namespace heddle

#endif // HEDDLE_RUNTIME_BASE_ATOMICFILE_H
