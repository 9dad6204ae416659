//===- Idx.cpp - arrays in the format of the MNIST family -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/io/Idx.h"

#include "File.h"

#include <cerrno>
#include <memory>
#include <optional>
#include <zlib.h>

using namespace heddle;
using namespace heddle::io;

static std::optional<ElementType> elementOf(int code) {
  switch (code) {
  case 0x08:
    return ElementType::UI8;
  case 0x09:
    return ElementType::I8;
  case 0x0B:
    return ElementType::I16;
  case 0x0C:
    return ElementType::I32;
  case 0x0D:
    return ElementType::F32;
  case 0x0E:
    return ElementType::F64;
  }
  return std::nullopt;
}

namespace {
/// Bytes of a file that may be compressed; zlib passes uncompressed bytes through.
class Stream {
public:
  explicit Stream(const std::string &path) : path(path) {
    InputFile{path}; // throws a better message than zlib's
    file.reset(gzopen(path.c_str(), "rb"));
    if (!file)
      failCall(path, "open", errno ? errno : ENOMEM);
  }

  /// Reads up to `size` bytes, fewer at the end of the file.
  int64_t read(void *to, int64_t size) {
    int64_t done = 0;
    while (done < size) {
      int count = gzread(file.get(), static_cast<char *>(to) + done,
                         unsigned(std::min<int64_t>(size - done, 1 << 30)));
      if (count < 0)
        failRead();
      if (count == 0)
        break;
      done += count;
    }
    return done;
  }
  /// True after the last byte of a truncated compressed file, which zlib reads as a short one.
  bool cutOff() {
    int code = Z_OK;
    gzerror(file.get(), &code);
    return code == Z_BUF_ERROR;
  }

private:
  std::string path;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file{nullptr, gzclose_r};

  [[noreturn]] void failRead() {
    int code = Z_OK;
    std::string text = gzerror(file.get(), &code);
    if (code == Z_ERRNO)
      failCall(path, "read", errno);
    fail(path, "damaged compressed data (" + text + ")");
  }
};
} // namespace

static HostArray read(const std::string &path) {
  Stream stream(path);
  auto need = [&](void *to, int64_t size, const std::string &what) {
    if (int64_t got = stream.read(to, size); got != size)
      fail(path, "truncated: expected " + std::to_string(size) + " bytes of " + what + ", got " +
                     std::to_string(got) + (stream.cutOff() ? " (compressed data end early)" : ""));
  };
  uint8_t magic[4];
  need(magic, 4, "magic number");
  std::optional<ElementType> element = elementOf(magic[2]);
  if (magic[0] != 0 || magic[1] != 0 || !element) {
    char got[16];
    std::snprintf(got, sizeof got, "%02X %02X %02X %02X", magic[0], magic[1], magic[2], magic[3]);
    fail(path,
         "not an IDX file: expected a magic number 00 00 type rank, with a type of 08, 09, 0B, "
         "0C, 0D or 0E, got " +
             std::string(got));
  }
  HostArray array;
  array.element = *element;
  for (int axis = 0; axis < magic[3]; ++axis) {
    uint8_t size[4];
    need(size, 4, "the size of axis " + std::to_string(axis));
    array.shape.push_back(int64_t(size[0]) << 24 | size[1] << 16 | size[2] << 8 | size[3]);
  }
  int64_t expected, got = 0;
  try {
    expected = array.count() * byteSize(*element);
  } catch (const std::exception &error) {
    fail(path, error.what());
  }
  // Memory grows with the bytes read, so that a wrong size in the header allocates little.
  array.bytes.clear();
  while (got < expected) {
    int64_t step = std::min(expected - got, std::max<int64_t>(got, 1 << 20));
    array.bytes.resize(size_t(got + step));
    int64_t count = stream.read(array.bytes.data() + got, step);
    got += count;
    if (count < step)
      fail(path, "truncated: expected " + std::to_string(expected) + " bytes for " +
                     array.describe() + ", got " + std::to_string(got) +
                     (stream.cutOff() ? " (compressed data end early)" : ""));
  }
  // Reading past the end also makes zlib verify the checksum.
  if (char more; stream.read(&more, 1) != 0)
    fail(path, "has bytes after its elements: expected " + std::to_string(expected) +
                   " bytes for " + array.describe());
  if (stream.cutOff())
    fail(path, "truncated: compressed data end early");
  swapBytes(array.bytes, byteSize(*element));
  return array;
}

HostArray io::readIdx(const std::string &path, Here here) {
  return located(here, [&] { return read(path); });
}
