//===- Png.cpp - encode images as PNG -------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/io/Png.h"

#include "heddle/Error.h"

#include <zlib.h>

using namespace heddle;
using namespace heddle::io;

static void appendBigEndian(std::string &out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8)
    out.push_back(char(value >> shift));
}

/// Appends length, kind, data, and the checksum of kind and data.
static void appendChunk(std::string &out, const std::string &kind, const std::string &data) {
  appendBigEndian(out, uint32_t(data.size()));
  size_t begin = out.size();
  out += kind + data;
  appendBigEndian(out, uint32_t(crc32(0, reinterpret_cast<const Bytef *>(out.data() + begin),
                                      uInt(out.size() - begin))));
}

std::string io::encodePng(const HostArray &image, Here here) {
  size_t rank = image.shape.size();
  int64_t samples = rank == 3 ? image.shape[2] : 1;
  int colour = samples == 1 ? 0 : samples == 3 ? 2 : 6;
  if (image.element != ElementType::UI8 || rank < 2 || rank > 3 || image.count() == 0 ||
      image.count() > 1 << 28 || (rank == 3 && samples != 3 && samples != 4))
    throw Error("expected an image ui8 [row, column], or with 3 or 4 samples for each pixel, got " +
                    image.describe(),
                here);
  int64_t rows = image.shape[0], columns = image.shape[1];
  std::string header;
  appendBigEndian(header, uint32_t(columns));
  appendBigEndian(header, uint32_t(rows));
  header += {8, char(colour), 0, 0, 0};
  std::string lines; // each begins with its filter: 0, none
  auto bytes = reinterpret_cast<const char *>(image.bytes.data());
  for (int64_t row = 0; row < rows; ++row) {
    lines.push_back(0);
    lines.append(bytes + row * columns * samples, size_t(columns * samples));
  }
  uLongf size = compressBound(lines.size());
  std::string packed(size, 0);
  if (compress2(reinterpret_cast<Bytef *>(packed.data()), &size,
                reinterpret_cast<const Bytef *>(lines.data()), lines.size(), 9) != Z_OK)
    throw Error("can't compress an image: out of memory", here);
  packed.resize(size);
  std::string png = "\x89PNG\r\n\x1a\n";
  appendChunk(png, "IHDR", header);
  appendChunk(png, "IDAT", packed);
  appendChunk(png, "IEND", "");
  return png;
}

std::string io::encodeBase64(std::string_view bytes) {
  static constexpr char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    size_t here = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < here ? uint8_t(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k)
      text.push_back(k <= here ? digits[group >> (18 - 6 * k) & 63] : '=');
  }
  return text;
}
