//===- AtomicFile.h - files that appear whole or not at all -----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A checkpoint must survive whatever happens while the next one is written: a full disk, a lost
// permission, a power cut, a kill. So a file is written without a name (or under another name, on
// file systems without unnamed files), flushed to the disk and then renamed, which the system does
// in one step:
//
//     writeFileAtomically("net.safetensors", [&](FileSink &sink) {
//       sink.write(header);
//       sink.write(data.data(), data.size());
//     });
//
// Whoever opens "net.safetensors" finds the old contents or the new ones. If
// anything fails, an exception of the callback included, the old file stays
// untouched and nothing is left beside it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_IO_ATOMICFILE_H
#define HEDDLE_IO_ATOMICFILE_H

#include "heddle/Error.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace heddle::io {

/// Writes the bytes of a new file. Throws Error if it can't.
class FileSink {
public:
  virtual ~FileSink() = default;
  virtual void write(const void *data, size_t size) = 0;
  void write(std::string_view text) { write(text.data(), text.size()); }
};

/// Replaces or makes the file `path`. A symbolic link stays one: the file that it names is
/// replaced. An existing file's permissions are kept. A device or a pipe is written directly.
/// Throws Error that names the file.
void writeFileAtomically(const std::string &path, const std::function<void(FileSink &)> &fill,
                         Here here = Here::current());

} // namespace heddle::io

#endif // HEDDLE_IO_ATOMICFILE_H
