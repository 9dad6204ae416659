//===- LargeStack.h - work that needs a deep stack --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR and LLVM recurse: over regions, over attributes, over the expressions of a kernel. Whoever
// calls a compiler may have a thread of few kilobytes, so the work gets a thread of its own, whose
// stack suffices for what Nesting.h lets in. Memory is taken only as far as the stack grows.
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

/// Runs `work` on such a thread and waits for it; what it throws comes back to the caller. Where
/// the system gives no such thread the caller's own has to do.
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
