//===- Idx.h - read IDX files, the format of MNIST --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An IDX file holds the bytes 0, 0, type and rank, then a big-endian 32-bit size for each axis,
// then the elements, big-endian and row-major. The types are 08 (ui8), 09 (i8), 0B (i16), 0C (i32),
// 0D (f32) and 0E (f64). A file of 28x28 images begins with 00 00 08 03, their number, 00 00 00 1C,
// 00 00 00 1C.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_IO_IDX_H
#define HEDDLE_IO_IDX_H

#include "heddle/Error.h"
#include "heddle/io/HostArray.h"

namespace heddle::io {

/// Reads the array in the file `path`, which may be compressed by gzip. Throws Error that names the
/// file if it is missing, damaged or truncated, has bytes after its elements, or is not an IDX
/// file.
HostArray readIdx(const std::string &path, Here here = Here::current());

} // namespace heddle::io

#endif // HEDDLE_IO_IDX_H
