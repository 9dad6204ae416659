//===- AtomicFile.cpp - files that appear whole or not at all -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/io/AtomicFile.h"

#include "File.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace heddle;
using namespace heddle::io;

namespace {
/// Removes the file and closes its descriptor unless the work got done.
class TemporaryFile final : public FileSink {
public:
  TemporaryFile(const std::string &target, const std::string &given) : given(given) {
    static std::atomic<unsigned> counter;
    do {
      path = target + ".part-" + std::to_string(getpid()) + "-" + std::to_string(counter++);
      descriptor = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    } while (descriptor < 0 && errno == EEXIST);
    if (descriptor < 0)
      failCall(given, "write", errno);
    struct stat old;
    if (stat(target.c_str(), &old) == 0)
      (void)fchmod(descriptor, old.st_mode & 07777); // on file systems without modes: no matter
    buffer.reserve(capacity);
  }
  ~TemporaryFile() override {
    if (descriptor >= 0)
      close(descriptor);
    if (!path.empty())
      unlink(path.c_str());
  }

  void write(const void *data, size_t size) override {
    const char *bytes = static_cast<const char *>(data);
    if (buffer.size() + size > capacity)
      flush();
    if (size >= capacity)
      writeOut(bytes, size);
    else
      buffer.append(bytes, size);
  }

  void moveTo(const std::string &target) {
    flush();
    if (fsync(descriptor) != 0)
      failCall(given, "write", errno);
    if (int file = std::exchange(descriptor, -1); close(file) != 0)
      failCall(given, "write", errno);
    if (rename(path.c_str(), target.c_str()) != 0)
      failCall(given, "replace", errno);
    path.clear();
  }

private:
  static constexpr size_t capacity = 1 << 18;
  std::string given, path, buffer;
  int descriptor = -1;

  void flush() {
    writeOut(buffer.data(), buffer.size());
    buffer.clear();
  }
  void writeOut(const char *bytes, size_t size) {
    for (size_t done = 0; done < size;) {
      ssize_t count = ::write(descriptor, bytes + done, size - done);
      if (count < 0 && errno == EINTR)
        continue;
      if (count <= 0)
        failCall(given, "write", count < 0 ? errno : ENOSPC);
      done += size_t(count);
    }
  }
};
} // namespace

void io::writeFileAtomically(const std::string &path, const std::function<void(FileSink &)> &fill) {
  // Through a symbolic link the file that it names is meant.
  std::unique_ptr<char, void (*)(void *)> resolved(realpath(path.c_str(), nullptr), std::free);
  std::string target = resolved ? resolved.get() : path;
  TemporaryFile file(target, path);
  fill(file);
  file.moveTo(target);
  // The new name is on the disk only when the directory is.
  std::string directory = std::filesystem::path(target).parent_path().string();
  int descriptor =
      open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return; // it may be written to but not read; the file is there
  int result = fsync(descriptor), error = errno;
  close(descriptor);
  if (result != 0 && error != EINVAL && error != ENOTSUP)
    failCall(path, "write", error);
}
