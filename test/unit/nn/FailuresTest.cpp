//===- FailuresTest.cpp - compiling and checkpoints when calls fail -------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every system call for files, maps and threads fails once, and every request to the memory
// manager. `operator new` does not fail: LLVM aborts when it runs out of memory.
//
//===----------------------------------------------------------------------===//

#include "heddle/heddle.h"
#include "heddle/nn/Checkpoint.h"
#include "runtime/memory/MemoryManager.h"
#include "test/unit/runtime/Faults.h"
#include "test/unit/support/io/Files.h"

using namespace heddle;
using namespace heddle::test;

namespace {
constexpr unsigned calls = Fault::Files | Fault::Maps | Fault::Threads;
const Name i("i");

Tensor ramp(float first) { return Tensor::of<float>({first, first + 1, first + 2}, {{i, 3}}); }
std::vector<float> valuesOf(const Tensor &tensor) { return tensor.to<float>({i}); }

struct State {
  Tensor a, b;
  HEDDLE_FIELDS(a, b)
};

/// Fails the request with this number.
struct FailingManager : SystemManager {
  int64_t failAt = -1;
  void *obtain(int64_t bytes, int64_t alignment) override {
    return failAt-- == 0 ? nullptr : SystemManager::obtain(bytes, alignment);
  }
};
} // namespace

TEST(Failures, CompilingAndCalling) {
  TemporaryDirectory cache;
  setenv("HEDDLE_CACHE_DIR", cache.path.c_str(), 1);
  Tensor x = ramp(1);
  std::vector<float> values;
  failEach(
      calls,
      [&] {
        values.clear();
        auto f = jit([](Tensor y) { return y * y; }, JitOptions{.threads = 2});
        values = valuesOf(f(x));
      },
      [&](bool threw) {
        EXPECT_EQ(values, threw ? std::vector<float>() : (std::vector<float>{1, 4, 9}));
        EXPECT_EQ(valuesOf(x), (std::vector<float>{1, 2, 3}));
        std::filesystem::remove_all(cache.path); // compiled anew each time
      });
  unsetenv("HEDDLE_CACHE_DIR");
}

TEST(Failures, MemoryOfCalls) {
  auto f = jit([](Tensor y) { return cumulativeSum(y, i) * y; }, JitOptions{.cache = false});
  Tensor x = ramp(1);
  ASSERT_EQ(valuesOf(f(x)), (std::vector<float>{1, 6, 18}));
  auto manager = std::make_shared<FailingManager>();
  setDefaultMemoryManager(manager);
  int failures = 0;
  for (int64_t n = 0;; ++n) {
    manager->failAt = n;
    try {
      EXPECT_EQ(valuesOf(f(x)), (std::vector<float>{1, 6, 18}));
      break;
    } catch (const Error &error) {
      ++failures;
      expectHas(error.what(), {"out of memory: ", " bytes for '"});
    }
    ASSERT_LT(n, 100);
  }
  setDefaultMemoryManager(nullptr);
  EXPECT_GT(failures, 0);
}

TEST(Failures, CheckpointsAreTheOldOrTheNew) {
  TemporaryDirectory directory;
  std::string path = directory / "checkpoint.safetensors";
  State older{ramp(1), ramp(2)}, newer{ramp(3), ramp(4)};
  nn::saveTree(path, newer, {{"step", "2"}});
  std::string newBytes = contentsOf(path);
  nn::saveTree(path, older, {{"step", "1"}});
  std::string oldBytes = contentsOf(path);
  ASSERT_NE(newBytes, oldBytes);
  failEach(
      calls, [&] { nn::saveTree(path, newer, {{"step", "2"}}); },
      [&](bool threw) {
        std::string now = contentsOf(path);
        EXPECT_TRUE(now == newBytes || (threw && now == oldBytes));
        EXPECT_EQ(directory.entries(), 1u);
        nn::saveTree(path, older, {{"step", "1"}});
      });
  State state{ramp(7), ramp(8)};
  failEach(
      calls, [&] { nn::loadTree(path, state); },
      [&](bool threw) {
        EXPECT_EQ(valuesOf(state.a)[0], threw ? 7 : 1); // whole or untouched
        EXPECT_EQ(valuesOf(state.b)[0], threw ? 8 : 2);
        EXPECT_EQ(contentsOf(path), oldBytes);
        state = {ramp(7), ramp(8)};
      });
}
