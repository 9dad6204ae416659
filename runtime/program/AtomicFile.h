//===- AtomicFile.h - a file that appears whole or not at all ---*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file that is replaced atomically: readers see the old contents or the new ones:
//
//     AtomicFile file("net.heddle");
//     file.write(header);
//     file.write(code);
//     file.commit();                 // without it nothing happens
//
// Until `commit` the bytes are in an unnamed file if the file system supports it (a process that is
// killed leaves nothing behind), else in a file next to the path whose name ends in `.part-` and
// numbers. A file that is not regular (a device, a pipe) is written directly.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_PROGRAM_ATOMICFILE_H
#define HEDDLE_RUNTIME_PROGRAM_ATOMICFILE_H

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle {

/// All failures throw Error with the path and the message of the system.
class AtomicFile {
public:
  /// A symbolic link stays one: its target is replaced. Permissions of an old file are kept.
  explicit AtomicFile(const std::string &path);
  ~AtomicFile();
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;

  void write(std::string_view bytes);
  /// Replaces bytes that were written before, from `offset` on. False for a file that is written
  /// directly, which may have them no longer.
  bool rewrite(int64_t offset, std::string_view bytes);
  /// `durable`: syncs the file to disk before it returns. Caches need not be durable.
  void commit(bool durable = true);

private:
  std::string given, target, temporary; ///< `temporary` empty: without a name
  std::string buffer;
  int descriptor = -1;
  bool inPlace = false;

  [[noreturn]] void fail(int error);
  void writeOut(std::string_view bytes);
};

/// Makes a file of one text, for callers without exceptions; returns what went wrong, or nothing.
std::string writeAtomically(const std::string &path, std::string_view bytes, bool durable = true);

} // namespace heddle

#endif // HEDDLE_RUNTIME_PROGRAM_ATOMICFILE_H
