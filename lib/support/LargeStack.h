//===- LargeStack.h - runs work on a large stack ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR and LLVM recurse over regions, attributes and the expressions of a kernel, but the caller's
// thread may have a small stack. The work runs on a new thread, whose stack suffices for the depth
// that Nesting.h allows. The system commits stack memory only as it is used.
//
//     ProgramImage image;
//     onLargeStack([&] { image = compile(module); });
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_SUPPORT_LARGESTACK_H
#define HEDDLE_SUPPORT_LARGESTACK_H

#include <exception>
#include <pthread.h>

namespace heddle {

/// Runs `work` on a thread with a large stack and waits for it; rethrows its exceptions. Runs it on
/// the caller's thread if no thread can be started.
template <typename Work>
void onLargeStack(Work &&work) {
  constexpr size_t bytes = size_t(256) << 20;
  struct Run {
    Work &work;
    std::exception_ptr thrown;
  } run{work, nullptr};
  auto start = [](void *argument) -> void * {
    Run &run = *static_cast<Run *>(argument);
    try {
      run.work();
    } catch (...) {
      run.thrown = std::current_exception();
    }
    return nullptr;
  };
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  bool started = pthread_attr_setstacksize(&attributes, bytes) == 0 &&
                 pthread_create(&thread, &attributes, start, &run) == 0;
  pthread_attr_destroy(&attributes);
  if (started)
    pthread_join(thread, nullptr);
  else
    start(&run);
  if (run.thrown)
    std::rethrow_exception(run.thrown);
}

} // namespace heddle

#endif // HEDDLE_SUPPORT_LARGESTACK_H
