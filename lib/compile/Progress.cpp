//===- Progress.cpp - a progress line -------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/compile/Progress.h"

#include <cstdio>
#include <unistd.h>

using namespace heddle;
using namespace std::chrono_literals;

Progress::Progress(std::string what, size_t total, bool enabled, Callback callback, Now given)
    : what(std::move(what)), total(total), enabled(enabled && isatty(STDERR_FILENO)),
      callback(std::move(callback)), now(std::move(given)), begin(now()), next(begin + 500ms) {}

void Progress::advance() {
  std::lock_guard lock(mutex);
  ++done;
  if (callback)
    callback(done, total);
  auto at = now();
  if (!enabled || at < next || done == total)
    return;
  next = at + 100ms;
  shown = true;
  fprintf(stderr, "\r%s: %zu of %zu, %.0f s ", what.c_str(), done, total,
          std::chrono::duration<double>(at - begin).count());
}

void Progress::finish() {
  std::lock_guard lock(mutex);
  if (shown)
    fprintf(stderr, "\r\033[K");
  shown = false;
}
