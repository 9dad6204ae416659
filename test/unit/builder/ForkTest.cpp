//===- ForkTest.cpp - compiling and running in a child of fork ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/heddle.h"
#include "test/unit/runtime/InChild.h"

#include "gtest/gtest.h"

#include <atomic>
#include <thread>

using namespace heddle;
using namespace heddle::test;

namespace {
const Name i("i");

Tensor ramp(int64_t size) {
  std::vector<float> values(static_cast<size_t>(size));
  for (size_t k = 0; k < values.size(); ++k)
    values[k] = float(k);
  return Tensor::of<float>(std::span<const float>(values), {{i, size}});
}

Tensor twice(Tensor x) { return x + x; }

/// Each call with a new size compiles.
std::string sumOf(const std::function<Tensor(Tensor)> &function, int64_t size) {
  return std::to_string(int64_t(sum(function(ramp(size)), over(i)).item()));
}
} // namespace

TEST(Fork, AChildCompilesAndRuns) {
  auto compiled = jit(twice, JitOptions{.threads = 2, .cache = false});
  EXPECT_EQ(sumOf(compiled, 10000), "99990000");
  EXPECT_EQ(inChild([&] { return sumOf(compiled, 10000) + " " + sumOf(compiled, 20000); }),
            "99990000 399980000");
  EXPECT_EQ(inChild([&] {
              auto own = jit([](Tensor x) { return x * x; }, JitOptions{.cache = false});
              return sumOf(own, 4) + " " + sumOf(compiled, 3);
            }),
            "14 6");
  EXPECT_EQ(sumOf(compiled, 10000), "99990000");
}

TEST(Fork, WhatAnotherThreadCompilesTheChildCompilesItself) {
  std::atomic<bool> compiling{false}, goOn{false};
  auto compiled = jit(twice, JitOptions{.cache = false, .onProgress = [&](size_t, size_t) {
                                          compiling = true;
                                          while (!goOn)
                                            std::this_thread::yield();
                                        }});
  std::string parents;
  std::thread other([&] { parents = sumOf(compiled, 5); });
  while (!compiling)
    std::this_thread::yield();
  EXPECT_EQ(inChild([&] {
              goOn = true;
              return sumOf(compiled, 5);
            }),
            "20");
  goOn = true;
  other.join();
  EXPECT_EQ(parents, "20");
}

TEST(Fork, WhileOtherThreadsCompileNothingStaysLocked) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> others;
  for (int thread = 0; thread < 2; ++thread)
    others.emplace_back([&, thread] {
      auto own = jit(twice, JitOptions{.threads = 1, .cache = false});
      for (int64_t size = 2 + thread; !stop; size += 2)
        EXPECT_EQ(sumOf(own, size), std::to_string(size * (size - 1)));
    });
  for (int repeat = 0; repeat < 20; ++repeat)
    ASSERT_EQ(inChild([&] {
                auto own = jit(twice, JitOptions{.threads = 2, .cache = false});
                return sumOf(own, 4);
              }),
              "12");
  stop = true;
  for (std::thread &other : others)
    other.join();
}
