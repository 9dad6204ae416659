//===- ProgramImage.h - a program as bytes ----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A compiled program in memory or in a file: a manifest, machine code and constants. A file is
//
//     magic   "HEDDLE\r\n"           (a copy in text mode changes it)
//     u32     version of the format, u32 number of sections
//     table   for each section: name (16 bytes), offset, length, checksum
//     u64     checksum of everything above
//     ...     the sections "manifest", "code", "constants", maybe "shardings" (ShardingTable.h)
//
// with little-endian numbers. Sections are in the order of the table, each at the next multiple of
// 64 bytes, with zeros between them and nothing after the last. The manifest has the checksums of
// the other sections, so sections of different files can't be mixed. Sections with unknown names
// are skipped, so that the format can be extended.
//
// Checksums detect corruption, not tampering: the author of a file can make them match, and its
// code is executed. Trust a program file as you trust an executable.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_FORMAT_PROGRAMIMAGE_H
#define HEDDLE_RUNTIME_FORMAT_PROGRAMIMAGE_H

#include "runtime/format/Manifest.h"
#include "runtime/format/ShardingTable.h"

#include <functional>
#include <optional>
#include <string>

namespace heddle {

struct ProgramImage {
  Manifest manifest;
  std::string code, constants;
  ShardingTable shardings = {}; ///< for reports; empty: none

  /// Replaces the file atomically: after a full disk or a crash an old file is unchanged. Throws
  /// Error.
  void write(const std::string &path) const;
  /// The bytes that `write` writes.
  std::string bytes() const;
  /// Reads a file and verifies every length and checksum. Throws Error that names the defect.
  static ProgramImage read(const std::string &path);
  /// The same for the bytes of a file; `path` is for messages.
  static ProgramImage parse(std::string_view bytes, const std::string &path);
  /// The same without exceptions: none if there is a defect.
  static std::optional<ProgramImage> parseIfValid(std::string_view bytes) noexcept;

private:
  void writeTo(const std::function<void(std::string_view)> &write) const;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_FORMAT_PROGRAMIMAGE_H
