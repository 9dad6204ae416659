//===- ProgramImage.cpp - program files -----------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/program/ProgramImage.h"

#include "heddle/Error.h"
#include "runtime/program/AtomicFile.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <sys/stat.h>

using namespace heddle;

static constexpr std::string_view magic("HEDDLE\r\n", 8);
/// Grows with every change of the file, the keys of the manifest included, that older runtimes
/// cannot read.
static constexpr uint32_t formatVersion = 2;
static constexpr size_t nameBytes = 16, sectionBytes = nameBytes + 3 * 8, mostSections = 64;

/// Four lanes of multiply and rotate, eight bytes at a time: constants may be large.
static uint64_t checksum(std::string_view bytes) {
  constexpr uint64_t prime = 0x9e3779b97f4a7c15ull;
  uint64_t lanes[4] = {1, 2, 3, 4};
  auto mix = [&](uint64_t &lane, uint64_t word) {
    lane = (lane ^ word) * prime;
    lane = lane << 29 | lane >> 35;
  };
  size_t i = 0;
  for (; i + 32 <= bytes.size(); i += 32)
    for (size_t k = 0; k < 4; ++k) {
      uint64_t word;
      std::memcpy(&word, bytes.data() + i + 8 * k, 8);
      mix(lanes[k], word);
    }
  for (; i < bytes.size(); ++i)
    mix(lanes[i % 4], uint8_t(bytes[i]));
  uint64_t sum = bytes.size();
  for (uint64_t lane : lanes)
    mix(sum, lane);
  return sum ^ sum >> 32;
}

static void putNumber(std::string &bytes, uint64_t value, int width) {
  for (int i = 0; i < width; ++i)
    bytes.push_back(char(value >> (8 * i)));
}

static uint64_t getNumber(std::string_view bytes, size_t at, int width) {
  uint64_t value = 0;
  for (int i = 0; i < width; ++i)
    value |= uint64_t(uint8_t(bytes[at + size_t(i)])) << (8 * i);
  return value;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

void ProgramImage::write(const std::string &path) const {
  std::string text = manifest.toJson();
  std::pair<std::string_view, std::string_view> sections[] = {
      {"manifest", text}, {"code", code}, {"constants", constants}};
  std::string file(magic);
  putNumber(file, formatVersion, 4);
  putNumber(file, std::size(sections), 4);
  auto aligned = [](size_t bytes) { return (bytes + 63) / 64 * 64; };
  size_t offset = aligned(file.size() + std::size(sections) * sectionBytes + 8);
  for (auto [name, bytes] : sections) {
    file.append(name);
    file.append(nameBytes - name.size(), '\0');
    putNumber(file, offset, 8);
    putNumber(file, bytes.size(), 8);
    putNumber(file, checksum(bytes), 8);
    offset = aligned(offset + bytes.size());
  }
  putNumber(file, checksum(file), 8);
  AtomicFile target(path);
  size_t written = file.size();
  target.write(file);
  for (auto [name, bytes] : sections) {
    target.write(std::string(aligned(written) - written, '\0'));
    target.write(bytes);
    written = aligned(written) + bytes.size();
  }
  target.commit();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static void requireMagic(std::string_view bytes, const std::string &path) {
  if (!bytes.starts_with(magic))
    throw Error("'" + path + "' is not a program file: expected it to begin with 'HEDDLE'");
}

static std::string readWhole(const std::string &path) {
  auto fail = [&](const std::string &reason) {
    throw Error("can't read '" + path + "': " + reason);
  };
  struct stat status;
  if (stat(path.c_str(), &status) != 0)
    throw Error("can't open '" + path + "': " + std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    fail(S_ISDIR(status.st_mode) ? "expected a file, got a directory" : "expected a regular file");
  std::ifstream stream(path, std::ios::binary);
  std::string bytes(std::min(magic.size(), size_t(status.st_size)), '\0');
  auto readOn = [&](size_t from) {
    if (!stream || !stream.read(&bytes[from], std::streamsize(bytes.size() - from)))
      fail(std::strerror(errno ? errno : EIO));
  };
  readOn(0);
  requireMagic(bytes, path);
  try {
    bytes.resize(size_t(status.st_size));
  } catch (const std::exception &) {
    fail("no memory for its " + std::to_string(status.st_size) + " bytes");
  }
  readOn(magic.size());
  return bytes;
}

ProgramImage ProgramImage::read(const std::string &path) { return parse(readWhole(path), path); }

ProgramImage ProgramImage::parse(std::string_view file, const std::string &path) {
  requireMagic(file, path);
  auto truncated = [&](const std::string &what, uint64_t expected) {
    return Error("'" + path + "' is truncated: " + what + " needs " + std::to_string(expected) +
                 " bytes, the file has " + std::to_string(file.size()));
  };
  if (file.size() < magic.size() + 8)
    throw truncated("its header", magic.size() + 8);
  uint64_t version = getNumber(file, 8, 4), count = getNumber(file, 12, 4);
  if (version != formatVersion)
    throw Error("'" + path + "' has version " + std::to_string(version) +
                " of the program format, expected version " + std::to_string(formatVersion));
  size_t header = 16 + count * sectionBytes;
  if (count > mostSections)
    throw Error("'" + path + "' is damaged: it claims to have " + std::to_string(count) +
                " sections");
  if (file.size() < header + 8)
    throw truncated("its table of sections", header + 8);
  if (checksum(file.substr(0, header)) != getNumber(file, header, 8))
    throw Error("'" + path + "' is damaged: the checksum of its table of sections does not match");
  std::map<std::string, std::string, std::less<>> sections;
  for (size_t i = 0; i < count; ++i) {
    size_t at = 16 + i * sectionBytes;
    std::string name(file.data() + at, strnlen(file.data() + at, nameBytes));
    uint64_t offset = getNumber(file, at + nameBytes, 8),
             length = getNumber(file, at + nameBytes + 8, 8);
    if (offset > file.size() || length > file.size() - offset)
      throw truncated("its section '" + name + "'", offset + length);
    std::string bytes(file.substr(offset, length));
    if (checksum(bytes) != getNumber(file, at + nameBytes + 16, 8))
      throw Error("'" + path + "' is damaged: the checksum of its section '" + name +
                  "' does not match");
    sections[name] = std::move(bytes);
  }
  for (const char *name : {"manifest", "code", "constants"})
    if (!sections.count(name))
      throw Error("'" + path + "' is damaged: it lacks the section '" + name + "'");
  std::string error;
  auto manifest = Manifest::fromJson(sections["manifest"], error);
  if (!manifest)
    throw Error("'" + path + "': " + error);
  return {std::move(*manifest), std::move(sections["code"]), std::move(sections["constants"])};
}
