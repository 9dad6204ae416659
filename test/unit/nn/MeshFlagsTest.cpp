//===- MeshFlagsTest.cpp - options of programs that train on ranks --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/MeshFlags.h"
#include "test/unit/support/io/Files.h"

using namespace heddle;
using namespace heddle::test;

namespace {
/// A command line without the flags that were taken.
struct Line {
  std::vector<std::string> words;
  nn::MeshFlags flags;
  explicit Line(std::vector<std::string> given) : words(std::move(given)) {
    std::vector<char *> argv;
    for (std::string &word : words)
      argv.push_back(word.data());
    int argc = int(argv.size());
    argv.push_back(nullptr);
    flags = nn::MeshFlags::take(argc, argv.data());
    EXPECT_EQ(argv[size_t(argc)], nullptr);
    words = std::vector<std::string>(argv.begin(), argv.begin() + argc);
  }
};
} // namespace

TEST(MeshFlags, AreTakenOutOfACommandLine) {
  Line line({"program", "--epochs", "3", "--mesh=data=2", "--shard", "batch:data", "file",
             "--shard", "hidden:model", "--zero", "2", "--micro-batches=4", "--meshes"});
  EXPECT_EQ(line.words, (std::vector<std::string>{"program", "--epochs", "3", "file", "--meshes"}));
  EXPECT_EQ(line.flags.mesh, "data=2");
  EXPECT_EQ(line.flags.shard, (std::vector<std::string>{"batch:data", "hidden:model"}));
  EXPECT_EQ(line.flags.zero, 2);
  EXPECT_EQ(line.flags.microBatches, 4);
  EXPECT_EQ(Line({"program"}).words.size(), 1u);
}

TEST(MeshFlags, BadValuesAreRefused) {
  expectHas(messageOf([] { Line({"program", "--mesh"}); }), {"expected a value after --mesh"});
  expectHas(messageOf([] { Line({"program", "--zero", "2x"}); }),
            {"expected a number after --zero, got '2x'"});
}

TEST(MeshFlags, RanksWithoutAMeshAreRefused) {
  setenv("HEDDLE_RANK", "1", 1);
  setenv("HEDDLE_RANKS", "3", 1);
  setenv("HEDDLE_CONTROL", "127.0.0.1:1", 1);
  setenv("HEDDLE_JOB_KEY", "0123456789abcdef0123456789abcdef", 1);
  nn::Training training;
  nn::TrainerOptions options;
  for (std::vector<std::string> words : {std::vector<std::string>{"program"},
                                         {"program", "--shard", "batch:data"},
                                         {"program", "--engine", "shm"}})
    expectHas(messageOf([&] { Line(words).flags.apply(training, options); }),
              {"expected a mesh of the 3 ranks that heddle-launch has started, such as --mesh "
               "data=3 --shard batch:data"});
  for (const char *name : {"HEDDLE_RANK", "HEDDLE_RANKS", "HEDDLE_CONTROL", "HEDDLE_JOB_KEY"})
    unsetenv(name);
}

TEST(MeshFlags, GoIntoTheOptionsOfATrainer) {
  nn::Training training;
  nn::TrainerOptions options;
  Line({"program", "--mesh", "data=1", "--shard", "batch:data", "--micro-batches", "4"})
      .flags.apply(training, options);
  EXPECT_EQ(options.mesh.str(), "data=1");
  EXPECT_EQ(options.rules, std::vector<std::string>{"batch:data"});
  EXPECT_EQ(training.microBatches, 4);
  EXPECT_EQ(options.ranks->size(), 1);
}
