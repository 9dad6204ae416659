//===- Png.h - small images inside of other files ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lossless encoder for the few images of a report: eight bits a sample, no
// interlacing, compressed by zlib.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_IO_PNG_H
#define HEDDLE_IO_PNG_H

#include "heddle/Error.h"
#include "heddle/io/HostArray.h"

namespace heddle::io {

/// The bytes of a PNG file of a ui8 array: [row, column] is grey, [row, column, 3] red, green
/// and blue, [row, column, 4] with opacity. Throws Error for any other array.
std::string encodePng(const HostArray &image, Here here = Here::current());

/// The RFC 4648 form of some bytes: "heddle" becomes "aGVkZGxl".
std::string encodeBase64(std::string_view bytes);

} // namespace heddle::io

#endif // HEDDLE_IO_PNG_H
