//===- PerfDump.cpp - describes compiled functions to perf ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "lib/profile/PerfDump.h"

#include "heddle/Error.h"
#include "runtime/base/Fork.h"
#include "runtime/program/Observers.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
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
/// Appends numbers and strings in the format of the file.
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
    Bytes lines;
    uint64_t count = 0;
    auto add = [&](uint64_t from, const std::string &location) {
      // "file:line:column"; other locations have no line.
      size_t column = location.rfind(':');
      size_t line =
          column && column != location.npos ? location.rfind(':', column - 1) : location.npos;
      if (line == location.npos)
        return;
      lines << address + from << uint32_t(std::atoi(location.c_str() + line + 1)) << uint32_t(0)
            << location.substr(0, line);
      ++count;
    };
    if (function.lines.empty())
      add(0, function.location);
    for (auto [from, location] : function.lines)
      add(uint64_t(from), function.locations[size_t(location)]);
    // perf ends its table at the last address given.
    add(bytes, function.lines.empty() ? function.location
                                      : function.locations[size_t(function.lines.back().second)]);
    if (count) {
      Bytes whole;
      whole << address << count;
      whole.text += lines.text;
      record(2, whole);
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
  ForkMutex mutex;
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

// In libheddle; the runtime alone describes no code.
static const bool observes = (setCodeObserver(describeToPerf), true);
