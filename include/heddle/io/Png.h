//===- Png.h - encode images as PNG -----------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Encodes the images of reports, losslessly: 8 bits per sample, no interlacing, compressed by zlib.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_IO_PNG_H
#define HEDDLE_IO_PNG_H

#include "heddle/Error.h"
#include "heddle/io/HostArray.h"

namespace heddle::io {

/// The bytes of a PNG file of an array of ui8. The shape [rows, columns] is a greyscale image,
/// [rows, columns, 3] an RGB image and [rows, columns, 4] one with an alpha channel. Throws Error
/// for any other array.
std::string encodePng(const HostArray &image, Here here = Here::current());

/// Encodes bytes by Base64 (RFC 4648): "heddle" becomes "aGVkZGxl".
std::string encodeBase64(std::string_view bytes);

} // namespace heddle::io

#endif // HEDDLE_IO_PNG_H
