//===- AccessTest.cpp - sorting, computed slices, padding, quantisation ---===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/heddle.h"
#include "runtime/memory/RuntimeTensor.h"
#include "test/unit/builder/Tensors.h"
#include "test/unit/support/io/Files.h"

#include <gtest/gtest.h>
#include <malloc.h>

using namespace heddle;
using namespace heddle::test;
using Floats = std::vector<float>;
using Indices = std::vector<int64_t>;

static const Name m("m"), n("n");

TEST(Access, SortsAndTellsWhereFrom) {
  Tensor x = Tensor::of<float>({3, 1, 2, 1, 5, 4, 4, 6}, {{n, 2}, {m, 4}});
  auto [values, indices] = sort(x, m);
  EXPECT_EQ(values.to<float>({n, m}), (Floats{1, 1, 2, 3, 4, 4, 5, 6}));
  EXPECT_EQ(indices.to<int64_t>({n, m}), (Indices{1, 3, 2, 0, 1, 2, 0, 3}));
  EXPECT_EQ(argsort(x, m, true).to<int64_t>({n, m}), (Indices{0, 2, 1, 3, 3, 0, 1, 2}));
  Sorted top = topK(x, m, 2);
  EXPECT_EQ(top.values.to<float>({n, m}), (Floats{3, 2, 6, 5}));
  EXPECT_EQ(top.indices.to<int64_t>({n, m}), (Indices{0, 2, 3, 0}));
  std::vector<Tensor> both = sortTogether({x, x * 10.0}, n, true);
  EXPECT_EQ(both[1].to<float>({n, m}), (Floats{50, 40, 40, 60, 30, 10, 20, 10}));
  expectHas(messageOf([&] { topK(x, m, 5); }), {"'m'", "4", "got 5", "AccessTest"});
  expectHas(messageOf([&] { sort(x, Name("q")); }), {"'q'"});
}

TEST(Access, GradientsOfSortsGoBackWhereValuesCameFrom) {
  Tensor x = Tensor::of<float>({3, 1, 2, 1}, {{m, 4}}), w = Tensor::of<float>({10, 20}, {{m, 2}});
  Tensor gradient = grad([&](Tensor y) { return sum(topK(y, m, 2).values * w, over(m)); }, x);
  EXPECT_EQ(gradient.to<float>({m}), (Floats{10, 0, 20, 0}));
}

TEST(Access, SlicesAtComputedPlaces) {
  Tensor x = Tensor::of<float>({0, 1, 2, 3, 4, 5}, {{m, 6}});
  Tensor start = Tensor::of<int32_t>({2, 9, -1}, {{n, 3}});
  EXPECT_EQ(x.slice(m, start, 2).to<float>({n, m}), (Floats{2, 3, 4, 5, 0, 1}));
  auto write = jit([&](Tensor cache, Tensor at, Tensor part) { return cache.update(m, at, part); });
  Tensor part = Tensor::of<float>({-1, -2}, {{m, 2}});
  EXPECT_EQ(write(x, start.slice(n, 0, 1).split(n, {}), part).to<float>({m}),
            (Floats{0, 1, -1, -2, 4, 5}));
  EXPECT_EQ(write(x, start.slice(n, 1, 1).split(n, {}), part).to<float>({m}),
            (Floats{0, 1, 2, 3, -1, -2}));
  expectHas(messageOf([&] { x.update(m, start, part); }), {"start", "n: 3", "AccessTest"});
}

// Computed coordinates of a kernel are clamped, and gradients flow to the clamped coordinates.
TEST(Access, GradientsGoWherePlacesAreHeld) {
  Name a("a"), b("b"), k("k");
  Tensor place = Tensor::of<int32_t>({-7, 1, 3}, {{b, 3}}), x = random({{a, 4}}, 1);
  auto f = [&](Tensor x) {
    Tensor y = kernel(b).sum(k).size(k, 3).of(at(x, {{a, at(place).cast(ElementType::I64) + k}}) *
                                              (Scalar(k).cast(ElementType::F32) + 1.0));
    return sum(y, over(b));
  };
  // Index -7 reads the first element with the weights 1 + 2 + 3, index 3 the last one.
  EXPECT_EQ(valuesOf(grad(f, x)), Floats({6, 1, 2, 3 + 6}));
  EXPECT_EQ(valuesOf(jvp(f, x, x)), valuesOf(f(x)));
}

// A slice goes through ten rounds of a generator, one after another.
TEST(Access, SlicesOfLiftedRandomNumbers) {
  Name a("a"), z("z"), k("k");
  auto draw = [&](Tensor x, Tensor key) {
    Tensor place = randomPermutation(fold(key, 3), {a, 4});
    return sum(randomNormal(key, {{a, 4}, {k, 3}}), over(k)) * x +
           x.gather(a, place.rename({{a, k}})).rename({{k, a}});
  };
  Tensor x = random({{a, 4}, {z, 3}}, 1), keys = fold(key(5), iota({z, 3}));
  Tensor all = lift(draw, over(z))(x, keys);
  for (int64_t i = 0; i < 3; ++i) {
    auto at = [&](const Tensor &tensor) { return tensor.slice(z, i, 1).split(z, {}); };
    Floats got = valuesOf(at(all)), expected = valuesOf(draw(at(x), at(keys)));
    for (size_t j = 0; j < 4; ++j)
      EXPECT_NEAR(got[j], expected[j], 1e-5);
  }
}

TEST(Access, PadsByWhatLiesInside) {
  Tensor x = Tensor::of<float>({1, 2, 3}, {{m, 3}});
  EXPECT_EQ(x.pad(m, 2, 1, PadMode::Edge).to<float>({m}), (Floats{1, 1, 1, 2, 3, 3}));
  EXPECT_EQ(x.pad(m, 2, 1, PadMode::Reflect).to<float>({m}), (Floats{3, 2, 1, 2, 3, 2}));
  EXPECT_EQ(x.pad(m, 1, 2, PadMode::Wrap).to<float>({m}), (Floats{3, 1, 2, 3, 1, 2}));
  EXPECT_EQ(x.reverse(m).to<float>({m}), (Floats{3, 2, 1}));
  expectHas(messageOf([&] { x.pad(m, 3, 0, PadMode::Reflect); }), {"0 to 2", "'m'", "got 3"});
  Tensor gradient =
      grad([&](Tensor y) { return sum(y.pad(m, 2, 1, PadMode::Reflect), over(m)); }, x);
  EXPECT_EQ(gradient.to<float>({m}), (Floats{1, 3, 2}));
}

TEST(Access, PutsUniqueElements) {
  Tensor x = zeros({{m, 4}}), at = Tensor::of<int32_t>({3, 1}, {{n, 2}});
  Tensor made = scatterUnique(x, {{m, at}}, Tensor::of<float>({5, 6}, {{n, 2}}));
  EXPECT_EQ(made.to<float>({m}), (Floats{0, 6, 0, 5}));
}

TEST(Access, CombinesUpdatesInAnyWay) {
  Tensor x = Tensor::of<float>({1, 2, 3}, {{m, 3}}), at = Tensor::of<int32_t>({2, 0, 2}, {{n, 3}}),
         u = Tensor::of<float>({4, 5, 6}, {{n, 3}});
  // 1 + result is the product of all 1 + element.
  auto combined = [&](Tensor u) {
    return scatter(x, {{m, at}}, u, [](Scalar a, Scalar b) { return (a + 1.0) * (b + 1.0) - 1.0; });
  };
  EXPECT_EQ(jit(combined)(u).to<float>({m}), (Floats{11, 2, 139}));
  Tensor gradient = jit(
      [&](Tensor u) { return grad([&](Tensor u) { return sum(combined(u), over(m)); }, u); })(u);
  EXPECT_EQ(gradient.to<float>({n}), (Floats{28, 2, 20}));
  expectHas(messageOf([&] { scatter(x, {{m, at}}, u, [](Scalar a, Scalar b) { return a < b; }); }),
            {"f32", "i1", "AccessTest"});
  expectHas(messageOf([&] {
              scatter(x, {{m, at}}, u, [&](Scalar a, Scalar) { return a + heddle::at(x); });
            }),
            {"its own arguments", "AccessTest"});
}

TEST(Quantize, RoundsWithinHalfAStep) {
  std::vector<float> values;
  for (int i = 0; i < 24; ++i)
    values.push_back(float((i * 37) % 23 - 11) * (i % 2 ? 1.0f : 0.1f));
  Tensor x = Tensor::of<float>(values, {{m, 12}, {n, 2}});
  for (int bits : {4, 8}) {
    Quantized q = quantize(x, over(n), bits);
    EXPECT_EQ(q.values.elementType(), ElementType::I8);
    EXPECT_EQ(q.scale.names(), over(n));
    Tensor error = max(abs(dequantize(q) - x) / q.scale, over(m, n));
    EXPECT_LE(error.item(), 0.5 + 1e-5);
    EXPECT_EQ(max(abs(q.values.cast(ElementType::I32)), over(m, n)).item(), bits == 4 ? 7 : 127);
  }
  Quantized four = quantize(x, over(n), 4);
  Tensor packed = packInt4(four.values, m);
  EXPECT_EQ(packed.size(m), 6);
  EXPECT_EQ(unpackInt4(packed, m).to<int8_t>({m, n}), four.values.to<int8_t>({m, n}));
  expectHas(messageOf([&] { quantize(x, over(n), 9); }), {"2 to 8 bits", "got 9"});
  EXPECT_EQ(quantize(zeros({{m, 3}})).scale.item(), 1);
}

TEST(Quantize, PassesGradientsStraightThrough) {
  Tensor x = Tensor::of<float>({0.3f, -0.7f, 5.0f}, {{m, 3}}), scale = constant(0.5);
  auto loss = [&](Tensor y) { return sum(fakeQuantize(y, scale, 3) * 2.0, over(m)); };
  EXPECT_EQ(fakeQuantize(x, scale, 3).to<float>({m}), (Floats{0.5f, -0.5f, 1.5f}));
  EXPECT_EQ(grad(loss, x).to<float>({m}), (Floats{2, 2, 0}));
}

struct Cache {
  Tensor keys;
  HEDDLE_FIELDS(keys)
};

TEST(Access, ACacheIsUpdatedInPlace) {
  auto step = jit([](Cache &cache, Tensor at, Tensor part) {
    cache.keys = cache.keys.update(m, at, part);
    return sum(part, over(m, n));
  });
  Cache cache{zeros({{m, 6}, {n, 2}}) + 0.0};
  const void *before =
      nullptr; // the first call may convert it to the layout that the program chose
  for (int32_t i = 0; i < 3; ++i) {
    step(cache, Tensor::of<int32_t>({i}, {}), Tensor::of<float>({float(i), 7}, {{m, 1}, {n, 2}}));
    const void *now = cache.keys.data()->address();
    EXPECT_EQ(now, before ? before : now);
    before = now;
  }
  EXPECT_EQ(cache.keys.to<float>({m, n}), (Floats{0, 7, 1, 7, 2, 7, 0, 0, 0, 0, 0, 0}));
}

/// Destroyed after all statics that the library creates at first use.
static std::vector<Tensor> untilTheEnd;

TEST(Access, TensorsOfStaticStorageMayOutliveMain) {
  EXPECT_EXIT(
      {
        mallopt(M_MMAP_THRESHOLD, 1); // writing to freed memory faults
        Tensor x = Tensor::of<float>({1}, {{m, 1}});
        {
          Tensor dies = (x + 1.0) * (x + 2.0);
        }
        untilTheEnd.push_back((x + 1.0) * (x + 2.0));
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}
