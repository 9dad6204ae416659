//===- NestingTest.cpp - depth, and threads with small stacks -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/heddle.h"

#include <gtest/gtest.h>

#include <functional>
#include <pthread.h>

using namespace heddle;

namespace {
Name row("row");

/// Runs `work` on a thread with a small stack, as on some systems.
void onSmallStack(std::function<void()> work) {
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, size_t(128) << 10), 0);
  auto start = [](void *work) -> void * {
    (*static_cast<std::function<void()> *>(work))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, start, &work), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}
} // namespace

TEST(Nesting, FunctionsCompileOnThreadsWithSmallStacks) {
  onSmallStack([] {
    Tensor x = Tensor::of<float>({1, 2, 3}, {{row, 3}});
    auto slope =
        jit([](Tensor x) { return grad([](Tensor y) { return sum(y * y * y, over(row)); }, x); },
            JitOptions{.cache = false});
    EXPECT_EQ(slope(x).to<float>({row}), (std::vector<float>{3, 12, 27}));
    EXPECT_EQ((x + 1.0f).to<float>({row}), (std::vector<float>{2, 3, 4}));
  });
}

TEST(Nesting, ErrorsOfTheCompilerReachSmallStacks) {
  onSmallStack([] {
    Tensor x = Tensor::of<float>({1, 2, 3}, {{row, 3}});
    auto broken = jit([](Tensor x) { return x; }, JitOptions{.targetCpu = "abacus"});
    EXPECT_THROW(broken(x), Error);
  });
}
