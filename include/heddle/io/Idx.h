//===- Idx.h - arrays in the format of the MNIST family ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An IDX file is the bytes 0, 0, type, rank, then a big-endian 32-bit size for
// each axis, then the elements, big-endian and row-major. The types are
// 08 ui8, 09 i8, 0B i16, 0C i32, 0D f32, 0E f64; 28x28 images begin with
// 00 00 08 03, their count, 00 00 00 1C, 00 00 00 1C.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_IO_IDX_H
#define HEDDLE_IO_IDX_H

#include "heddle/Error.h"
#include "heddle/io/HostArray.h"

namespace heddle::io {

/// Reads `path`, plain or compressed by gzip. Throws Error that names the file if it is missing,
/// damaged, truncated, has bytes after its elements or is not an IDX file.
HostArray readIdx(const std::string &path, Here here = Here::current());

} // namespace heddle::io

#endif // HEDDLE_IO_IDX_H
