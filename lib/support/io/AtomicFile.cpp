//===- AtomicFile.cpp - files that are written atomically -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/io/AtomicFile.h"

#include "File.h"
#include "runtime/base/AtomicFile.h"

using namespace heddle;
using namespace heddle::io;

namespace {
struct Sink final : FileSink {
  Here here;
  AtomicFile file;
  Sink(const std::string &path, Here here)
      : here(here), file(located(here, [&] { return AtomicFile(path); })) {}
  void write(const void *data, size_t size) override {
    located(here, [&] { file.write({static_cast<const char *>(data), size}); });
  }
  bool rewrite(int64_t offset, std::string_view bytes) override {
    return located(here, [&] { return file.rewrite(offset, bytes); });
  }
  void commit() {
    located(here, [&] { file.commit(); });
  }
};
} // namespace

void io::writeFileAtomically(const std::string &path, const std::function<void(FileSink &)> &fill,
                             Here here) {
  Sink sink(path, here);
  fill(sink);
  sink.commit();
}
