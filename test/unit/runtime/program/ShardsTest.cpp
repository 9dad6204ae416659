//===- ShardsTest.cpp - tensors that are split over ranks -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/runtime/RandomLayout.h"

#include "heddle/Error.h"
#include "runtime/program/Shards.h"

#include <cstring>
#include <numeric>
#include <set>

using namespace heddle;
using Interval = Shards::Interval;

/// The interval of `name` that each rank holds.
static std::vector<Interval> held(const Shards &shards, const std::string &name) {
  std::vector<Interval> result;
  for (int64_t rank = 0; rank < shards.mesh().ranks(); ++rank)
    result.push_back(shards.heldBy(rank).at(name));
  return result;
}

TEST(Shards, TrailingBlocksAreShortOrEmpty) {
  auto over = [](int64_t ranks, int64_t size) {
    return Shards({{{"data", ranks}}}, {{"i", {"data"}}}, {{"i", size}});
  };
  using List = std::vector<Interval>;
  EXPECT_EQ(held(over(4, 5), "i"), (List{{0, 2}, {2, 2}, {4, 1}, {5, 0}}));
  EXPECT_EQ(held(over(8, 9), "i"),
            (List{{0, 2}, {2, 2}, {4, 2}, {6, 2}, {8, 1}, {9, 0}, {9, 0}, {9, 0}}));
  EXPECT_EQ(held(over(2, 1), "i"), (List{{0, 1}, {1, 0}}));
  EXPECT_EQ(held(over(3, 0), "i"), (List{{0, 0}, {0, 0}, {0, 0}}));
  EXPECT_EQ(over(4, 5).blockSizes(), (Sizes{{"i", 2}}));
  EXPECT_EQ(over(3, 0).blockSizes(), (Sizes{{"i", 0}}));
}

TEST(Shards, TheFirstOfSeveralAxesIsTheSlowest) {
  MeshSpec mesh{{{"data", 2}, {"model", 3}}};
  Shards dataFirst(mesh, {{"i", {"data", "model"}}}, {{"i", 6}});
  Shards modelFirst(mesh, {{"i", {"model", "data"}}}, {{"i", 6}});
  for (int64_t rank = 0; rank < 6; ++rank) {
    EXPECT_EQ(dataFirst.heldBy(rank).at("i").begin, rank);
    EXPECT_EQ(modelFirst.heldBy(rank).at("i").begin, rank % 3 * 2 + rank / 3);
  }
}

TEST(Shards, PartsOfAxes) {
  MeshSpec mesh{{{"data", 12}}};
  Shards shards(mesh, {{"i", {"data(1)2"}}, {"j", {"data(2)3"}}}, {{"i", 2}, {"j", 3}});
  EXPECT_EQ(shards.blocks(), 6);
  for (int64_t rank = 0; rank < 12; ++rank) {
    EXPECT_EQ(shards.heldBy(rank).at("i").begin, rank / 6);
    EXPECT_EQ(shards.heldBy(rank).at("j").begin, rank / 2 % 3);
    EXPECT_EQ(shards.firstHolder(rank), rank / 2 * 2);
  }
  EXPECT_EQ(AxisPart::parse("data(2)4")->before, 2);
  EXPECT_EQ(AxisPart::parse("data(2)4")->count, 4);
  EXPECT_EQ(AxisPart::parse("data")->count, 0);
  for (const char *text : {"", "(1)2", "data(", "data(0)2", "data(2)", "data(2)0", "data(2)4x",
                           "data(-1)2", "data(99999999999999999999)2"})
    EXPECT_FALSE(AxisPart::parse(text)) << text;
}

TEST(Shards, FirstHoldersOfReplicas) {
  MeshSpec mesh{{{"data", 2}, {"model", 2}, {"stage", 2}}};
  Shards shards(mesh, {{"i", {"model"}}}, {{"i", 5}});
  EXPECT_EQ(shards.firstHolders(), (std::vector<int32_t>{0, 2}));
  EXPECT_EQ(shards.firstHolder(7), 2);
  EXPECT_EQ(shards.firstHolder(5), 0);
  EXPECT_EQ(shards.splittingAxes(), (AxisList{"model"}));
  EXPECT_TRUE(shards.isSplit());
  Shards replicated(mesh, {}, {{"i", 5}});
  EXPECT_EQ(replicated.firstHolders(), (std::vector<int32_t>{0}));
  EXPECT_EQ(replicated.firstHolder(7), 0);
  EXPECT_FALSE(replicated.isSplit());
  EXPECT_EQ(Shards({}, {}, {}).firstHolders(), (std::vector<int32_t>{0}));
}

static std::string problemOf(const MeshSpec &mesh, const Sharding &axes, const Sizes &sizes) {
  try {
    Shards shards(mesh, axes, sizes);
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

TEST(Shards, BadShardingsAreRefused) {
  MeshSpec mesh{{{"data", 12}, {"model", 2}}};
  Sizes sizes = {{"i", 4}, {"j", 4}};
  for (const auto &[axes, expected] : std::vector<std::pair<Sharding, std::string>>{
           {{{"i", {"rows"}}}, "the axis 'rows', which the mesh data=12, model=2 lacks"},
           {{{"i", {"data", "data"}}}, "the axis 'data' twice, on 'i' and 'i'"},
           {{{"i", {"data"}}, {"j", {"data"}}}, "the axis 'data' twice, on 'i' and 'j'"},
           {{{"i", {"data(1)2"}}, {"j", {"data(1)4"}}}, "the axis 'data' twice, on 'i' and 'j'"},
           {{{"i", {"data(2)2"}}, {"j", {"data(3)2"}}}, "the axis 'data' twice"},
           {{{"i", {"data(1)2"}}, {"j", {"data(3)2"}}}, "the axis 'data' twice"},
           {{{"i", {"data(1)5"}}}, "'data(1)5', which does not divide the 12 ranks"},
           {{{"i", {"data(8)4611686018427387904"}}}, "does not divide the 12 ranks"},
           {{{"i", {"data("}}}, "the axis 'data(', expected one such as data or data(2)4"},
           {{{"k", {"data"}}}, "splits 'k', which the tensor lacks"}}) {
    std::string problem = problemOf(mesh, axes, sizes);
    EXPECT_NE(problem.find(expected), std::string::npos) << problem << "\n" << expected;
  }
  EXPECT_EQ(problemOf(mesh, {{"i", {"data(6)2", "data(1)2"}}, {"j", {"data(2)3"}}}, sizes), "");
  EXPECT_NE(problemOf(mesh, {}, {{"i", -1}}), "");
}

/// A random list of axes and parts for the names, each axis at most once.
static Sharding drawShards(Random &random, const MeshSpec &mesh, const Sizes &sizes) {
  std::vector<std::string> parts;
  for (const auto &[axis, size] : mesh.axes)
    if (size % 2 == 0 && random.between(0, 2) == 0) {
      parts.push_back(axis + "(1)2");
      parts.push_back(axis + "(2)" + std::to_string(size / 2));
    } else {
      parts.push_back(axis);
    }
  random.shuffle(parts);
  std::vector<std::string> names;
  for (const auto &[name, size] : sizes)
    names.push_back(name);
  Sharding axes;
  for (const std::string &part : parts)
    if (!names.empty() && random.between(0, 3))
      axes[random.oneOf(names)].push_back(part);
  return axes;
}

static TensorSpec specOf(const Sizes &sizes) {
  TensorSpec spec{ElementType::I32, {}};
  for (const auto &[name, size] : sizes)
    spec.dims[name] = size;
  return spec;
}

static int32_t &at(const RuntimeTensor &tensor, const Sizes &position) {
  return static_cast<int32_t *>(tensor.address())[tensor.layout().offset(tensor.sizes(), position)];
}

/// A tensor whose elements are 1, 2, ... and whose padding is 0.
static TensorRef numbered(const Sizes &sizes, const Layout &layout) {
  auto tensor = std::make_shared<RuntimeTensor>(specOf(sizes), layout);
  std::memset(tensor->address(), 0, size_t(tensor->bytes()));
  int32_t next = 0;
  forEachPosition(sizes, [&](const Sizes &position) { at(*tensor, position) = ++next; });
  return tensor;
}

// In any layouts: every element of the tensor is in the block of the rank that holds it, lanes
// beyond the tensor are zero, and the first holders' blocks together are the tensor.
TEST(Shards, RandomTensorsAreCutAndPutTogether) {
  forRandomSeeds(250, [](Random &random) {
    MeshSpec mesh;
    for (int64_t i = random.between(0, 3); i > 0; --i)
      mesh.axes.emplace_back(std::string(1, char('x' + i)), random.between(1, 4));
    Sizes sizes = drawSizes(random, 7);
    if (!sizes.empty() && random.between(0, 9) == 0)
      sizes.begin()->second = 0;
    Shards shards(mesh, drawShards(random, mesh, sizes), sizes);
    TensorRef tensor = numbered(sizes, drawLayout(random, sizes));
    RuntimeTensor joined(specOf(sizes), drawLayout(random, sizes));
    if (joined.bytes() > 0)
      std::memset(joined.address(), 0, size_t(joined.bytes()));
    std::set<int32_t> seen;
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
      Shards::Intervals intervals = shards.heldBy(rank);
      TensorRef block = shards.cut(*tensor, rank, drawLayout(random, shards.blockSizes()));
      ASSERT_EQ(block->sizes(), shards.blockSizes());
      forEachPosition(shards.blockSizes(), [&](Sizes position) {
        Sizes global = position;
        bool isInside = true;
        for (const auto &[name, part] : intervals) {
          global[name] += part.begin;
          isInside &= position[name] < part.count;
        }
        ASSERT_EQ(at(*block, position), isInside ? at(*tensor, global) : 0)
            << "rank " << rank << " of " << mesh.describe() << " " << describe(shards.axes());
      });
      ASSERT_TRUE(shards.cut(*tensor, shards.firstHolder(rank))->sizes() == block->sizes());
      ASSERT_EQ(shards.heldBy(shards.firstHolder(rank)), intervals);
      seen.insert(int32_t(shards.firstHolder(rank)));
      if (shards.firstHolder(rank) == rank)
        shards.put(*block, rank, joined);
    }
    auto first = shards.firstHolders();
    ASSERT_EQ(std::vector<int32_t>(seen.begin(), seen.end()), first);
    ASSERT_EQ(int64_t(first.size()), shards.blocks());
    forEachPosition(sizes, [&](const Sizes &position) {
      ASSERT_EQ(at(joined, position), at(*tensor, position))
          << tensor->layout().str() << " -> " << joined.layout().str();
    });
  });
}

TEST(Shards, PutKeepsWhatOtherRanksHold) {
  Shards shards({{{"data", 2}}}, {{"i", {"data"}}}, {{"i", 3}});
  RuntimeTensor tensor(specOf({{"i", 3}}), *Layout::parse("[i pad(1, 1)], zero_padded"));
  std::vector<int32_t> values = {1, 2, 3};
  tensor.copyFrom(values.data(), {"i"});
  TensorRef block = numbered({{"i", 2}}, Layout::rowMajor({"i"}));
  shards.put(*block, 1, tensor);
  tensor.copyTo(values.data(), {"i"});
  EXPECT_EQ(values, (std::vector<int32_t>{1, 2, 1}));
}

TEST(Shards, PlacesAreOnPartsAndOnSeveralAxes) {
  MeshSpec mesh{{{"stage", 2}, {"data", 4}}};
  auto holders = [](const Shards &shards) {
    std::vector<int64_t> ranks;
    for (int64_t rank = 0; rank < 8; ++rank)
      if (shards.holds(rank))
        ranks.push_back(rank);
    return ranks;
  };
  Shards part(mesh, {{"i", {"data(2)2"}}}, {{"i", 5}}, {{"data(1)2", 1}});
  EXPECT_EQ(holders(part), (std::vector<int64_t>{2, 3, 6, 7}));
  EXPECT_EQ(part.firstHolders(), (std::vector<int32_t>{2, 3}));
  EXPECT_EQ(part.firstHolder(7), 3);
  EXPECT_EQ(part.heldBy(7).at("i").begin, 3);
  Shards both(mesh, {}, {{"i", 5}}, {{"stage", 1}, {"data(2)2", 1}});
  EXPECT_EQ(holders(both), (std::vector<int64_t>{5, 7}));
  EXPECT_EQ(both.firstHolder(0), 5);
  EXPECT_EQ(both.splittingAxes(), (AxisList{"stage", "data"}));
  EXPECT_EQ(holders(Shards(mesh, {}, {{"i", 5}}, {{"data", 1}, {"data", 3}, {"stage", 0}})),
            (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(verifyPlace(mesh, {{"data(1)2", 2}}),
            "data(1)2=2, expected coordinates of axes of the mesh stage=2, data=4");
  EXPECT_EQ(verifyPlace(mesh, {{"data(1)3", 0}}),
            "data(1)3=0, expected coordinates of axes of the mesh stage=2, data=4");
  EXPECT_EQ(verifyPlace(mesh, {{"data", 3}, {"data(1)2", 1}}),
            "coordinates of the axis 'data' twice");
}

TEST(Shards, OtherTensorsAreRefused) {
  Shards shards({{{"data", 2}}}, {{"i", {"data"}}}, {{"i", 3}});
  auto message = [](auto &&action) -> std::string {
    try {
      action();
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  };
  TensorRef whole = numbered({{"i", 3}}, Layout::rowMajor({"i"}));
  TensorRef other = numbered({{"i", 4}}, Layout::rowMajor({"i"}));
  TensorRef block = shards.cut(*whole, 0);
  EXPECT_NE(message([&] {
              (void)shards.cut(*other, 0);
            }).find("expected a whole tensor of type i32 {i: 3}, got i32 {i: 4}"),
            std::string::npos);
  EXPECT_NE(message([&] { shards.put(*other, 0, *whole); }).find("expected a block"),
            std::string::npos);
  RuntimeTensor floats({ElementType::F32, {{"i", 2}}}, Layout::rowMajor({"i"}));
  EXPECT_NE(message([&] { shards.put(floats, 0, *whole); }).find("expected a block of i32"),
            std::string::npos);
  auto taken = RuntimeTensor::withoutMemory(whole->storedType());
  taken->takeOver(*whole);
  whole->donatedTo = "step";
  EXPECT_NE(message([&] { (void)shards.cut(*whole, 0); }).find("donated to 'step'"),
            std::string::npos);
}

TEST(Shards, LeastPaddingSplitsTheNamesThatFit) {
  auto over = [](int64_t ranks, const Sizes &sizes) {
    return leastPadding({{{"data", ranks}}}, {"data"}, sizes);
  };
  EXPECT_EQ(over(8, {{"in", 4}, {"out", 6}}),
            (Sharding{{"in", {"data(2)4"}}, {"out", {"data(1)2"}}}));
  EXPECT_EQ(over(64, {{"embed", 768}, {"word", 50257}}), (Sharding{{"embed", {"data"}}}));
  EXPECT_EQ(over(64, {{"embed", 768}, {"hidden", 3072}}), (Sharding{{"hidden", {"data"}}}));
  EXPECT_EQ(over(64, {{"word", 50257}}), (Sharding{{"word", {"data"}}}));
  EXPECT_EQ(over(1, {{"in", 4}, {"out", 6}}), (Sharding{{"out", {"data"}}}));
  EXPECT_EQ(over(8, {{"in", 1}, {"out", 0}}), Sharding());
  Sizes sizes{{"embed", 768}, {"hidden", 3072}};
  Shards many({{{"data", 16384}}}, over(16384, sizes), sizes);
  EXPECT_EQ(many.blocks(), 16384);
  EXPECT_EQ(many.blockSizes().at("embed") * many.blockSizes().at("hidden"), 768 * 3072 / 16384);
  // Axes that are parts, and several of them.
  MeshSpec mesh{{{"data", 24}, {"model", 2}}};
  EXPECT_EQ(leastPadding(mesh, {"data(2)12", "model"}, {{"i", 4}, {"j", 6}}),
            (Sharding{{"i", {"model"}}, {"j", {"data(2)12"}}}));
  EXPECT_EQ(leastPadding(mesh, {"data(2)12", "model"}, {{"i", 4}, {"j", 4}}),
            (Sharding{{"i", {"data(2)4"}}, {"j", {"data(8)3", "model"}}}));
}
