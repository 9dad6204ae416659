//===- KeptTest.cpp - arguments that calls share --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/heddle.h"
#include "runtime/memory/MemoryManager.h"
#include "test/unit/builder/Tensors.h"

#include <gtest/gtest.h>

#include <cstdio>

using namespace heddle;
using namespace heddle::test;

namespace {

// Row-major over sorted names, the summed name of the weight varies fastest.
const Name batch("batch"), in("in"), hidden("hidden");
constexpr int64_t inputs = 300, outputs = 200;

Tensor layer(const Tensor &weight, const Tensor &x) { return sum(weight * x, over(in)); }

JitOptions options(std::vector<size_t> kept) {
  return {.targetCpu = "x86-64", .threads = 1, .cache = false, .kept = std::move(kept)};
}

class Kept : public testing::Test {
protected:
  /// Counts buffers of the size of the weight.
  void SetUp() override {
    defaultMemoryManager()->setListener([this](const MemoryEvent &event) {
      made += event.kind == MemoryEvent::Kind::Allocate && event.bytes == inputs * outputs * 4;
    });
  }
  void TearDown() override { defaultMemoryManager()->setListener(nullptr); }

  void expectNear(const Tensor &got, const Tensor &expected) {
    std::vector<float> a = got.to<float>({batch, hidden}), b = expected.to<float>({batch, hidden});
    for (size_t i = 0; i < a.size(); ++i)
      ASSERT_NEAR(a[i], b[i], 1e-3) << i;
  }

  int made = 0;
  Tensor weight = random({{in, inputs}, {hidden, outputs}}, 1),
         x = random({{batch, 50}, {in, inputs}}, 2);
};

TEST_F(Kept, IsPackedOnce) {
  auto kept = jit(&layer, options({0})), plain = jit(&layer, options({}));
  Tensor expected = plain(weight, x);
  EXPECT_EQ(made, 0);
  for (int call = 0; call < 3; ++call) {
    expectNear(kept(weight, x), expected);
    EXPECT_EQ(made, 1);
  }
  // Another weight is another tensor.
  Tensor other = random({{in, inputs}, {hidden, outputs}}, 3);
  expectNear(kept(other, x), plain(other, x));
}

TEST_F(Kept, WhatIsTrainedInBetweenIsPackedAgain) {
  auto train = jit(
      [](Tensor &weight) {
        weight = weight * 2.0;
        return sum(weight, over(in, hidden));
      },
      options({}));
  auto use = jit(&layer, options({0})), plain = jit(&layer, options({}));
  use(weight, x);
  train(weight);
  expectNear(use(weight, x), plain(weight, x));
}

TEST_F(Kept, ProgramDoesNotDependOnCallsBefore) {
  auto programOf = [&] {
    std::string path = testing::TempDir() + "heddle-kept.heddle";
    jit(&layer, options({0})).save(path, weight, x);
    FILE *file = fopen(path.c_str(), "rb");
    std::string bytes(1 << 20, 0);
    bytes.resize(fread(bytes.data(), 1, bytes.size(), file));
    fclose(file);
    remove(path.c_str());
    return bytes;
  };
  std::string before = programOf();
  jit(&layer, options({0}))(weight, x);
  EXPECT_TRUE(programOf() == before);
}

TEST_F(Kept, PositionsAreChecked) {
  try {
    jit(&layer, options({2}));
    FAIL();
  } catch (const Error &error) {
    EXPECT_NE(
        std::string(error.what())
            .find("argument 2 of 'function' should be kept, but the function has 2 arguments"),
        std::string::npos)
        << error.what();
  }
}

} // namespace
