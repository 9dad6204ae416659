//===- FastMathTest.cpp - permissions of a compiled function --------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/heddle.h"
#include "test/unit/builder/Tensors.h"

#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

namespace {
const Name i("i"), j("j"), k("k");

/// One sum of three factors.
Tensor chain(const Tensor &a, const Tensor &b, const Tensor &c) {
  return sum(a * b * c, over(j, k));
}

JitOptions options(std::vector<std::string> words) {
  return {.threads = 1, .cache = false, .fastMath = std::move(words)};
}
} // namespace

TEST(FastMath, ChainsMultiplyInTheCheapestOrder) {
  Tensor a = random({{i, 40}, {j, 40}}, 1), b = random({{j, 40}, {k, 40}}, 2),
         c = random({{k, 40}}, 3);
  auto strict = jit(&chain, options({})), fast = jit(&chain, options({"reassociate"}));
  std::vector<float> x = strict(a, b, c).to<float>({i}), y = fast(a, b, c).to<float>({i});
  ASSERT_EQ(x.size(), y.size());
  for (size_t n = 0; n < x.size(); ++n)
    EXPECT_NEAR(x[n], y[n], 1e-4) << n;
  EXPECT_EQ(strict.statistics().steps, 1);
  EXPECT_EQ(fast.statistics().steps, 2); // B c, then A (B c)
}

TEST(FastMath, UnknownWordsAreRefused) {
  try {
    jit(&chain, options({"fast"}));
    FAIL();
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("got 'fast'"), std::string::npos) << error.what();
  }
}
