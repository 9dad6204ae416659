//===- ProgramFile.cpp - program files ------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/Error.h"
#include "runtime/program/Program.h"

#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <unistd.h>

using namespace heddle;

static constexpr char magic[8] = {'H', 'E', 'D', 'D', 'L', 'E', '0', '1'};

/// FNV-1a, 64 bits.
static uint64_t checksum(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (unsigned char byte : bytes)
    hash = (hash ^ byte) * 0x100000001b3ull;
  return hash;
}

void ProgramImage::write(const std::string &path) const {
  std::string text = manifest.toJson(), file(magic, sizeof magic);
  std::string_view sections[] = {text, code, constants};
  auto put = [&](uint64_t value) {
    for (int i = 0; i < 8; ++i)
      file.push_back(char(value >> (8 * i)));
  };
  for (std::string_view section : sections) {
    put(section.size());
    put(checksum(section));
  }
  for (std::string_view section : sections)
    file.append(section);

  std::string temporary = path + ".part" + std::to_string(getpid());
  auto fail = [&](const std::string &what) {
    std::string reason = std::strerror(errno);
    unlink(temporary.c_str());
    throw Error(what + " '" + path + "': " + reason);
  };
  int descriptor = open(temporary.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
  if (descriptor < 0)
    fail("can't write");
  for (size_t done = 0; done < file.size();) {
    ssize_t count = ::write(descriptor, file.data() + done, file.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0) {
      close(descriptor);
      fail("can't write");
    }
    done += size_t(count);
  }
  if (fsync(descriptor) != 0) {
    close(descriptor);
    fail("can't write");
  }
  if (close(descriptor) != 0 || rename(temporary.c_str(), path.c_str()) != 0)
    fail("can't write");
}

ProgramImage ProgramImage::read(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    throw Error("can't open '" + path + "': " + std::strerror(errno));
  std::ostringstream buffer;
  buffer << stream.rdbuf();
  std::string file = buffer.str();
  constexpr size_t header = sizeof magic + 3 * 16;
  if (file.size() < sizeof magic || std::memcmp(file.data(), magic, sizeof magic) != 0)
    throw Error("'" + path + "' is not a program file: expected it to begin with 'HEDDLE01'");
  if (file.size() < header)
    throw Error("'" + path + "' is truncated: expected at least " + std::to_string(header) +
                " bytes, got " + std::to_string(file.size()));
  auto get = [&](size_t at) {
    uint64_t value = 0;
    for (int i = 0; i < 8; ++i)
      value |= uint64_t(uint8_t(file[at + size_t(i)])) << (8 * i);
    return value;
  };
  const char *names[] = {"manifest", "code", "constants"};
  std::string parts[3];
  size_t at = header;
  for (int i = 0; i < 3; ++i) {
    uint64_t length = get(sizeof magic + size_t(i) * 16),
             sum = get(sizeof magic + size_t(i) * 16 + 8);
    if (length > file.size() - at)
      throw Error("'" + path + "' is truncated: the section '" + names[i] + "' should have " +
                  std::to_string(length) + " bytes, got " + std::to_string(file.size() - at));
    parts[i] = file.substr(at, length);
    at += length;
    if (checksum(parts[i]) != sum)
      throw Error("'" + path + "' is damaged: the checksum of the section '" +
                  std::string(names[i]) + "' does not match");
  }
  if (at != file.size())
    throw Error("'" + path + "' is damaged: expected " + std::to_string(at) + " bytes, got " +
                std::to_string(file.size()));
  std::string error;
  auto manifest = Manifest::fromJson(parts[0], error);
  if (!manifest)
    throw Error("'" + path + "': " + error);
  return {std::move(*manifest), std::move(parts[1]), std::move(parts[2])};
}
