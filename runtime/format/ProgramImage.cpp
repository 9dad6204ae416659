//===- ProgramImage.cpp - program files -----------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/format/ProgramImage.h"

#include "heddle/Error.h"
#include "runtime/base/AtomicFile.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

using namespace heddle;

static constexpr std::string_view magic("HEDDLE\r\n", 8);
/// The version of the file format. Increment it with every change that older runtimes can't read,
/// including changes of the manifest's keys.
static constexpr uint32_t formatVersion = 5;
static constexpr size_t nameBytes = 16, sectionBytes = nameBytes + 3 * 8, mostSections = 64;

/// Four lanes of multiply and rotate, eight bytes at a time, for speed: constants may be large.
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

static std::string sumText(std::string_view bytes) {
  char text[17];
  snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(checksum(bytes)));
  return text;
}

static constexpr size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

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

void ProgramImage::writeTo(const std::function<void(std::string_view)> &write) const {
  std::string text, table = shardings.empty() ? "" : shardings.toJson();
  std::vector<std::pair<std::string_view, std::string_view>> sections = {
      {"manifest", text}, {"code", code}, {"constants", constants}};
  if (!shardings.empty())
    sections.emplace_back("shardings", table);
  Manifest bound = manifest;
  bound.sums.clear();
  for (auto [name, bytes] : sections)
    if (name != "manifest")
      bound.sums[std::string(name)] = sumText(bytes);
  text = bound.toJson();
  sections[0].second = text;
  std::string file(magic);
  putNumber(file, formatVersion, 4);
  putNumber(file, sections.size(), 4);
  size_t offset = aligned(file.size() + sections.size() * sectionBytes + 8);
  for (auto [name, bytes] : sections) {
    file.append(name);
    file.append(nameBytes - name.size(), '\0');
    putNumber(file, offset, 8);
    putNumber(file, bytes.size(), 8);
    putNumber(file, checksum(bytes), 8);
    offset = aligned(offset + bytes.size());
  }
  putNumber(file, checksum(file), 8);
  size_t written = file.size();
  write(file);
  for (auto [name, bytes] : sections) {
    write(std::string(aligned(written) - written, '\0'));
    write(bytes);
    written = aligned(written) + bytes.size();
  }
}

void ProgramImage::write(const std::string &path) const {
  AtomicFile target(path);
  writeTo([&](std::string_view bytes) { target.write(bytes); });
  target.commit();
}

std::string ProgramImage::bytes() const {
  std::string all;
  writeTo([&](std::string_view bytes) { all += bytes; });
  return all;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static void requireMagic(std::string_view bytes, const std::string &path) {
  if (!bytes.starts_with(magic))
    throw Error("'" + path + "' is not a program file: expected it to begin with 'HEDDLE'");
}

namespace {
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0)
      close(number);
  }
};
} // namespace

static std::string readWhole(const std::string &path) {
  auto fail = [&](const std::string &reason) {
    throw Error("can't read '" + path + "': " + reason);
  };
  // Without O_NONBLOCK, opening a pipe without a writer would block forever.
  Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.number < 0)
    throw Error("can't open '" + path + "': " + std::strerror(errno));
  struct stat status;
  if (fstat(file.number, &status) != 0)
    fail(std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    fail(S_ISDIR(status.st_mode) ? "expected a file, got a directory" : "expected a regular file");
  std::string bytes;
  auto readTo = [&](size_t size) {
    size_t done = bytes.size();
    bytes.resize(size);
    while (done < size) {
      ssize_t count = ::read(file.number, &bytes[done], size - done);
      if (count < 0 && errno != EINTR)
        fail(std::strerror(errno));
      if (count == 0) // the file was truncated meanwhile
        return bytes.resize(done);
      done += size_t(std::max<ssize_t>(count, 0));
    }
  };
  readTo(std::min(magic.size(), size_t(status.st_size)));
  requireMagic(bytes, path);
  try {
    readTo(size_t(status.st_size));
  } catch (const std::bad_alloc &) {
    fail("out of memory: no " + std::to_string(status.st_size) + " bytes for its contents");
  }
  return bytes;
}

ProgramImage ProgramImage::read(const std::string &path) { return parse(readWhole(path), path); }

namespace {
/// Splits a file into sections. They are contiguous, as `write` wrote them, so that every byte of a
/// file is checked.
class Reader {
public:
  Reader(std::string_view file, const std::string &path) : file(file), path(path) {}

  std::map<std::string, std::string_view, std::less<>> sections() const {
    size_t count = readHeader(), end = tableBegin + count * sectionBytes + 8;
    std::map<std::string, std::string_view, std::less<>> found;
    for (size_t i = 0; i < count; ++i) {
      size_t at = tableBegin + i * sectionBytes;
      std::string name(file.data() + at, strnlen(file.data() + at, nameBytes));
      std::string_view bytes = section(name, at + nameBytes, end);
      if (!found.emplace(name, bytes).second)
        throw damaged("its section '" + name + "' occurs twice");
      end = size_t(bytes.data() - file.data()) + bytes.size();
    }
    if (end != file.size())
      throw damaged(std::to_string(file.size() - end) + " bytes are after its last section");
    return found;
  }

  Error damaged(const std::string &reason) const {
    return Error("'" + path + "' is damaged: " + reason);
  }

private:
  static constexpr size_t tableBegin = 16;
  std::string_view file;
  const std::string &path;

  Error truncated(const std::string &what, uint64_t expected) const {
    return Error("'" + path + "' is truncated: " + what + " needs " + std::to_string(expected) +
                 " bytes, the file has " + std::to_string(file.size()));
  }

  /// Checks that the header and the table are complete; returns the number of sections.
  size_t readHeader() const {
    requireMagic(file, path);
    if (file.size() < tableBegin)
      throw truncated("its header", tableBegin);
    uint64_t version = getNumber(file, 8, 4), count = getNumber(file, 12, 4);
    if (version != formatVersion)
      throw Error("'" + path + "' has version " + std::to_string(version) +
                  " of the program format, expected version " + std::to_string(formatVersion) +
                  (version < formatVersion ? ": an older Heddle wrote it, compile it again"
                                           : ": a newer Heddle wrote it"));
    if (count > mostSections)
      throw damaged("it claims to have " + std::to_string(count) + " sections");
    size_t header = tableBegin + count * sectionBytes;
    if (file.size() < header + 8)
      throw truncated("its table of sections", header + 8);
    if (checksum(file.substr(0, header)) != getNumber(file, header, 8))
      throw damaged("the checksum of its table of sections does not match");
    return count;
  }

  /// The section whose offset is at byte `at` of the table; the preceding section ends at `end`.
  std::string_view section(const std::string &name, size_t at, size_t end) const {
    uint64_t offset = getNumber(file, at, 8), length = getNumber(file, at + 8, 8);
    if (offset != aligned(end))
      throw damaged("expected its section '" + name + "' at byte " + std::to_string(aligned(end)) +
                    ", got byte " + std::to_string(offset));
    if (offset > file.size())
      throw truncated("its section '" + name + "'", offset);
    if (length > file.size() - offset)
      throw Error("'" + path + "' is truncated: its section '" + name + "' should have " +
                  std::to_string(length) + " bytes from byte " + std::to_string(offset) +
                  " on, the file has " + std::to_string(file.size()));
    if (file.substr(end, offset - end).find_first_not_of('\0') != file.npos)
      throw damaged("the bytes before its section '" + name + "' are not zero");
    std::string_view bytes = file.substr(offset, length);
    if (checksum(bytes) != getNumber(file, at + 16, 8))
      throw damaged("the checksum of its section '" + name + "' does not match");
    return bytes;
  }
};
} // namespace

ProgramImage ProgramImage::parse(std::string_view file, const std::string &path) {
  Reader reader(file, path);
  auto sections = reader.sections();
  for (const char *name : {"manifest", "code", "constants"})
    if (!sections.count(name))
      throw reader.damaged("it lacks the section '" + std::string(name) + "'");
  std::string error;
  auto manifest = Manifest::fromJson(sections["manifest"], error);
  if (!manifest)
    throw Error("'" + path + "': " + error);
  auto bound = [&](const char *name) {
    if (manifest->sums[name] != sumText(sections[name]))
      throw reader.damaged("its section '" + std::string(name) +
                           "' is not the one that its manifest describes");
  };
  bound("code");
  bound("constants");
  ShardingTable table;
  if (sections.count("shardings") || manifest->sums.count("shardings")) {
    bound("shardings");
    auto found = ShardingTable::fromJson(sections["shardings"], error);
    if (!found)
      throw Error("'" + path + "': " + error);
    table = std::move(*found);
  }
  manifest->sums.clear(); // `write` computes them again
  return {std::move(*manifest), std::string(sections["code"]), std::string(sections["constants"]),
          std::move(table)};
}

std::optional<ProgramImage> ProgramImage::parseIfValid(std::string_view bytes) noexcept {
  try {
    return parse(bytes, "");
  } catch (const std::exception &) {
    return std::nullopt;
  }
}
