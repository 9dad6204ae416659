//===- PoolingTest.cpp - pooling compared with PyTorch --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Pooling.h"
#include "test/unit/Refused.h"
#include "test/unit/nn/Recorded.h"

using namespace heddle;
using namespace heddle::test;

namespace {
const Name batch("batch"), channel("channel"), row("row"), column("column"), depth("depth");

const Recorded &recorded() {
  static const Recorded all("pooling");
  return all;
}

/// The maxima, their gradients and their positions.
void expectMost(const std::string &name, const nn::Windows &windows,
                const nn::MaxPoolOptions &options) {
  auto of = [&](const Given &x) { return nn::maxPool(x.at("x"), windows, options); };
  recorded().expect(name, of, /*check=*/true);
  Tensor x = recorded().inputs(name).at("x");
  nn::Pooled pooled = nn::maxPoolPlaces(x, windows, options);
  expectSame(pooled.values, recorded().at(name + ".output"), name);
  for (const auto &[along, place] : pooled.at)
    recorded().expectResult(name, along.str(), place);
  expectSame(x.gather(pooled.at), pooled.values, name + ": what is at the places");
}

std::vector<std::string> numbered(const std::string &name, int count) {
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i)
    all.push_back(name + "." + std::to_string(i));
  return all;
}

const nn::Windows uneven{{row, {.size = 3, .stride = 2, .padding = nn::padded(1)}},
                         {column, {.size = 2, .stride = 3}}};
} // namespace

TEST(Pooling, LargestElementsAndTheirPlaces) {
  nn::Windows dilated{{row, {.size = 2, .stride = 2, .dilation = 2, .padding = nn::padded(1)}},
                      {column, {.size = 2, .stride = 2, .padding = nn::padded(1)}}};
  for (const std::string &name : numbered("max-ceil", 3))
    expectMost(name, uneven, {.ceil = true});
  for (const std::string &name : numbered("max-floor", 3))
    expectMost(name, uneven, {});
  for (const std::string &name : numbered("max-dilated", 3))
    expectMost(name, dilated, {.ceil = true});
  expectMost("max-1d", {{row, {.size = 3, .stride = 2}}}, {.ceil = true});
  expectMost("max-3d", {over(row, column, depth), {.size = 2, .stride = 2}}, {.ceil = true});
}

/// The first of equal elements, row-major over the sorted names, whose order is PyTorch's here.
TEST(Pooling, Ties) {
  const std::string name = "max-ties";
  const Name first("a"), second("b");
  nn::Windows windows{over(first, second), {.size = 3, .stride = 2, .padding = nn::padded(1)}};
  std::vector<Rename> there{{row, first}, {column, second}}, back{{first, row}, {second, column}};
  recorded().expect(name, [&](const Given &x) {
    return nn::maxPool(x.at("x").rename(there), windows, {.ceil = true}).rename(back);
  });
  nn::Pooled pooled =
      nn::maxPoolPlaces(recorded().inputs(name).at("x").rename(there), windows, {.ceil = true});
  recorded().expectResult(name, "row", pooled.at[0].second.rename(back));
  recorded().expectResult(name, "column", pooled.at[1].second.rename(back));
}

/// Some names are padded as `Same` says, others beyond their end, and the zeros of both count.
TEST(Pooling, MeansOfPaddingsThatDiffer) {
  Tensor x = constant(1, ElementType::F32, {{row, 3}, {column, 4}});
  nn::Windows windows{{column, {.size = 3, .stride = 2, .padding = Same}},
                      {row, {.size = 2, .stride = 2}}};
  // Columns 0 to 2 and 2 to 3 with a zero behind, rows 0 to 1 and 2 alone.
  Tensor y = nn::averagePool(x, windows, {.ceil = true});
  expectNear(y.to<float>({row, column}), {1, 2.0 / 3, 1, 2.0 / 3});
  Tensor inside = nn::averagePool(x, windows, {.ceil = true, .countPadding = false});
  expectNear(inside.to<float>({row, column}), {1, 1, 1, 1});
  Tensor few = nn::averagePool(x, windows, {.ceil = true, .divisor = 2});
  expectNear(few.to<float>({row, column}), {3, 2, 1.5, 1});
}

TEST(Pooling, InfinitiesAndNan) {
  expectMost("max-edges", {over(row, column), {.size = 2, .stride = 2}}, {});
}

TEST(Pooling, Means) {
  for (bool ceil : {false, true}) {
    std::string end = ceil ? "-ceil" : "";
    for (const auto &[word, options] : std::map<std::string, nn::AveragePoolOptions>{
             {"padded", {.ceil = ceil}},
             {"inside", {.ceil = ceil, .countPadding = false}},
             {"divisor", {.ceil = ceil, .divisor = 5}}})
      for (const std::string &name : numbered("average-" + word + end, 3))
        recorded().expect(
            name, [&](const Given &x) { return nn::averagePool(x.at("x"), uneven, options); },
            /*check=*/true);
  }
  recorded().expect("average-1d", [](const Given &x) {
    return nn::averagePool(x.at("x"), {{row, {.size = 3, .stride = 4, .padding = nn::padded(1)}}},
                           {.ceil = true});
  });
  recorded().expect("average-3d", [](const Given &x) {
    return nn::averagePool(x.at("x"), {over(row, column, depth), {.size = 2, .stride = 2}},
                           {.ceil = true});
  });
}

TEST(Pooling, ElementsGoBackToTheirPlaces) {
  recorded().expect("unpool", [](const Given &x) {
    return nn::maxUnpool(x.at("values"), {{row, x.at("row")}, {column, x.at("column")}},
                         {{column, 6}, {row, 4}});
  });
}

TEST(Pooling, RangesOfSizesByName) {
  std::vector<nn::PerName> parts{{{row, 3}, {column, 4}},
                                 {{row, 3}, {column, 5}},
                                 {{row, 1}, {column, 2}},
                                 {{row, 4}, {column, 1}}};
  for (size_t i = 0; i < parts.size(); ++i) {
    for (std::string word : {"adaptive-max.", "adaptive-max-ties."}) {
      std::string name = word + std::to_string(i);
      recorded().expect(
          name,
          [&](const Given &x) {
            return nn::adaptiveMaxPool(x.at("x"), over(row, column), parts[i]);
          },
          /*check=*/true);
      nn::Pooled pooled =
          nn::adaptiveMaxPoolPlaces(recorded().inputs(name).at("x"), over(row, column), parts[i]);
      for (const auto &[along, place] : pooled.at)
        recorded().expectResult(name, along.str(), place);
    }
    recorded().expect("adaptive-average." + std::to_string(i), [&](const Given &x) {
      return nn::adaptiveAveragePool(x.at("x"), over(row, column), parts[i]);
    });
  }
}

/// One program for every size gives what programs of one size give.
TEST(Pooling, SymbolicSizes) {
  auto all = [](Tensor x) {
    nn::Windows same{over(row, column), {.size = 3, .stride = 2, .padding = Same}};
    nn::Pooled most = nn::maxPoolPlaces(x, uneven, {.ceil = true}),
               evenly = nn::maxPoolPlaces(x, same),
               parts = nn::adaptiveMaxPoolPlaces(x, over(row, column), 3);
    std::vector<Tensor> values{most.values, evenly.values, parts.values,
                               nn::averagePool(x, uneven, {.ceil = true}),
                               nn::averagePool(x, uneven, {.ceil = true, .divisor = 3})};
    for (const nn::Pooled &each : {most, evenly, parts})
      for (const auto &[along, place] : each.at)
        values.push_back(place.cast(ElementType::F32));
    auto sums = [&](Tensor x) {
      Tensor y = nn::averagePool(nn::maxPool(x, uneven, {.ceil = true}), same);
      return sum(y * y, over(batch, row, column));
    };
    values.push_back(grad(sums, x));
    return values;
  };
  auto any = jit(all, withSymbolic({row, column})), one = jit(all, withSymbolic({}));
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{7, 6}, {6, 7}, {5, 9}}) {
    Tensor x = random({{batch, 2}, {row, rows}, {column, columns}}, uint64_t(rows));
    std::vector<Tensor> got = any(x), wanted = one(x);
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i)
      expectNear(valuesOf(got[i]), mapped(valuesOf(wanted[i]), [](double y) { return y; }));
  }
}

/// 70,000 ones: neither their sum nor the divisor is representable in f16.
TEST(Pooling, DivisorsAreNotRounded) {
  Tensor x = constant(1, ElementType::F16, {{row, 70000}});
  Tensor y = nn::averagePool(x, {{row, {.size = 70000}}}, {.divisor = 70000});
  EXPECT_EQ(y.cast(ElementType::F32).item(), 1);
}

TEST(Misuse, Pools) {
  Tensor x = zeros({{row, 4}, {column, 4}});
  refused([&] { nn::maxPool(x, nn::Windows()); }, {"at least one name to pool along"});
  refused([&] { nn::maxPool(x, {{depth, {.size = 2}}}); }, {"an x with the name 'depth'"});
  refused([&] { nn::averagePool(x, {{row, {.size = 2}}}, {.divisor = 0}); },
          {"a divisor other than 0"});
  refused([&] { nn::adaptiveMaxPool(x, over(row, row), 2); }, {"'row' twice"});
  refused([&] { nn::adaptiveMaxPool(x, over(row, column), {{row, 2}}); },
          {"at least 1 part", "'column', got 0 of 4"});
  refused([&] { nn::maxUnpool(x, {{row, iota({row, 4})}}, {{column, 8}}); },
          {"sizes of the names that have places, 'row', got 'column'"});
}
