//===- TrainerRanksTest.cpp - training on several ranks -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/io/ShardDirectory.h"
#include "heddle/nn/Layers.h"
#include "heddle/nn/Losses.h"
#include "heddle/nn/Trainer.h"
#include "runtime/control/EngineTransport.h"
#include "runtime/memory/FileMemory.h"
#include "test/unit/Refused.h"
#include "test/unit/builder/Tensors.h"
#include "test/unit/runtime/control/Ranks.h"
#include "test/unit/support/io/Files.h"

#include <nlohmann/json.hpp>

#include <fstream>

using namespace heddle;
using namespace heddle::test;

namespace {
const Name batch("batch"), in("in"), hidden("hidden"), classes("class");

/// Points in the plane; the class is the side of a curve.
struct Points : nn::Dataset {
  int64_t count() const override { return 30; }
  std::vector<nn::Field> fields() const override {
    return {{"point", ElementType::F32, {2}, {"in"}}, {"label", ElementType::I32, {}, {}}};
  }
  nn::Sample read(int64_t index) const override {
    float x = float(index % 7) / 7 - 0.5f, y = float(index * 5 % 11) / 11 - 0.5f;
    return {io::HostArray::of<float>({x, y}, {2}),
            io::HostArray::of<int32_t>({y > x * x ? 1 : 0}, {})};
  }
};

struct Net {
  nn::Linear first, last;
  HEDDLE_FIELDS(first, last)
  static Net make() {
    return {nn::Linear::make({{in, 2}}, {hidden, 5}, key(1)),
            nn::Linear::make({{hidden, 5}}, {classes, 2}, key(2))};
  }
};

nn::Outcome lossOf(const Net &net, const nn::Fields &fields, nn::Mode &) {
  Tensor logits = net.last(relu(net.first(fields.at("point"), over(in))), over(hidden));
  const Tensor &label = fields.at("label");
  return {nn::sampleMean(nn::crossEntropy(logits, label, classes), fields),
          {{"accuracy", nn::sampleMean(nn::isRight(logits, label, classes), fields)}}};
}

nn::Training training() { return {.epochs = 3, .batch = 8, .rate = 0.05, .clip = 1}; }

nn::Trainer<Net> make(const nn::TrainerOptions &options, nn::Training how = training()) {
  nn::TrainerOptions where = options;
  where.threads = 1;
  where.quiet = true;
  return nn::Trainer<Net>(Net::make(), lossOf, key(3), how, where);
}

std::vector<float> parametersOf(const nn::Trainer<Net> &trainer) {
  std::vector<float> all;
  for (const auto &[path, tensor] : trainer.parameters())
    for (float value : valuesOf(tensor))
      all.push_back(value);
  return all;
}
void expectNear(const std::vector<float> &a, const std::vector<float> &b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], 1e-5f) << i;
}

TEST(TrainerRanks, BadMeshesAndRulesAreRefused) {
  Mesh two{{"data", 2}}, one{{"data", 1}};
  auto with = [](nn::TrainerOptions options) { return [=] { make(options); }; };
  refused(with({.mesh = two, .ranks = Ranks()}),
          {"the mesh data=2 has 2 ranks, expected 1, as the job has"});
  refused(with({.mesh = one, .rules = {"batch:model"}, .ranks = Ranks()}),
          {"the rule 'batch:model' uses the axis 'model', which the mesh data=1 lacks"});
  refused(with({.rules = {"batch:data"}}), {"needs a mesh"});
  refused(with({.mesh = one, .rules = {"batch:data+data"}, .ranks = Ranks()}),
          {"the axis 'data' twice"});
  refused(with({.mesh = one, .ranks = Ranks(), .zero = 1}),
          {"expected a rule that splits the samples, such as 'batch:data'"});
  refused(with({.mesh = one, .rules = {"net.last@model=0"}, .ranks = Ranks()}),
          {"the rule 'net.last@model=0' uses the axis 'model', which the mesh data=1 lacks"});
  refused(with({.mesh = one, .rules = {"batch:data"}, .ranks = Ranks(), .zero = 4}),
          {"a stage of ZeRO from 1 to 3", "got 4"});
  nn::Training how = training();
  how.microBatches = 3;
  refused([&] { make({}, how); }, {"micro-batches that divide a batch of 8, got 3"});
}

TEST(TrainerRanks, ZeroSplitsTheNamesWithTheLeastPadding) {
  auto rulesOf = [](int zero, std::vector<std::string> rules = {"batch:data"}) {
    return make({.mesh = {{"data", 1}, {"model", 1}},
                 .rules = rules,
                 .ranks = Ranks(),
                 .zero = zero})
        .zeroRules();
  };
  auto has = [](const std::vector<std::string> &rules, const std::string &rule) {
    return std::count(rules.begin(), rules.end(), rule) == 1;
  };
  EXPECT_EQ(rulesOf(0), std::vector<std::string>());
  std::vector<std::string> first = rulesOf(1), third = rulesOf(3);
  EXPECT_TRUE(has(first, "adam.mean.first.weight/hidden:data")) << testing::PrintToString(first);
  EXPECT_TRUE(has(first, "net.first.weight/hidden:"));
  EXPECT_EQ(rulesOf(2), first); // gradients are constraints
  EXPECT_TRUE(has(third, "net.first.weight/hidden:data"));
  EXPECT_TRUE(has(third, "adam.mean.last.bias/class:data"));
  // Names that other rules split keep their axes; tensors that the axis splits are unchanged.
  std::vector<std::string> both = rulesOf(3, {"batch:data", "first/hidden:model"});
  EXPECT_TRUE(has(both, "net.first.weight/in:data")) << testing::PrintToString(both);
  both = rulesOf(3, {"batch:data", "first/in:data"});
  EXPECT_FALSE(has(both, "net.first.weight/hidden:data"));
}

TEST(TrainerRanks, APlanFileHasWhatOptionsHave) {
  TemporaryDirectory directory;
  std::string path = directory / "plan";
  auto planned = [&](const std::string &lines, nn::Training how = training(),
                     std::optional<int64_t> zero = {}) {
    std::ofstream(path) << lines;
    return make({.plan = path, .ranks = Ranks(), .zero = zero}, how);
  };
  nn::TrainerOptions options{
      .mesh = {{"data", 1}}, .rules = {"batch:data"}, .ranks = Ranks(), .zero = 3};
  nn::Training how = training();
  how.microBatches = 2;
  nn::Trainer<Net> stated = make(options, how),
                   read = planned("mesh data=1\nbatch:data\nzero 3\nmicro-batches 2 # parts\n");
  EXPECT_EQ(read.zeroRules(), stated.zeroRules());
  EXPECT_FALSE(read.zeroRules().empty());
  Points data;
  nn::Trainer<Net> whole = make({}), parts = make({}, how), asked = planned("micro-batches 2\n");
  for (nn::Trainer<Net> *each : {&whole, &parts, &asked})
    each->train(data);
  EXPECT_EQ(parametersOf(asked), parametersOf(parts));
  EXPECT_NE(parametersOf(asked), parametersOf(whole));                   // another order of sums
  planned("mesh data=1\nbatch:data\nzero 3\nmicro-batches 2\n", how, 3); // they agree
  // Its graph is that of the step, not of the other functions.
  refused([&] { planned("mesh data=1\ngraph 0123456789abcdef\n").train(data); },
          {"(plan '" + path + "', line 2): expected the graph 0123456789abcdef, got ", "'train'"});
  refused([&] { planned("mesh data=1\nlinks model 1 bytes/s 0 s\n").train(data); },
          {"'links model 1 bytes/s 0 s' (plan '" + path + "', line 2) uses the axis 'model'"});
  // Errors have the line.
  std::string where = " (plan '" + path + "', line 2)";
  refused([&] { planned("mesh data=1\nzero 3\nbatch:data\n", how, 1); },
          {"'zero 1' contradicts 'zero 3'" + where});
  refused([&] { planned("mesh data=1\nzero 3\nbatch:data\n", how, 0); },
          {"'zero 0' contradicts 'zero 3'" + where});
  refused([&] { planned("mesh data=1\nmicro-batches 4\n", how); },
          {"'micro-batches 2' contradicts 'micro-batches 4'" + where});
  refused([&] { planned("mesh data=1\nzero 4\nbatch:data\n"); },
          {"a stage of ZeRO from 1 to 3", "got 4" + where});
  refused([&] { planned("mesh data=1\nzero 1\n"); }, {"a rule that splits the samples", where});
  refused([&] { planned("mesh data=1\nmicro-batches 3\n"); },
          {"micro-batches that divide a batch of 8, got 3" + where});
  refused([&] { planned("mesh data=1\nnet.frist/in:data\n").train(data); },
          {"the rule 'net.frist/in:data'" + where + " matches no argument"});
}

TEST(TrainerRanks, StateMayBeInFiles) {
  Points data;
  nn::Trainer<Net> memory = make({});
  memory.train(data);
  int64_t before = fileMemory()->statistics().live;
  nn::Trainer<Net> file = make({.rules = {"adam@file"}}); // without a mesh
  file.train(data);
  EXPECT_EQ(parametersOf(file), parametersOf(memory));
  // Two moments of 27 parameters, and what Adam counts.
  EXPECT_GE(fileMemory()->statistics().live - before, 2 * 27 * 4);
  EXPECT_LE(fileMemory()->statistics().live - before, 2 * 27 * 4 + 64);
  refused([&] { make({.rules = {"sgd@file"}}).train(data); },
          {"the rule 'sgd@file' matches no argument; arguments are "});
}

TEST(TrainerRanks, MicroBatchesGiveTheGradientOfTheBatch) {
  Points data;
  nn::Trainer<Net> whole = make({});
  whole.train(data);
  for (int64_t parts : {2, 8}) { // the last batch has six samples
    nn::Training how = training();
    how.microBatches = parts;
    nn::Trainer<Net> trainer = make({}, how);
    trainer.train(data);
    expectNear(parametersOf(trainer), parametersOf(whole));
    EXPECT_NEAR(trainer.history().back().train.at("loss"), whole.history().back().train.at("loss"),
                1e-5);
    EXPECT_NEAR(trainer.history().back().train.at("accuracy"),
                whole.history().back().train.at("accuracy"), 1e-5);
  }
}

TEST(TrainerRanks, MicroBatchesResumeToTheSameBits) {
  TemporaryDirectory directory;
  Points data;
  nn::Training how = training();
  how.microBatches = 2;
  make({.output = directory / "whole"}, how).train(data);
  make({.output = directory / "parts", .steps = 6}, how).train(data);
  make({.output = directory / "parts", .resume = true}, how).train(data);
  EXPECT_EQ(contentsOf(directory / "whole/checkpoint.safetensors"),
            contentsOf(directory / "parts/checkpoint.safetensors"));
  refused([&] { make({.output = directory / "parts", .resume = true}); },
          {"is of a run with micro-batches 2, expected micro-batches 1"});
}

/// Converts a file to the directory that several ranks write.
void moveToShards(const std::string &path, const std::string &directory) {
  std::filesystem::create_directories(directory);
  io::Safetensors file = io::readSafetensors(path);
  io::ShardManifest manifest{file, {}};
  std::map<std::string, io::ShardRange> ranges;
  for (auto &[name, array] : manifest.whole.arrays) {
    ranges[name] = {std::vector<int64_t>(array.shape.size(), 0), array.shape};
    array.bytes.clear();
  }
  io::writeShards(directory, io::shardFile(1, 0), manifest, ranges,
                  [&](const std::string &name, const io::ShardRange &) { return file.at(name); });
  manifest.write(directory);
  std::filesystem::remove(path);
}

TEST(TrainerRanks, OneRankGoesOnWhereSeveralWere) {
  TemporaryDirectory directory;
  Points data;
  make({.output = directory / "whole"}).train(data);
  make({.output = directory / "parts", .steps = 6}).train(data);
  std::string one = directory / "parts/checkpoint.safetensors",
              many = directory / "parts/checkpoint.shards";
  std::filesystem::copy(one, directory / "older");
  make({.output = directory / "parts", .resume = true, .steps = 7}).train(data);
  moveToShards(one, many);
  EXPECT_EQ(nn::AnyTrainer::savedNotes(directory / "parts")->at("step"), "3");
  // An older file, which a killed run has not removed.
  std::filesystem::copy(directory / "older", one);
  EXPECT_EQ(nn::AnyTrainer::savedNotes(directory / "parts")->at("step"), "3");
  make({.output = directory / "parts", .resume = true}).train(data);
  EXPECT_EQ(contentsOf(directory / "whole/checkpoint.safetensors"), contentsOf(one));
  EXPECT_FALSE(std::filesystem::exists(many));
}

//===----------------------------------------------------------------------===//
// Whole runs
//===----------------------------------------------------------------------===//

/// Trains on ranks that are threads; the parameters of each rank.
struct RankRun {
  std::vector<std::string> errors;
  std::vector<std::vector<float>> parameters;
  std::vector<double> losses;
};
RankRun trainOn(int ranks, nn::TrainerOptions options, nn::Training how = training()) {
  RankRun run;
  run.parameters.resize(size_t(ranks));
  run.losses.resize(size_t(ranks));
  TestJob job(ranks);
  run.errors = job.run([&](Job &mine) {
    useEngine(mine, "shm", "timeout=60");
    nn::TrainerOptions where = options;
    where.ranks = Ranks(std::shared_ptr<Job>(&mine, [](Job *) {}));
    Points data, test;
    nn::Trainer<Net> trainer = make(where, how);
    trainer.train(data, &test);
    if (where.steps > 0)
      return;
    run.parameters[size_t(mine.rank())] = parametersOf(trainer);
    run.losses[size_t(mine.rank())] = trainer.history().back().test.at("loss");
  });
  return run;
}
// A rank with other settings, or at another step, would train something else.
TEST(TrainerRanks, RanksThatDisagreeAreNamed) {
  auto errorsOf = [](auto &&change) {
    return TestJob(2).run([&](Job &mine) {
      useEngine(mine, "shm", "timeout=60");
      nn::Training how = training();
      nn::TrainerOptions where{.mesh = {{"data", 2}}, .rules = {"batch:data"}};
      where.ranks = Ranks(std::shared_ptr<Job>(&mine, [](Job *) {}));
      if (mine.rank() == 1)
        change(how, where);
      make(where, how).train(Points());
    });
  };
  auto expectNamed = [](const std::vector<std::string> &errors, const char *what) {
    for (const std::string &error : errors)
      EXPECT_TRUE(error.find("rank 1 (") != error.npos && error.find(what) != error.npos) << error;
  };
  expectNamed(errorsOf([](auto &how, auto &) { how.rate = 0.1; }),
              "has the rate 0.1 at call 1 (entry training), but rank 0 (");
  expectNamed(errorsOf([](auto &how, auto &) { how.seed = 7; }), "has the seed 7 at call");
  expectNamed(errorsOf([](auto &how, auto &) { how.epochs = 2; }), "has the epochs 2 at call");
}

TEST(TrainerRanks, ShardsWithoutAManifestAreKept) {
  TemporaryDirectory directory;
  nn::TrainerOptions options{
      .output = directory / "run", .steps = 5, .mesh = {{"data", 2}}, .rules = {"batch:data"}};
  EXPECT_EQ(trainOn(2, options).errors, std::vector<std::string>(2));
  std::filesystem::remove(directory / "run/checkpoint.shards/manifest.json");
  make({.output = directory / "run", .resume = true, .steps = 1}).train(Points());
  EXPECT_FALSE(std::filesystem::is_empty(directory / "run/earlier-1/checkpoint.shards"));
  EXPECT_EQ(nn::AnyTrainer::savedNotes(directory / "run")->at("step"), "1");
}

TEST(TrainerRanks, RanksTrainAsOneProcess) {
  Points data;
  nn::Trainer<Net> whole = make({});
  whole.train(data);
  for (auto [zero, parts] : {std::pair(0, 1), {1, 1}, {2, 2}, {3, 1}}) {
    TemporaryDirectory directory;
    nn::Training how = training();
    how.microBatches = parts;
    nn::TrainerOptions options{.output = directory / "run",
                               .saveEvery = 2,
                               .mesh = {{"data", 2}},
                               .rules = {"batch:data"},
                               .zero = zero};
    RankRun run = trainOn(2, options, how);
    EXPECT_EQ(run.errors, std::vector<std::string>(2));
    for (const auto &mine : run.parameters)
      expectNear(mine, parametersOf(whole));
    EXPECT_EQ(run.losses[0], run.losses[1]);
    EXPECT_TRUE(io::isShardDirectory(directory / "run/checkpoint.shards"));
    EXPECT_TRUE(std::filesystem::exists(directory / "run/best.safetensors"));
    nn::Trainer<Net> one = make({.output = directory / "run", .resume = true}, how);
    EXPECT_EQ(parametersOf(one), run.parameters[0]); // the same bits
  }
}

TEST(TrainerRanks, RanksKeepTheirPartOfTheStateInFiles) {
  Points data;
  nn::Trainer<Net> whole = make({});
  whole.train(data);
  RankRun run =
      trainOn(2, {.mesh = {{"data", 2}}, .rules = {"batch:data", "adam@file"}, .zero = 1});
  EXPECT_EQ(run.errors, std::vector<std::string>(2));
  EXPECT_EQ(run.parameters,
            trainOn(2, {.mesh = {{"data", 2}}, .rules = {"batch:data"}, .zero = 1}).parameters);
  for (const auto &mine : run.parameters)
    expectNear(mine, parametersOf(whole));
}

/// 40 steps.
nn::Training longTraining(int64_t parts) {
  nn::Training how = training();
  how.epochs = 10;
  how.microBatches = parts;
  return how;
}

// The layers are on different ranks; with two parts the last batch has four samples and two.
TEST(TrainerRanks, StagesTrainAsOneProcess) {
  Points data;
  nn::Trainer<Net> whole = make({}, longTraining(1));
  whole.train(data);
  const nn::TrainerOptions ways[] = {
      {.mesh = {{"stage", 2}}, .rules = {"last@stage=1"}},
      {.mesh = {{"stage", 2}}, .rules = {"net.first@stage=1"}}, // and back again
      {.mesh = {{"data", 2}, {"stage", 2}}, .rules = {"net.last@stage=1", "batch:data"}, .zero = 1},
      {.mesh = {{"stage", 2}, {"data", 2}}, .rules = {"net.last@stage=1", "batch:data"}, .zero = 3},
      {.mesh = {{"stage", 2}, {"model", 2}}, .rules = {"last@stage=1", "hidden:model"}}};
  for (const nn::TrainerOptions &way : ways)
    for (int64_t parts : {1, 2}) {
      TemporaryDirectory directory;
      nn::TrainerOptions options = way;
      options.output = directory / "run";
      SCOPED_TRACE(way.mesh.str() + ", " + way.rules[0] + ", " + std::to_string(parts) + " parts");
      RankRun run = trainOn(int(way.mesh.ranks()), options, longTraining(parts));
      EXPECT_EQ(run.errors, std::vector<std::string>(size_t(way.mesh.ranks())));
      for (const auto &mine : run.parameters)
        expectNear(mine, parametersOf(whole));
      nn::Trainer<Net> one = make({.output = options.output, .resume = true}, longTraining(parts));
      EXPECT_EQ(parametersOf(one), run.parameters[0]); // the same bits
    }
}

TEST(TrainerRanks, OutputsAreThoseOfOneProcess) {
  Points data;
  auto scores = [](const Net &net, const nn::Fields &fields, nn::Mode &) {
    return net.last(relu(net.first(fields.at("point"), over(in))), over(hidden));
  };
  std::vector<float> wanted = valuesOf(make({}).predict(data, scores));
  ASSERT_EQ(wanted.size(), 60u);
  for (auto [axis, rule] : {std::pair("data", "batch:data"), {"stage", "last@stage=1"}}) {
    SCOPED_TRACE(axis);
    std::vector<std::vector<float>> got(2);
    TestJob job(2);
    std::vector<std::string> errors = job.run([&, axis = axis, rule = rule](Job &mine) {
      useEngine(mine, "shm", "timeout=60");
      nn::TrainerOptions options{.mesh = {{axis, 2}},
                                 .rules = {rule},
                                 .ranks = Ranks(std::shared_ptr<Job>(&mine, [](Job *) {}))};
      got[size_t(mine.rank())] = valuesOf(make(options).predict(data, scores));
    });
    EXPECT_EQ(errors, std::vector<std::string>(2));
    for (const auto &mine : got)
      expectNear(mine, wanted);
  }
}

// Each stage runs a program of its own, and the report has the memory plan of each.
TEST(TrainerRanks, ReportsHaveTheMemoryPlansOfAllPrograms) {
  Points data;
  auto count = [](const std::string &text, const std::string &word) {
    size_t number = 0;
    for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at)
      ++number;
    return number;
  };
  for (int64_t parts : {1, 2}) {
    SCOPED_TRACE(parts);
    TemporaryDirectory directory;
    nn::Training how = training();
    how.microBatches = parts;
    TestJob job(2);
    std::vector<std::string> errors = job.run([&](Job &mine) {
      useEngine(mine, "shm", "timeout=60");
      nn::TrainerOptions options{.output = directory / "run",
                                 .mesh = {{"stage", 2}},
                                 .rules = {"net.last@stage=1"},
                                 .ranks = Ranks(std::shared_ptr<Job>(&mine, [](Job *) {}))};
      nn::Trainer<Net> trainer = make(options, how);
      trainer.train(data);
      trainer.report("Two stages");
    });
    EXPECT_EQ(errors, std::vector<std::string>(2));
    std::string report = contentsOf(directory / "run/report.html");
    EXPECT_EQ(report.find("There is no memory plan"), std::string::npos);
    for (const char *plan : {"@train of stage=0: ", "@train of stage=1: "})
      EXPECT_EQ(count(report, plan), 1u) << plan;
  }
  TemporaryDirectory directory;
  nn::Training how = training();
  how.microBatches = 2;
  nn::Trainer<Net> trainer = make({.output = directory / "run"}, how);
  trainer.train(data);
  trainer.report("Two parts");
  std::string report = contentsOf(directory / "run/report.html");
  for (const char *plan : {"@accumulate: ", "@update: "})
    EXPECT_EQ(count(report, plan), 1u) << plan;
  EXPECT_EQ(report.find("http"), std::string::npos) << "the report should stand alone";
}

// A run with stages can be resumed without them, and the reverse.
TEST(TrainerRanks, StagesGoOnElsewhere) {
  TemporaryDirectory directory;
  Points data;
  nn::Trainer<Net> whole = make({});
  whole.train(data);
  nn::TrainerOptions options{.output = directory / "run", .steps = 5};
  make(options).train(data);
  options.resume = true;
  for (auto [steps, mesh, rules] :
       {std::tuple(7, Mesh{{"stage", 2}}, std::vector<std::string>{"net.last@stage=1"}),
        {9, Mesh{{"data", 2}}, {"batch:data"}},
        {0, Mesh{{"stage", 2}}, {"net.first@stage=1"}}}) {
    options.steps = steps;
    options.mesh = mesh;
    options.rules = rules;
    RankRun run = trainOn(2, options);
    EXPECT_EQ(run.errors, std::vector<std::string>(2));
    if (steps == 0)
      expectNear(run.parameters[0], parametersOf(whole));
  }
}

/// The number of events of each entry, rank and kind of row (0: steps, 1: transfers).
using Events = std::map<std::tuple<std::string, int, int>, int>;
static Events eventsIn(const std::string &path) {
  Events events;
  nlohmann::json trace = nlohmann::json::parse(contentsOf(path));
  for (const auto &event : trace.at("traceEvents"))
    if (event.at("ph") == "X")
      ++events[{event.at("cat"), event.at("pid"), event.at("tid").get<int>() >= 1000}];
  return events;
}

TEST(TrainerRanks, ATimelineShowsTheFirstStepsOfAllRanks) {
  TemporaryDirectory directory;
  nn::TrainerOptions options{
      .timeline = directory / "trace.json", .mesh = {{"data", 2}}, .rules = {"batch:data"}};
  std::map<int64_t, Events> found; // by steps of the run
  for (int64_t steps : {2, 5, 12}) {
    options.steps = steps;
    EXPECT_EQ(trainOn(2, options).errors, std::vector<std::string>(2));
    found[steps] = eventsIn(directory / "trace.json");
  }
  EXPECT_EQ(found[2].size(), 4u); // of "train" alone, though epochs end with tests
  for (int rank : {0, 1})
    for (int row : {0, 1}) {
      std::tuple key{"train", rank, row};
      EXPECT_GT(found[2][key], 0);
      EXPECT_EQ(found[5][key] * 2, found[2][key] * 5);
      EXPECT_EQ(found[12][key], found[2][key] * 5);
    }
  options = {.steps = 2, .timeline = directory / "alone.json"};
  make(options).train(Points());
  EXPECT_EQ(eventsIn(directory / "alone.json").size(), 1u); // there are no transfers
}

// Three ranks resume a run of two; three do not divide the batch.
TEST(TrainerRanks, OtherMeshesGoOn) {
  TemporaryDirectory directory;
  Points data;
  nn::Trainer<Net> whole = make({});
  whole.train(data);
  nn::TrainerOptions options{.output = directory / "run",
                             .steps = 6,
                             .mesh = {{"data", 2}},
                             .rules = {"batch:data"},
                             .zero = 1};
  EXPECT_EQ(trainOn(2, options).errors, std::vector<std::string>(2));
  options.resume = true;
  options.steps = 0;
  options.mesh = {{"data", 3}};
  RankRun run = trainOn(3, options);
  EXPECT_EQ(run.errors, std::vector<std::string>(3));
  for (const auto &mine : run.parameters)
    expectNear(mine, parametersOf(whole));
}

} // namespace
