//===- GatherTest.cpp - the whole of tensors that are split ---------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/runtime/control/Ranks.h"

#include "runtime/control/EngineTransport.h"
#include "runtime/program/Gather.h"

#include <numeric>

using namespace heddle;
using namespace heddle::test;

template <typename T>
static TensorRef numbered(ElementType element, const Sizes &sizes) {
  TensorSpec spec{element, {}};
  std::vector<std::string> order;
  for (const auto &[name, size] : sizes) {
    spec.dims[name] = size;
    order.push_back(name);
  }
  auto tensor = std::make_shared<RuntimeTensor>(spec, Layout::rowMajor(order));
  std::vector<T> values(size_t(tensor->bytes()) / sizeof(T));
  std::iota(values.begin(), values.end(), T(1));
  tensor->copyFrom(values.data(), order);
  return tensor;
}

/// Every rank gathers what it has cut; returns the errors.
template <typename T>
static void expectGathered(ElementType element, const MeshSpec &mesh, const Sharding &axes,
                           const Sizes &sizes) {
  TensorRef tensor = numbered<T>(element, sizes);
  Shards shards(mesh, axes, sizes);
  TestJob job(int(mesh.ranks()));
  auto errors = job.run([&](Job &mine) {
    useEngine(mine, "shm", "timeout=60");
    TensorRef block = shards.cut(*tensor, mine.rank());
    for (int i = 0; i < 2; ++i) {
      TensorRef whole = gather(mine, shards, *block, "'x'");
      EXPECT_EQ(whole->spec(), tensor->spec());
      EXPECT_EQ(std::memcmp(whole->address(), tensor->address(), size_t(tensor->bytes())), 0)
          << describe(axes) << " on rank " << mine.rank();
    }
  });
  EXPECT_EQ(errors, std::vector<std::string>(size_t(mesh.ranks())));
}

TEST(Gather, AllRanksGetTheWhole) {
  expectGathered<float>(ElementType::F32, {{{"data", 4}}}, {{"i", {"data"}}}, {{"i", 5}, {"j", 3}});
  expectGathered<int16_t>(ElementType::BF16, {{{"data", 2}}}, {{"i", {"data"}}}, {{"i", 1}});
  expectGathered<int64_t>(ElementType::I64, {{{"data", 2}, {"model", 2}}}, {{"j", {"model"}}},
                          {{"i", 3}, {"j", 5}});
  expectGathered<int8_t>(ElementType::I1, {{{"data", 2}, {"model", 2}}}, {{"j", {"model", "data"}}},
                         {{"i", 3}, {"j", 5}});
  expectGathered<double>(ElementType::F64, {{{"data", 4}}}, {{"i", {"data(2)2"}}}, {{"i", 3}});
  expectGathered<float>(ElementType::F32, {{{"data", 2}}}, {{"i", {"data"}}}, {{"i", 0}});
  expectGathered<float>(ElementType::F32, {{{"data", 2}}}, {}, {{"i", 3}});
}

TEST(Gather, ARankThatGathersAloneIsNamed) {
  Shards shards({{{"data", 2}}}, {{"i", {"data"}}}, {{"i", 3}});
  TensorRef tensor = numbered<float>(ElementType::F32, {{"i", 3}});
  TestJob job(2, 3s);
  auto errors = job.run([&](Job &mine) {
    useEngine(mine, "shm", "timeout=60");
    if (mine.rank() == 0)
      gather(mine, shards, *shards.cut(*tensor, 0), "'loss' at main.cpp:7:3");
    else
      mine.channel()->agree({{"entry", "'train'"}});
  });
  for (const std::string &error : errors) {
    EXPECT_NE(error.find("rank "), std::string::npos) << error;
    EXPECT_NE(error.find("gathering 'loss' at main.cpp:7:3"), std::string::npos) << error;
    EXPECT_NE(error.find("entry 'train'"), std::string::npos) << error;
  }
}

TEST(Gather, ARankThatHasLeftIsNamed) {
  Shards shards({{{"data", 2}}}, {{"i", {"data"}}}, {{"i", 3}});
  TensorRef tensor = numbered<float>(ElementType::F32, {{"i", 3}});
  TestJob job(2, 3s);
  auto errors = job.run([&](Job &mine) {
    useEngine(mine, "shm", "timeout=60");
    if (mine.rank() == 0)
      gather(mine, shards, *shards.cut(*tensor, 0), "'loss'");
  });
  EXPECT_NE(errors[0].find("rank 1"), std::string::npos) << errors[0];
  EXPECT_NE(errors[0].find("gathering 'loss'"), std::string::npos) << errors[0];
}

TEST(Gather, OtherJobsAreRefused) {
  Shards shards({{{"data", 3}}}, {{"i", {"data"}}}, {{"i", 3}});
  TensorRef tensor = numbered<float>(ElementType::F32, {{"i", 3}});
  auto job = Job::join(RankInfo{});
  std::string error =
      errorOf([&] { (void)gather(*job, shards, *shards.cut(*tensor, 0), "'loss'"); });
  EXPECT_EQ(error, "the mesh data=3 has 3 ranks, expected 1, as the job has");
  TestJob two(2);
  Shards half({{{"data", 2}}}, {{"i", {"data"}}}, {{"i", 3}});
  for (const std::string &each : two.run(
           [&](Job &mine) { (void)gather(mine, half, *half.cut(*tensor, mine.rank()), "'loss'"); }))
    EXPECT_EQ(each, "can't gather 'loss': the job has no engine");
}
