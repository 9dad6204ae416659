//===- ShardedCheckpointTest.cpp - checkpoints of several ranks -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/heddle.h"
#include "heddle/io/ShardDirectory.h"
#include "heddle/nn/Checkpoint.h"
#include "runtime/control/EngineTransport.h"
#include "runtime/program/Gather.h"
#include "test/unit/builder/Tensors.h"
#include "test/unit/runtime/Faults.h"
#include "test/unit/runtime/control/Ranks.h"
#include "test/unit/support/io/Files.h"

#include <sys/wait.h>

using namespace heddle;
using namespace heddle::test;

namespace {

const Name row("row"), column("column");

struct State {
  Tensor weight, bias, steps, narrow;
  HEDDLE_FIELDS(weight, bias, steps, narrow)
};

State initial(uint64_t seed = 1) {
  return {random({{row, 9}, {column, 5}}, seed), random({{row, 5}}, seed + 1),
          Tensor::of<int64_t>({int64_t(seed)}, {}),
          random({{column, 1}}, seed + 2).cast(ElementType::BF16)};
}

/// The same tensors as a function would leave them on a mesh.
Tensor splitOver(const Ranks &ranks, const MeshSpec &mesh, const Sharding &axes, Tensor whole) {
  Shards shards(mesh, axes, whole.sizes());
  return Tensor::fromSplit(std::make_shared<SplitTensor>(
      SplitTensor{shards, shards.cut(*whole.data(), ranks.rank()), ranks.job(), "state"}));
}
State splitOver(const Ranks &ranks, const MeshSpec &mesh, const Sharding &weight, State state) {
  Sharding bias{{"row", {mesh.axes.back().first}}}, narrow{{"column", {mesh.axes[0].first}}};
  return {splitOver(ranks, mesh, weight, state.weight), splitOver(ranks, mesh, bias, state.bias),
          state.steps, splitOver(ranks, mesh, narrow, state.narrow)};
}

std::vector<uint16_t> bitsOf(const Tensor &tensor) {
  std::vector<uint16_t> bits(tensor.count());
  tensor.toBytes(bits.data(), ElementType::BF16, {column});
  return bits;
}
void expectEqual(State &got, State &expected) {
  EXPECT_EQ(valuesOf(got.weight), valuesOf(expected.weight));
  EXPECT_EQ(valuesOf(got.bias), valuesOf(expected.bias));
  EXPECT_EQ(got.steps.item(), expected.steps.item());
  EXPECT_EQ(bitsOf(got.narrow), bitsOf(expected.narrow));
}

template <typename Body>
void onRanks(int count, Body &&body) {
  TestJob job(count);
  auto errors = job.run([&](Job &mine) {
    if (count > 1)
      useEngine(mine, "shm", "timeout=60");
    body(Ranks(std::shared_ptr<Job>(&mine, [](Job *) {})));
  });
  EXPECT_EQ(errors, std::vector<std::string>(size_t(count)));
}

TEST(ShardedCheckpoint, FourRanksThenThreeThenOneHaveTheSameBits) {
  TemporaryDirectory directory;
  std::string path = directory / "run.shards";
  onRanks(4, [&](const Ranks &ranks) {
    State state = initial(), mine = splitOver(ranks, {{{"data", 2}, {"model", 2}}},
                                              {{"row", {"data"}}, {"column", {"model"}}}, state);
    nn::saveTree(path, mine, {{"step", "7"}}, {.ranks = ranks});
    EXPECT_TRUE(mine.weight.split());
    expectEqual(mine, state);
  });
  // Each element is stored once: the manifest verifies it, and the sizes of the files add up.
  int64_t bytes = 0;
  for (const auto &entry : std::filesystem::directory_iterator(path))
    if (entry.path().extension() == ".safetensors") {
      io::SafetensorsFile file(entry.path());
      for (const auto &[name, array] : file.header().arrays)
        bytes += array.count() * byteSize(array.element);
    }
  EXPECT_EQ(bytes, 4 * 45 + 4 * 5 + 8 + 2);
  onRanks(3, [&](const Ranks &ranks) {
    State expected = initial(),
          mine = splitOver(ranks, {{{"data", 3}}}, {{"column", {"data"}}}, initial(5));
    EXPECT_EQ(nn::loadTree(path, mine).at("step"), "7");
    ASSERT_TRUE(mine.weight.split());
    expectEqual(mine, expected);
    mine = splitOver(ranks, {{{"data", 3}}}, {{"column", {"data"}}}, initial());
    nn::saveTree(path, mine, {{"step", "8"}}, {.ranks = ranks});
  });
  State back = initial(5), expected = initial();
  EXPECT_EQ(nn::loadTree(path, back).at("step"), "8");
  expectEqual(back, expected);
  // One file has the same bytes as if one process had saved it.
  io::exportShards(path, directory / "exported.safetensors");
  nn::saveTree(directory / "one.safetensors", expected, {{"step", "8"}});
  EXPECT_EQ(contentsOf(directory / "exported.safetensors"),
            contentsOf(directory / "one.safetensors"));
  // Blocks can be loaded from such a file too.
  onRanks(2, [&](const Ranks &ranks) {
    State expected = initial(),
          mine = splitOver(ranks, {{{"data", 2}}}, {{"row", {"data"}}}, initial(5));
    nn::loadTree(directory / "one.safetensors", mine);
    ASSERT_TRUE(mine.weight.split());
    expectEqual(mine, expected);
  });
}

TEST(ShardedCheckpoint, ARankThatFailsLeavesTheOldOne) {
  TemporaryDirectory directory;
  std::string path = directory / "run.shards";
  MeshSpec mesh{{{"data", 2}}};
  State old = initial();
  nn::saveTree(path, old, {}, {.ranks = Ranks()});
  size_t before = size_t(std::distance(std::filesystem::directory_iterator(path), {}));
  onRanks(2, [&](const Ranks &ranks) {
    State mine = splitOver(ranks, mesh, {{"row", {"data"}}}, initial(3));
    if (ranks.rank() == 1) { // its tensor was donated
      const TensorRef &block = mine.weight.split()->block;
      RuntimeTensor::withoutMemory(block->storedType())->takeOver(*block);
      block->donatedTo = "train";
    }
    std::string message = errorOf([&] { nn::saveTree(path, mine, {}, {.ranks = ranks}); });
    expectHas(message, {"ShardedCheckpointTest.cpp:", "rank 1: ", "donated to 'train'"});
  });
  EXPECT_EQ(size_t(std::distance(std::filesystem::directory_iterator(path), {})), before);
  State back = initial(5);
  nn::loadTree(path, back);
  expectEqual(back, old);
}

TEST(ShardedCheckpoint, ARankThatSavesAloneIsNamed) {
  TemporaryDirectory directory;
  std::string path = directory / "run.shards";
  TestJob job(2, 3s);
  auto errors = job.run([&](Job &mine) {
    State state = initial();
    if (mine.rank() == 0)
      nn::saveTree(path, state, {}, {.ranks = Ranks(std::shared_ptr<Job>(&mine, [](Job *) {}))});
    else
      mine.channel()->agree({{"entry", "'train'"}});
  });
  for (const std::string &error : errors)
    expectHas(error, {"saving '" + path + "'", "'train'", "rank "});
}

TEST(ShardedCheckpoint, EachFailingCallLeavesTheOldOrTheNew) {
  TemporaryDirectory directory;
  std::string path = directory / "run.shards";
  State older = initial(1), newer = initial(10);
  nn::saveTree(path, older, {}, {.ranks = Ranks()});
  failEach(
      Fault::Files, [&] { nn::saveTree(path, newer, {}, {.ranks = Ranks()}); },
      [&](bool threw) {
        State back = initial(20);
        nn::loadTree(path, back);
        EXPECT_TRUE(back.steps.item() == 10 || (threw && back.steps.item() == 1));
        expectEqual(back, back.steps.item() == 10 ? newer : older);
        nn::saveTree(path, older, {}, {.ranks = Ranks()});
        EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path), {}), 2);
      });
  State state = initial(20);
  failEach(
      Fault::Files, [&] { nn::loadTree(path, state); },
      [&](bool threw) {
        State untouched = initial(20);
        expectEqual(state, threw ? untouched : older);
        state = initial(20);
      });
}

TEST(ShardedCheckpoint, AKillAnywhereLeavesTheOldOrTheNew) {
  TemporaryDirectory directory;
  std::string path = directory / "run.shards";
  State older = initial(1), newer = initial(10);
  valuesOf(newer.weight), valuesOf(newer.bias), bitsOf(newer.narrow); // compiled before the fork
  nn::saveTree(path, older, {}, {.ranks = Ranks()});
  bool ended = false;
  int kills = 0;
  for (int64_t n = 1; !ended && n < 200; ++n) {
    pid_t child = fork();
    if (child == 0) {
      armKill(Fault::Files, n);
      nn::saveTree(path, newer, {}, {.ranks = Ranks()});
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    ended = WEXITSTATUS(status) == 0;
    kills += !ended;
    State back = initial(20);
    nn::loadTree(path, back);
    EXPECT_TRUE(back.steps.item() == 10 || (!ended && back.steps.item() == 1));
    expectEqual(back, back.steps.item() == 10 ? newer : older);
    nn::saveTree(path, older, {}, {.ranks = Ranks()}); // clears what the child has left
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path), {}), 2);
  }
  EXPECT_TRUE(ended);
  EXPECT_GT(kills, 5);
}

TEST(ShardedCheckpoint, OtherTreesAreListed) {
  TemporaryDirectory directory;
  std::string path = directory / "run.shards";
  State state = initial();
  nn::saveTree(path, state, {}, {.ranks = Ranks()});
  State other = initial(2);
  other.weight = random({{row, 9}, {column, 6}}, 1);
  expectHas(messageOf([&] { nn::loadTree(path, other); }),
            {path, "'weight' is f32 [column: 5, row: 9], expected"});
  Tensor missing = random({{row, 2}}, 1);
  expectHas(messageOf([&] { nn::loadTree(path, missing); }), {"no tensor is loaded from"});
  expectHas(messageOf([&] { nn::loadTree(directory.path.string(), state); }),
            {"manifest.json", "No such file"});
}

} // namespace
