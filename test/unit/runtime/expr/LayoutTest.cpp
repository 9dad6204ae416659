//===- LayoutTest.cpp - layouts -------------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/runtime/Random.h"
#include "test/unit/runtime/RandomLayout.h"

#include <set>

using namespace heddle;

TEST(Layout, TheExampleOfTheHeader) {
  auto layout = Layout::parse("[batch, channel floordiv 16, row, column, channel mod 16]");
  ASSERT_TRUE(layout);
  Sizes sizes = {{"batch", 8}, {"channel", 20}, {"row", 4}, {"column", 4}};
  EXPECT_EQ(layout->verify(sizes), "");
  EXPECT_EQ(layout->extents(sizes), (std::vector<int64_t>{8, 2, 4, 4, 16}));
  EXPECT_EQ(layout->elements(sizes), 8 * 2 * 4 * 4 * 16);
  EXPECT_TRUE(layout->hasPadding(sizes));
  Sizes at = {{"batch", 3}, {"channel", 18}, {"row", 1}, {"column", 2}};
  EXPECT_EQ(layout->offset(sizes, at), (((3 * 2 + 1) * 4 + 1) * 4 + 2) * 16 + 2);
}

TEST(Layout, BlocksOfADivisibleNameMakeAnAffineAddress) {
  auto layout = Layout::parse("[a floordiv 16, a mod 16]");
  EXPECT_EQ(layout->address({{"a", 64}}), Expr::name("a"));
  EXPECT_FALSE(layout->hasPadding({{"a", 64}}));
}

TEST(Layout, TextRoundTrips) {
  for (const char *text :
       {"[]", "[a]", "[a, b floordiv 16, b mod 16]", "[(a, b) floordiv 16, c, (a, b) mod 16]",
        "[a pad(1, 2), b], align 128", "[a pad(1, 0) floordiv 4, a pad(1, 0) mod 4], zero_padded",
        "[a], align 256, zero_padded, swizzle(3, 4, 3)", "[mod, floordiv]"}) {
    std::string error;
    auto layout = Layout::parse(text, &error);
    ASSERT_TRUE(layout) << text << ": " << error;
    EXPECT_EQ(layout->str(), text);
  }
}

TEST(Layout, TextIsRefusedWithAReason) {
  for (const char *text : {"", "a", "[a", "[a,]", "[a floordiv 0]", "[a mod]", "[(a, b]",
                           "[a] align 64", "[a], align 3", "[a], align", "[a], swizzle(1, 2)",
                           "[a pad(1)]", "[a pad(-1, 0)]", "[a], nonsense", "[3]"}) {
    std::string error;
    EXPECT_FALSE(Layout::parse(text, &error)) << text;
    EXPECT_NE(error.find("expected"), std::string::npos) << text << ": " << error;
  }
  std::string error; // for a long text it shows the part
  EXPECT_FALSE(
      Layout::parse("[batch, channel floordiv none, row, column, channel mod 16]", &error));
  EXPECT_EQ(error, "expected an integer of at least 1 at column 26 of the layout, got 'none'");
}

TEST(Layout, VerifyNamesTheDimensionAtFault) {
  Sizes sizes = {{"a", 20}, {"b", 3}};
  auto message = [&](const char *text) { return Layout::parse(text)->verify(sizes); };
  EXPECT_EQ(message("[a, b]"), "");
  EXPECT_EQ(message("[a floordiv 16, b, a mod 16]"), "");
  EXPECT_EQ(message("[(a, b) floordiv 16, (a, b) mod 16]"), "");
  EXPECT_EQ(message("[a]"), "the layout lacks 'b'");
  EXPECT_EQ(message("[a, b, c]"), "the layout mentions 'c', which the tensor does not have");
  EXPECT_EQ(message("[a, (a, b)]"), "the layout has 'a' in two different groups");
  EXPECT_EQ(message("[a floordiv 16, b]"), "the layout lacks 'a mod 16'");
  EXPECT_NE(message("[a floordiv 16, a mod 8, b]").find("do not continue one another"),
            std::string::npos);
  EXPECT_NE(message("[a mod 16, b]").find("distinguish 20 elements"), std::string::npos);
  EXPECT_NE(message("[a pad(1, 0) floordiv 4, a mod 4, b]").find("different borders"),
            std::string::npos);
  EXPECT_NE(message("[a, a, b]").find("do not continue"), std::string::npos);
  EXPECT_NE(message("[a, b], swizzle(2, 0, 0)").find("swizzle"), std::string::npos);
}

TEST(Layout, SizesBeyondMemoryAreRefused) {
  int64_t huge = int64_t(1) << 40;
  EXPECT_NE(Layout::parse("[a, b]")->verify({{"a", huge}, {"b", huge}}).find("2^48"),
            std::string::npos);
  EXPECT_NE(Layout::parse("[a pad(281474976710656, 0), b floordiv 4, b mod 4]")
                ->verify({{"a", 3}, {"b", 3}})
                .find("2^48"),
            std::string::npos);
}

TEST(Layout, EmptyTensorsTakeNoMemory) {
  auto layout = Layout::parse("[a floordiv 16, b, a mod 16]");
  EXPECT_EQ(layout->verify({{"a", 0}, {"b", 3}}), "");
  EXPECT_EQ(layout->elements({{"a", 0}, {"b", 3}}), 0);
}

TEST(Layout, RenameKeepsTheRest) {
  auto layout = Layout::parse("[(a, b) mod 4, c]");
  EXPECT_EQ(layout->rename({{"a", "b"}, {"b", "a"}}).str(), "[(b, a) mod 4, c]");
}

TEST(Layout, RandomLayoutsGiveEveryElementItsOwnPlace) {
  forRandomSeeds(400, [](Random &random) {
    Sizes sizes = drawSizes(random);
    Layout layout = drawLayout(random, sizes);
    ASSERT_EQ(layout.verify(sizes), "") << layout.str();
    auto again = Layout::parse(layout.str());
    ASSERT_TRUE(again) << layout.str();
    EXPECT_EQ(*again, layout) << layout.str();
    Expr address = layout.address(sizes);
    std::set<int64_t> places;
    int64_t count = 0;
    forEachPosition(sizes, [&](const Sizes &position) {
      int64_t place = layout.offset(sizes, position);
      ASSERT_TRUE(place >= 0 && place < layout.elements(sizes)) << layout.str();
      ASSERT_TRUE(places.insert(place).second) << layout.str() << " uses " << place << " twice";
      ++count;
      if (layout.swizzle == Layout::Swizzle()) {
        ASSERT_EQ(address.evaluate([&](const std::string &name) {
          return std::optional<int64_t>(position.at(name));
        }),
                  place)
            << layout.str() << ": " << address.str();
      }
    });
    EXPECT_EQ(layout.hasPadding(sizes), layout.elements(sizes) != count);
  });
}
