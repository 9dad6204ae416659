//===- RelayoutTest.cpp - copies between layouts --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/runtime/RandomLayout.h"

#include "runtime/memory/Relayout.h"

#include <numeric>

using namespace heddle;

/// Element by element, by the definition of a layout.
template <typename Element>
static std::vector<Element> slowly(const std::vector<Element> &from, const Layout &fromLayout,
                                   std::vector<Element> to, const Layout &toLayout,
                                   const Sizes &sizes) {
  if (toLayout.zeroPadded)
    std::fill(to.begin(), to.end(), Element(0));
  forEachPosition(sizes, [&](const Sizes &position) {
    to[size_t(toLayout.offset(sizes, position))] = from[size_t(fromLayout.offset(sizes, position))];
  });
  return to;
}

template <typename Element>
static void checkRandomCopies(int samples, int64_t most) {
  forRandomSeeds(samples, [&](Random &random) {
    Sizes sizes = drawSizes(random, most);
    Layout a = drawLayout(random, sizes), b = random.between(0, 9) ? drawLayout(random, sizes) : a;
    std::vector<Element> from(size_t(a.elements(sizes))),
        to(size_t(b.elements(sizes)), Element(77));
    std::iota(from.begin(), from.end(), Element(1));
    if (a.zeroPadded) {
      // Padding of the source has the contents that its layout promises.
      std::vector<Element> clean(from.size());
      forEachPosition(sizes, [&](const Sizes &at) {
        size_t place = size_t(a.offset(sizes, at));
        clean[place] = from[place];
      });
      from = clean;
    }
    auto expected = slowly(from, a, to, b, sizes);
    relayout(from.data(), a, to.data(), b, sizes, sizeof(Element));
    bool padded = b.hasPadding(sizes);
    if (!padded || b.zeroPadded) {
      EXPECT_EQ(to, expected) << a.str() << " -> " << b.str();
      return;
    }
    forEachPosition(sizes, [&](const Sizes &at) {
      size_t place = size_t(b.offset(sizes, at));
      ASSERT_EQ(to[place], expected[place]) << a.str() << " -> " << b.str();
    });
  });
}

TEST(Relayout, RandomLayoutsOfBytes) { checkRandomCopies<uint8_t>(300, 5); }
TEST(Relayout, RandomLayoutsOfHalves) { checkRandomCopies<uint16_t>(300, 9); }
TEST(Relayout, RandomLayoutsOfWords) { checkRandomCopies<uint32_t>(600, 9); }
TEST(Relayout, RandomLayoutsOfDoubleWords) { checkRandomCopies<uint64_t>(300, 9); }

TEST(Relayout, LargeTranspositionsAndBlocks) {
  Sizes sizes = {{"a", 150}, {"b", 3}, {"c", 67}};
  std::vector<uint32_t> from(150 * 3 * 67);
  std::iota(from.begin(), from.end(), 0u);
  Layout a = Layout::rowMajor({"a", "b", "c"});
  for (const char *text :
       {"[c, b, a]", "[a, b, c]", "[a, c, b]", "[b, c floordiv 16, a, c mod 16], zero_padded",
        "[(a, c) floordiv 32, b, (a, c) mod 32], zero_padded",
        "[b pad(1, 1), a, c], zero_padded"}) {
    Layout b = *Layout::parse(text);
    std::vector<uint32_t> to(size_t(b.elements(sizes))), back(from.size());
    relayout(from.data(), a, to.data(), b, sizes, 4);
    EXPECT_EQ(to, slowly(from, a, to, b, sizes)) << text;
    relayout(to.data(), b, back.data(), a, sizes, 4);
    EXPECT_EQ(back, from) << text;
  }
}

TEST(Relayout, PaddingThatHasToBeZeroIsMadeZero) {
  // The same offsets without the promise: a copy as one block would copy the padding.
  for (const char *text :
       {"[i floordiv 4, i mod 4]", "[i pad(2, 3)]", "[(i, k) floordiv 8, (i, k) mod 8]"}) {
    Layout loose = *Layout::parse(text), zeroed = loose;
    zeroed.zeroPadded = true;
    Sizes sizes = {{"i", 10}};
    if (std::string(text).find('k') != std::string::npos)
      sizes["k"] = 3;
    size_t count = size_t(loose.elements(sizes));
    std::vector<uint32_t> from(count), to(count, 77), expected(count, 0);
    std::iota(from.begin(), from.end(), 1u);
    size_t filled = 0;
    forEachPosition(sizes, [&](const Sizes &at) {
      size_t place = size_t(loose.offset(sizes, at));
      expected[place] = from[place];
      ++filled;
    });
    ASSERT_LT(filled, count) << text << " has no padding";
    relayout(from.data(), loose, to.data(), zeroed, sizes, 4);
    EXPECT_EQ(to, expected) << text;
    // A source with the same promise is copied as one block.
    std::vector<uint32_t> again(count, 77);
    relayout(to.data(), zeroed, again.data(), zeroed, sizes, 4);
    EXPECT_EQ(again, expected) << text;
  }
}

TEST(Relayout, EmptyAndScalarTensors) {
  float value = 3, result = 0;
  relayout(&value, Layout(), &result, Layout(), {}, 4);
  EXPECT_EQ(result, 3);
  relayout(nullptr, Layout::rowMajor({"a"}), nullptr, Layout::rowMajor({"a"}), {{"a", 0}}, 4);
}
