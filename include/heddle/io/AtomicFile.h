//===- AtomicFile.h - write a file atomically -------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A checkpoint must survive a failure while the next one is written: a full disk, a revoked
// permission, a power cut, a killed process. Therefore the new contents are written to an unnamed
// file (or to one of another name, on file systems without unnamed files), flushed to the disk, and
// then renamed, which is atomic:
//
//     writeFileAtomically("net.safetensors", [&](FileSink &sink) {
//       sink.write(header);
//       sink.write(data.data(), data.size());
//     });
//
// A reader of "net.safetensors" finds either the old contents or the new ones. If anything fails,
// an exception of the callback included, the old file is unchanged and no other file remains.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_IO_ATOMICFILE_H
#define HEDDLE_IO_ATOMICFILE_H

#include "heddle/Error.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace heddle::io {

/// Receives the bytes of a new file. Throws Error if it can't write them.
class FileSink {
public:
  virtual ~FileSink() = default;
  virtual void write(const void *data, size_t size) = 0;
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Replaces bytes that were written before, from `offset` on. False for a device or a pipe.
  virtual bool rewrite(int64_t offset, std::string_view bytes) = 0;
};

/// Creates or replaces the file `path` with the bytes that `fill` writes. If `path` is a symbolic
/// link, the file that it refers to is replaced. The permissions of an existing file are kept. A
/// device or a pipe is written directly. Throws Error that names the file.
void writeFileAtomically(const std::string &path, const std::function<void(FileSink &)> &fill,
                         Here here = Here::current());

} // namespace heddle::io

#endif // HEDDLE_IO_ATOMICFILE_H
