//===- ProgramTest.cpp - heddle-models, as a user runs it -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/support/io/Files.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>

using namespace heddle::test;

namespace {
struct Outcome {
  int status = -1; ///< the exit code
  std::string out, err;
};

class Program : public testing::Test {
protected:
  TemporaryDirectory directory;

  Outcome run(const std::string &arguments) const { return start(HEDDLE_MODELS, arguments); }

  Outcome start(const std::string &program, const std::string &arguments) const {
    std::string command = "'" + program + "' " + arguments + " > '" + (directory / "out") +
                          "' 2> '" + (directory / "err") + "'";
    int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contentsOf(directory / "out"),
            contentsOf(directory / "err")};
  }
};
} // namespace

TEST_F(Program, ListsModelsWithTheirParameters) {
  Outcome outcome = run("list");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  expectHas(outcome.out, {"alexnet", "61100840\n"});
}

TEST_F(Program, UnknownThingsListWhatThereIs) {
  const std::pair<const char *, std::vector<std::string>> wrong[] = {
      {"train alexnett", {"unknown model 'alexnett'", "alexnet"}},
      {"train alexnet --size huge", {"unknown size 'huge'", "tiny, small, full or flexflow"}},
      {"compare alexnet --size tiny --optimizer best", {"unknown optimiser 'best'", "adam"}},
      {"evaluate alexnet --size tiny --frobnicate", {"--frobnicate"}},
      {"generate alexnet --size tiny", {"'alexnet' does not generate"}},
      {"train gat --size tiny --seed -1", {"--seed", "whole number from 0 to 18446", "got -1"}},
      {"train gat --size tiny --rate 1e300", {"--rate"}},
      {"train gat --size tiny --ir --mesh data=2", {"--ir", "omit the options"}},
      {"generate gpt --size tiny --top-p 0", {"--top-p", "above 0 and of at most 1, got 0"}},
      {"evaluate gat --size tiny --output /nonexistent", {"train the model first", "--checkpoint"}},
      {"train", {"name"}},
      {"frobnicate", {"unknown command 'frobnicate'", "list, train, evaluate"}}};
  for (const auto &[arguments, parts] : wrong) {
    Outcome outcome = run(arguments);
    EXPECT_NE(outcome.status, 0) << arguments;
    expectHas(outcome.out + outcome.err, parts);
  }
}

TEST_F(Program, PrintsTheStepForAnyBatch) {
  Outcome outcome = run("export alexnet --size full --batch 256 --ir");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  expectHas(outcome.out, {"func.func @train", "batch: 256", "nd."});
}

TEST_F(Program, ExportsProgramsAndTheirTensors) {
  Outcome outcome =
      run("export alexnet --size tiny --batch 2 --output '" + (directory / "a") + "'");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const char *name :
       {"train.heddle", "evaluate.heddle", "state.safetensors", "example.safetensors"})
    EXPECT_FALSE(contentsOf(directory / (std::string("a/") + name)).empty()) << name;
}

/// The loss that a program prints as `name`: f32 {} = 1.25
static double numberAfter(const std::string &text, const std::string &name) {
  size_t at = text.find(name);
  at = at == std::string::npos ? at : text.find("= ", at);
  return at == std::string::npos ? NAN : std::stod(text.substr(at + 2));
}

/// No compiler takes part; the parameters go from step to step.
TEST_F(Program, TrainsFromAProgramFile) {
  std::string folder = directory / "a";
  Outcome outcome = run("export gat --size tiny --batch 2 --output '" + folder + "'");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  auto lossAfter = [&](const std::string &steps) {
    Outcome ran = start(HEDDLE_RUN, "'" + folder + "/train.heddle' --input '" + folder +
                                        "/state.safetensors' --input '" + folder +
                                        "/example.safetensors' --carry --repeat " + steps);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return numberAfter(ran.out, "outcome.loss");
  };
  double first = lossAfter("1"), last = lossAfter("60");
  EXPECT_LT(last, 0.95 * first);
}

TEST_F(Program, LearnsOneBatchByHeart) {
  std::string where = " --size tiny --output '" + (directory / "a") + "'";
  Outcome outcome = run("train gat --one-batch --steps 12" + where);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  expectHas(outcome.out, {"epoch 12: loss ", "loss of the batch: ", " in step 12\n"});
  EXPECT_FALSE(std::filesystem::exists(directory / "a/checkpoint.safetensors"));
  outcome = run("train gat --one-batch --resume" + where);
  EXPECT_NE(outcome.status, 0);
  expectHas(outcome.err, {"--one-batch", "--resume"});
}

TEST_F(Program, TrainsGoesOnAndEvaluates) {
  std::string where = " --size tiny --output '" + (directory / "a") + "'";
  Outcome outcome = run("train gat --epochs 1 --steps 3 --log-every 2" + where);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  expectHas(outcome.out, {"stopped after 3 steps"});
  EXPECT_EQ(outcome.err.find('\r'), std::string::npos); // no progress bar off a terminal
  expectHas(contentsOf(directory / "a/log.jsonl"),
            {"{\"step\":2,\"epoch\":1,\"train_loss\":", "{\"step\":3,\"epoch\":1,\"train_loss\":"});
  outcome = run("train gat --epochs 1 --resume" + where);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  expectHas(outcome.out, {"resuming at step 4 of epoch 1", "epoch 1: loss ", "; test loss ",
                          "best epoch 1, ", "report.html"});
  expectHas(contentsOf(directory / "a/report.html"), {"Memory of a training step"});
  expectHas(contentsOf(directory / "a/log.jsonl"), {"{\"epoch\":1,\"train_loss\":"});
  outcome = run("evaluate gat" + where);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  expectHas(outcome.out, {"loss: ", "accuracy: "});
  outcome = run("train gat --epochs 1 --resume --batch 7" + where);
  EXPECT_EQ(outcome.status, 1);
  expectHas(outcome.err, {"checkpoint.safetensors", "expected batch 7"});
  outcome = run("train dlrm --resume" + where);
  EXPECT_EQ(outcome.status, 1);
  expectHas(outcome.err,
            {"checkpoint.safetensors", "of a run with model gat, expected model dlrm"});
}

TEST_F(Program, EvaluationNeedsACheckpoint) {
  Outcome outcome = run("evaluate alexnet --size tiny --checkpoint '" + (directory / "none") + "'");
  EXPECT_EQ(outcome.status, 1);
  expectHas(outcome.err, {directory / "none"});
}

/// Writes a file of safetensors with the one loss of a twin.
static void writeTwin(const std::string &path, float loss) {
  std::string text = R"({"losses":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  uint64_t length = text.size();
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char *>(&length), 8) << text;
  file.write(reinterpret_cast<const char *>(&loss), 4);
}

/// A script replaces Python and returns losses of a twin, which the test has written.
TEST_F(Program, ComparesWithNarrowProducts) {
  std::string python = directory / "python";
  std::ofstream(python) << "#!/bin/sh\ncp '" << (directory / "twin")
                        << "' \"$4/twin.safetensors\"\n";
  std::filesystem::permissions(python, std::filesystem::perms::owner_all);
  auto compared = [&](const std::string &more, float theirs) {
    writeTwin(directory / "twin", theirs);
    bool isWhole = more.find("--epochs") != std::string::npos;
    return run("compare gat --size tiny" + std::string(isWhole ? "" : " --steps 1") +
               " --python '" + python + "' --output '" + (directory / "a") + "'" + more);
  };
  auto lossOf = [](const Outcome &outcome) {
    size_t at = outcome.out.find("loss: ");
    return at == std::string::npos ? NAN : std::stof(outcome.out.substr(at + 6));
  };
  auto recipe = [&] { return contentsOf(directory / "a-compare/recipe.json"); };
  float wide = lossOf(compared("", 1)), narrow = lossOf(compared(" --products bf16", 1));
  expectHas(recipe(), {"\"products\":\"bf16\""});
  EXPECT_NE(wide, narrow);
  EXPECT_NEAR(wide, narrow, 5e-3f * wide);
  Outcome outcome = compared(" --products bf16", narrow * 1.015f);
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  expectHas(outcome.out, {"(allowed: 2 %"});
  EXPECT_EQ(compared(" --products bf16", narrow * 1.03f).status, 1);
  outcome = compared("", wide * 1.015f);
  EXPECT_EQ(outcome.status, 1);
  expectHas(outcome.out, {"(allowed: 1 %"});
  expectHas(recipe(), {"\"products\":\"\""});
  EXPECT_EQ(compared("", wide * 1.005f).status, 0);
  expectHas(compared(" --products f8E5M2", 1).err, {"bf16 or f16, got f8E5M2"});
  outcome = compared(" --recipe --epochs 0", 1);
  EXPECT_EQ(outcome.status, 1);
  expectHas(outcome.err, {"at least one step (--epochs, --steps), got none"});
  EXPECT_EQ(compared("", NAN).status, 1);
}

/// A comparison removes the batches of an earlier one only, export replaces no run.
TEST_F(Program, FilesOfOthersStay) {
  std::filesystem::create_directory(directory / "a-compare");
  directory.write("a-compare/batches-mine.txt", "of the user");
  directory.write("a-compare/batches-000.safetensors", "of an earlier comparison");
  std::string where = " --size tiny --output '" + (directory / "a") + "'";
  run("compare gat --python /bin/false" + where);
  EXPECT_EQ(contentsOf(directory / "a-compare/batches-mine.txt"), "of the user");
  EXPECT_EQ(run("train gat --steps 1" + where).status, 0);
  std::string program = contentsOf(directory / "a/train.heddle");
  Outcome outcome = run("export gat" + where);
  EXPECT_EQ(outcome.status, 1);
  expectHas(outcome.err, {"has a run, whose train.heddle would be replaced"});
  EXPECT_TRUE(contentsOf(directory / "a/train.heddle") == program);
}

/// Evaluation uses the run's type of products.
TEST_F(Program, EvaluatesTheBestEpochAsItWasTrained) {
  std::string where = " --size tiny --output '" + (directory / "a") + "'";
  Outcome trained = run("train gat --epochs 2 --products f8E4M3FN" + where);
  ASSERT_EQ(trained.status, 0) << trained.err;
  size_t at = trained.out.find("loss: ", trained.out.find("best epoch"));
  ASSERT_NE(at, std::string::npos) << trained.out;
  std::string loss = trained.out.substr(at, trained.out.find('\n', at) - at);
  expectHas(run("evaluate gat" + where).out, {loss});
  std::filesystem::remove(directory / "a/best.safetensors");
  Outcome outcome = run("evaluate gat" + where);
  EXPECT_EQ(outcome.status, 1);
  expectHas(outcome.err, {"best.safetensors' is missing, although the run has completed 2 epochs"});
}

/// A run that was stopped within its first epoch has only a checkpoint.
TEST_F(Program, GeneratesAndEvaluatesWithinTheFirstEpoch) {
  std::string where = " --size tiny --output '" + (directory / "a") + "'";
  Outcome outcome = run("train gat --steps 2" + where);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  outcome = run("evaluate gat" + where);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  outcome = run("evaluate gpt" + where);
  EXPECT_EQ(outcome.status, 1);
  expectHas(outcome.err, {"a run of the model gat, expected the model gpt"});
  EXPECT_EQ(outcome.err.find("parameter"), std::string::npos);
  where = " --size tiny --output '" + (directory / "b") + "'";
  outcome = run("train gpt --steps 2" + where);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  outcome = run("generate gpt --prompt 'It is' --length 9 --seed 3" + where);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out.rfind("It is", 0), 0u) << outcome.out;
  EXPECT_EQ(run("generate gpt --prompt 'It is' --length 9 --seed 3" + where).out, outcome.out);
}

// 40 steps on ranks that heddle-launch starts, at a rate at which a wrong gradient changes the
// loss: losses equal those of one process up to the order of sums.
TEST_F(Program, EveryStrategyTrainsAsOneProcess) {
  int runs = 0;
  auto lossOf = [&](const std::string &model, const std::string &strategy) {
    Outcome outcome =
        start(HEDDLE_LAUNCH, "-n " + strategy.substr(0, 1) + " --no-prefix '" + HEDDLE_MODELS +
                                 "' train " + model + " --size tiny --rate 0.1 --output '" +
                                 (directory / std::to_string(++runs)) + "'" + strategy.substr(1));
    EXPECT_EQ(outcome.status, 0) << model << " " << strategy << outcome.err;
    size_t at = outcome.out.find(" so far is ");
    return at == std::string::npos ? NAN : std::stod(outcome.out.substr(at + 11));
  };
  const std::pair<std::string, std::vector<std::string>> all[] = {
      {"gpt --steps 40",
       {"2 --mesh data=2 --shard batch:data", "2 --mesh data=2 --shard batch:data --zero 1",
        "2 --mesh data=2 --shard batch:data --zero 2", "2 --mesh data=2 --shard time:data",
        "2 --mesh stage=2 --shard net.layers.1@stage=1 --micro-batches 4",
        "4 --mesh data=2,stage=2 --shard batch:data --shard net.layers.1@stage=1 --zero 1 "
        "--micro-batches 2",
        "4 --mesh data=4 --shard batch:data --zero 3",
        "4 --mesh data=2,model=2 --shard batch:data --shard net/head:model --zero 2 "
        "--micro-batches 2"}},
      {"bert --steps 4",
       {"4 --mesh data=2,model=2 --shard batch:data --shard net/hidden:model --zero 3",
        "2 --mesh stage=2 --shard net.layers.1@stage=1"}},
      {"resnet50 --steps 4",
       {"2 --mesh data=2 --shard batch:data --zero 3",
        "2 --mesh stage=2 --shard 'net.layers.[23]@stage=1'"}}};
  for (const auto &[model, strategies] : all) {
    double expected = lossOf(model, "1");
    for (const std::string &strategy : strategies)
      EXPECT_NEAR(lossOf(model, strategy), expected, 1e-4 * expected) << model << " " << strategy;
  }
}
