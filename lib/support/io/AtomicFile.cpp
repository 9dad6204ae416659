//===- AtomicFile.cpp - files that appear whole or not at all -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/io/AtomicFile.h"

#include "runtime/program/AtomicFile.h"

using namespace heddle;
using namespace heddle::io;

namespace {
struct Sink final : FileSink {
  AtomicFile file;
  explicit Sink(const std::string &path) : file(path) {}
  void write(const void *data, size_t size) override {
    file.write({static_cast<const char *>(data), size});
  }
};
} // namespace

void io::writeFileAtomically(const std::string &path, const std::function<void(FileSink &)> &fill) {
  Sink sink(path);
  fill(sink);
  sink.file.commit();
}
