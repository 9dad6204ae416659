//===- EmbeddingBagTest.cpp - bags compared with PyTorch ------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/EmbeddingBag.h"
#include "test/unit/Refused.h"
#include "test/unit/nn/Recorded.h"

using namespace heddle;
using namespace heddle::test;
using nn::BagMode;

namespace {
const Name bag("bag"), item("item"), position("position"), word("word"), feature("feature"),
    other("other");

const Recorded &recorded() {
  static const Recorded all("embedding-bag");
  return all;
}

const std::map<std::string, BagMode> modes{
    {"sum", BagMode::Sum}, {"mean", BagMode::Mean}, {"max", BagMode::Max}};

Tensor integers(const std::vector<int32_t> &values, const std::vector<Extent> &extents) {
  return Tensor::of<int32_t>(std::span<const int32_t>(values), extents);
}

void expectList(const std::string &name, BagMode mode, std::optional<int64_t> padding = {}) {
  for (bool isByLengths : {false, true})
    recorded().expect(
        name,
        [&](const Given &x) {
          nn::BagList list{.bag = bag};
          (isByLengths ? list.lengths : list.offsets) = x.at(isByLengths ? "lengths" : "offsets");
          if (x.contains("weight"))
            list.weight = x.at("weight");
          return nn::EmbeddingBag{x.at("table"), mode, padding}.ofList(x.at("index"), word, item,
                                                                       list);
        },
        /*check=*/true);
}

void expectRows(const std::string &name, BagMode mode, std::optional<int64_t> padding = {}) {
  recorded().expect(
      name,
      [&](const Given &x) {
        nn::BagOptions options;
        if (x.contains("weight"))
          options.weight = x.at("weight");
        return nn::EmbeddingBag{x.at("table"), mode, padding}(x.at("index"), word, position,
                                                              options);
      },
      /*check=*/true);
}
} // namespace

TEST(EmbeddingBag, HasPyTorchsNumbers) {
  for (const auto &[text, mode] : modes) {
    for (std::string end : {"", "-ties"}) {
      expectList("list-" + text + end, mode);
      expectList("list-padding-" + text + end, mode, 2);
      expectRows("rows-" + text + end, mode);
    }
    expectList("one-" + text, mode);
    expectRows("rows-padding-" + text, mode, 2);
  }
  expectList("list-weights", BagMode::Sum);
  expectRows("rows-weights", BagMode::Sum, 2);
}

/// Bags with arbitrary padding, and the same bags as a list.
TEST(EmbeddingBag, WhatBelongsToNoBagIsNotSeen) {
  Tensor table = random({{word, 5}, {feature, 3}}, 1);
  // Only padding refers to row 4.
  Tensor bad = select(equal(iota({word, 5}), 4.0), NAN, table);
  Tensor filled = integers({3, 1, 4, 4, -1, 99, 2, 0, 3}, {{bag, 3}, {position, 3}});
  Tensor lengths = integers({2, 0, 3}, {{bag, 3}});
  Tensor list = integers({3, 1, 2, 0, 3, 4, -7}, {{item, 7}});
  Tensor weight =
             Tensor::of<float>({2, 3, INFINITY, NAN, NAN, NAN, 1, 5, 7}, {{bag, 3}, {position, 3}}),
         weights = Tensor::of<float>({2, 3, 1, 5, 7, NAN, INFINITY}, {{item, 7}});
  for (const auto &[text, mode] : modes) {
    SCOPED_TRACE(text);
    auto ofRows = [&](Tensor table, Tensor weight) {
      nn::BagOptions options{.lengths = lengths};
      if (mode == BagMode::Sum)
        options.weight = weight;
      return nn::EmbeddingBag{table, mode, {}}(filled, word, position, options);
    };
    auto ofList = [&](Tensor table, Tensor weight) {
      nn::BagList each{.bag = bag, .lengths = lengths};
      if (mode == BagMode::Sum)
        each.weight = weight;
      return nn::EmbeddingBag{table, mode, {}}.ofList(list, word, item, each);
    };
    expectNear(valuesOf(ofRows(bad, weight)),
               mapped(valuesOf(ofRows(table, weight)), [](double y) { return y; }));
    expectNear(valuesOf(ofList(bad, weights)),
               mapped(valuesOf(ofRows(table, weight)), [](double y) { return y; }));
    // Gradients, with coordinates checked.
    auto slope = jit(
        [&](Tensor t) {
          return std::pair(
              grad([&](Tensor t) { return sum(square(ofRows(t, weight)), {bag, feature}); }, t),
              grad([&](Tensor t) { return sum(square(ofList(t, weights)), {bag, feature}); }, t));
        },
        {.check = true});
    auto [rows, items] = slope(table);
    expectNear(valuesOf(items), mapped(valuesOf(rows), [](double y) { return y; }));
    for (float value : valuesOf(slope(bad).first.at(word, 4)))
      EXPECT_EQ(value, 0);
    for (float value : valuesOf(slope(bad).second))
      EXPECT_TRUE(std::isfinite(value));
  }
}

TEST(EmbeddingBag, OfManyListsAtOnce) {
  Tensor table = random({{word, 5}, {feature, 2}}, 1);
  Tensor index = integers({3, 1, 4, 4, 2, 0}, {{other, 2}, {item, 3}});
  Tensor begins = integers({0, 1, 2, 0, 0, 3}, {{other, 2}, {bag, 3}});
  for (const auto &[text, mode] : modes) {
    nn::EmbeddingBag layer{table, mode, {}};
    Tensor both = layer.ofList(index, word, item, {.bag = bag, .offsets = begins});
    for (int64_t i : {0, 1}) {
      Tensor one = layer.ofList(index.at(other, i), word, item,
                                {.bag = bag, .offsets = begins.at(other, i)});
      EXPECT_EQ(valuesOf(both.at(other, i)), valuesOf(one)) << text;
    }
  }
}

TEST(EmbeddingBag, ListsWithoutBags) {
  Tensor table = random({{word, 5}, {feature, 2}}, 1), index = integers({3, 1, 4}, {{item, 3}});
  for (const auto &[text, mode] : modes)
    for (bool areOffsets : {false, true}) {
      nn::BagList list{.bag = bag};
      (areOffsets ? list.offsets : list.lengths) = integers({}, {{bag, 0}});
      auto of = [&](Tensor table) {
        return nn::EmbeddingBag{table, mode, {}}.ofList(index, word, item, list);
      };
      Tensor y = jit(of, {.check = true})(table);
      EXPECT_EQ(y.sizes(), (Sizes{{"bag", 0}, {"feature", 2}})) << text;
      Tensor slope = grad([&](Tensor t) { return sum(of(t), {bag, feature}); }, table);
      EXPECT_EQ(valuesOf(slope), std::vector<float>(10, 0)) << text;
    }
}

TEST(EmbeddingBag, ListsThatDoNotFit) {
  nn::EmbeddingBag layer = nn::EmbeddingBag::make({word, 5}, {feature, 2}, key(1), BagMode::Sum);
  Tensor index = integers({3, 1, 4}, {{item, 3}});
  auto of = [&](const nn::BagList &list) { return layer.ofList(index, word, item, list); };
  for (const std::vector<int32_t> &wrong :
       std::vector<std::vector<int32_t>>{{0, 4}, {2, 1}, {-1, 2}}) {
    Tensor y = of({.bag = bag, .offsets = integers(wrong, {{bag, 2}})});
    for (float value : valuesOf(y))
      EXPECT_TRUE(std::isnan(value)) << wrong[0];
  }
  for (const std::vector<int32_t> &wrong : std::vector<std::vector<int32_t>>{{2, 2}, {-1, 2}})
    for (float value : valuesOf(of({.bag = bag, .lengths = integers(wrong, {{bag, 2}})})))
      EXPECT_TRUE(std::isnan(value)) << wrong[0];
  refused([&] { of({.bag = bag}); }, {"either offsets or lengths of the bags along 'bag'"});
  refused([&] { of({.bag = bag, .offsets = zeros({{bag, 2}})}); }, {"expected integers"});
  nn::EmbeddingBag most{layer.table, BagMode::Max, {}};
  refused([&] { most(index, word, item, {.weight = zeros({{item, 3}})}); },
          {"weights in sums only"});
  refused([&] { most(zeros({{item, 3}}), word, item); }, {"an index of integers"});
  refused([&] { most(index, word, position); }, {"an x with the name 'position'"});
}

/// One program for lists of every length, and for any number of bags.
TEST(EmbeddingBag, SymbolicSizes) {
  Tensor table = random({{word, 5}, {feature, 3}}, 1);
  auto all = [&](Tensor index, Tensor begins) {
    std::vector<Tensor> values;
    for (const auto &[text, mode] : modes) {
      auto of = [&](Tensor table) {
        return nn::EmbeddingBag{table, mode, {}}.ofList(index, word, item,
                                                        {.bag = bag, .offsets = begins});
      };
      values.push_back(of(table));
      values.push_back(grad([&](Tensor t) { return sum(square(of(t)), {bag, feature}); }, table));
    }
    return values;
  };
  auto any = jit(all, withSymbolic({item, bag})), one = jit(all, withSymbolic({}));
  for (int32_t size : {4, 7}) {
    std::vector<int32_t> numbers, begins{0, 2, 2};
    for (int32_t i = 0; i < size; ++i)
      numbers.push_back(i * 3 % 5);
    if (size == 7)
      begins.push_back(5);
    Tensor index = integers(numbers, {{item, size}}),
           first = integers(begins, {{bag, int64_t(begins.size())}});
    std::vector<Tensor> got = any(index, first), wanted = one(index, first);
    for (size_t i = 0; i < wanted.size(); ++i)
      expectNear(valuesOf(got[i]), mapped(valuesOf(wanted[i]), [](double y) { return y; }));
  }
}

/// In f16 a sum of ones stops at 2048: 2048 + 1 is 2048.
TEST(EmbeddingBag, NarrowTablesAreSummedInF32) {
  Tensor table = constant(1, ElementType::F16, {{word, 2}, {feature, 1}});
  Tensor index = zeros({{item, 4000}}, ElementType::I32),
         begins = zeros({{bag, 1}}, ElementType::I32);
  for (BagMode mode : {BagMode::Sum, BagMode::Mean}) {
    nn::EmbeddingBag layer{table, mode, {}};
    double wanted = mode == BagMode::Sum ? 4000 : 1;
    EXPECT_EQ(layer(index, word, item).cast(ElementType::F32).at(feature, 0).item(), wanted);
    Tensor y = layer.ofList(index, word, item, {.bag = bag, .offsets = begins});
    EXPECT_EQ(y.cast(ElementType::F32).at(feature, 0).at(bag, 0).item(), wanted);
  }
}
