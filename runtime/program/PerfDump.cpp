//===- PerfDump.cpp - compiled functions as perf sees them ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/program/PerfDump.h"

#include "heddle/Error.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <mutex>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace heddle;

/// perf's clock, if it records with `-k mono`.
static uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return uint64_t(time.tv_sec) * 1'000'000'000 + uint64_t(time.tv_nsec);
}

namespace {
/// Numbers and texts, as they lie in the file.
struct Bytes {
  std::string text;
  template <typename T>
  Bytes &operator<<(T number) {
    text.append(reinterpret_cast<const char *>(&number), sizeof number);
    return *this;
  }
  Bytes &operator<<(const std::string &word) {
    text.append(word.c_str(), word.size() + 1);
    return *this;
  }
};

/// tools/perf/Documentation/jitdump-specification.txt
class DumpFile {
public:
  explicit DumpFile(const std::string &folder)
      : path(folder + "/jit-" + std::to_string(getpid()) + ".dump"),
        file(open(path.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0644)) {
    // perf finds the file by an executable mapping of it.
    if (file < 0 || mmap(nullptr, size_t(sysconf(_SC_PAGESIZE)), PROT_READ | PROT_EXEC, MAP_PRIVATE,
                         file, 0) == MAP_FAILED)
      refuse();
#if defined(__aarch64__)
    constexpr uint32_t machine = 183;
#else
    constexpr uint32_t machine = 62;
#endif
    constexpr uint32_t magic = 0x4a695444, version = 1, headerBytes = 40;
    write(Bytes() << magic << version << headerBytes << machine << uint32_t(0) << uint32_t(getpid())
                  << now() << uint64_t(0));
  }

  void add(const FunctionSpec &function, const char *code) {
    std::lock_guard lock(mutex);
    uint64_t address = uint64_t(code) + uint64_t(function.offset), bytes = uint64_t(function.bytes);
    // "file:line:column"; what has no place, or another kind of name, has no line.
    size_t column = function.location.rfind(':');
    size_t line = column ? function.location.rfind(':', column - 1) : std::string::npos;
    if (column != std::string::npos && line != std::string::npos) {
      uint32_t number = uint32_t(std::atoi(function.location.c_str() + line + 1));
      Bytes lines;
      lines << address << uint64_t(2);
      // perf ends its table at the last place that is given.
      for (uint64_t place : {address, address + bytes})
        lines << place << number << uint32_t(0) << function.location.substr(0, line);
      record(2, lines);
    }
    Bytes load;
    load << uint32_t(getpid()) << uint32_t(syscall(SYS_gettid)) << address << address << bytes
         << index++ << function.name;
    load.text.append(code + function.offset, bytes);
    record(0, load);
  }

private:
  std::string path;
  int file;
  std::mutex mutex;
  uint64_t index = 0;

  [[noreturn]] void refuse() const {
    throw Error("can't write '" + path + "' for perf ($HEDDLE_PERF): " + std::strerror(errno));
  }
  void write(const Bytes &bytes) {
    if (::write(file, bytes.text.data(), bytes.text.size()) != ssize_t(bytes.text.size()))
      refuse();
  }
  void record(uint32_t kind, const Bytes &bytes) {
    Bytes whole;
    whole << kind << uint32_t(16 + bytes.text.size()) << now();
    whole.text += bytes.text;
    write(whole);
  }
};
} // namespace

void heddle::describeToPerf(const Manifest &manifest, const char *code) {
  const char *folder = std::getenv("HEDDLE_PERF");
  if (!folder || !*folder)
    return;
  static DumpFile file(folder);
  for (const FunctionSpec &function : manifest.functions)
    file.add(function, code);
}
