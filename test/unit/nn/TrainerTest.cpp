//===- TrainerTest.cpp - train any network --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Generate.h"
#include "heddle/nn/data/Text.h"
#include "test/unit/nn/TrainerFixture.h"

#include <algorithm>
#include <cmath>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace heddle;
using namespace heddle::test;

TEST_F(Trainer, StoppedAnywhereARunGoesOnToTheSameBits) {
  makeWhole();
  // Within an epoch of four steps, at its end, and where a checkpoint was due.
  for (int64_t steps : {1, 4, 6, 11})
    EXPECT_EQ(make(options("parts", steps)).train(data, &test), nn::Ending::Steps);
  // A run that has made its number of steps makes no further step.
  std::string saved = file("parts", "checkpoint.safetensors");
  EXPECT_EQ(make(options("parts", 11)).train(data, &test), nn::Ending::Steps);
  EXPECT_TRUE(file("parts", "checkpoint.safetensors") == saved);
  EXPECT_EQ(make(options("parts")).train(data, &test), nn::Ending::Finished);
  expectWhole("parts");
}

TEST_F(Trainer, ASignalSavesAndTheRunGoesOnToTheSameBits) {
  makeWhole();
  Points interrupted{30};
  interrupted.signalAt = 20;
  for (auto [output, signal] : {std::pair("parts", SIGINT), {"other", SIGTERM}}) {
    interrupted.reads = 0;
    interrupted.signal = signal;
    nn::Trainer<Net> trainer = make(options(output));
    EXPECT_EQ(trainer.signal(), 0);
    EXPECT_EQ(trainer.train(interrupted, &test), nn::Ending::Interrupted);
    EXPECT_EQ(trainer.signal(), signal);
  }
  EXPECT_FALSE(file("parts", "checkpoint.safetensors").empty());
  EXPECT_FALSE(file("parts", "checkpoint.safetensors") == file("whole", "checkpoint.safetensors"));
  EXPECT_EQ(make(options("parts")).train(data, &test), nn::Ending::Finished);
  expectWhole("parts");
}

TEST_F(Trainer, KeepsTheBestEpochAndStopsWithoutProgress) {
  training.epochs = 20;
  training.patience = 2;
  training.goal = {"loss"};
  // Down for two epochs, then up.
  training.schedule = [](double rate, int64_t) -> nn::Schedule {
    return [=](int64_t step) { return step < 8 ? rate : -rate; };
  };
  auto first = std::make_unique<nn::Trainer<Net>>(make(options("a")));
  nn::Trainer<Net> &trainer = *first;
  EXPECT_EQ(trainer.train(data, &test), nn::Ending::NoProgress);
  const nn::History &history = trainer.history();
  size_t best = size_t(trainer.bestEpoch());
  ASSERT_EQ(history.size(), best + 3);
  for (const nn::EpochRecord &record : history)
    EXPECT_GE(record.test.at("loss"), history[best].test.at("loss"));
  EXPECT_EQ(trainer.evaluate(test).at("loss"), history.back().test.at("loss"));
  trainer.load(directory / "a/best.safetensors");
  EXPECT_EQ(trainer.evaluate(test).at("loss"), history[best].test.at("loss"));
  // A resumed run takes earlier epochs without progress into account.
  first.reset();
  EXPECT_EQ(make(options("a")).train(data, &test), nn::Ending::NoProgress);
}

TEST_F(Trainer, WritesALogAndAReport) {
  nn::TrainerOptions where = options("a");
  where.log = directory / "log";
  nn::Trainer<Net> trainer = make(where);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  trainer.train(data, &test);
  EXPECT_EQ(testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr(), "");
  nn::History history = nn::parseHistory(contentsOf(directory / "log"));
  ASSERT_EQ(history.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(history[i].epoch, int64_t(i) + 1);
    EXPECT_EQ(history[i].train, trainer.history()[i].train);
    EXPECT_EQ(history[i].test, trainer.history()[i].test);
    EXPECT_EQ(history[i].rate, nn::triangle(0.05, 12)(4 * int64_t(i) + 3));
    EXPECT_GT(history[i].peakMemoryBytes, 1 << 20);
  }
  trainer.report("A <small> net", "<p>more</p>");
  std::string report = file("a", "report.html");
  expectHas(report, {"A &#60;small&#62; net", "training loss", "test accuracy, %", "<polyline",
                     "Memory of a training step", "arena of", "<p>more</p>",
                     "Where a training step loses time", "medians of 10 training steps",
                     "TrainingStep.cpp:"});
  size_t rows = 0;
  for (size_t at = 0; (at = report.find("<tr><td>", at)) != std::string::npos; ++at)
    ++rows;
  EXPECT_EQ(rows, 5u);
  EXPECT_EQ(report.find("http"), std::string::npos) << "the report should stand alone";
}

TEST_F(Trainer, ADirectoryHasOneWriter) {
  nn::Trainer<Net> first = make(options("a"));
  expectHas(messageOf([&] { make(options("a")); }), {"in use by process", directory / "a"});
}

TEST_F(Trainer, ALogReplacesNoOtherFile) {
  nn::TrainerOptions where = options("a");
  where.log = directory / "notes";
  directory.write("notes", "of the user");
  expectHas(messageOf([&] { make(where); }), {"'" + where.log + "'", "does not begin with '{'"});
  EXPECT_EQ(contentsOf(where.log), "of the user");
  for (const char *own : {"best.safetensors", "checkpoint.safetensors", "run.lock"}) {
    where.log = directory / (std::string("a/") + own);
    expectHas(messageOf([&] { make(where); }), {"a file of its own for the log", own});
  }
  // It does not truncate the file of standard output, only appends to it.
  where.log = "/dev/stdout";
  std::string printed = directory / "printed";
  fflush(stdout);
  int before = dup(STDOUT_FILENO),
      file = open(printed.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0666);
  dup2(file, STDOUT_FILENO);
  printf("first\n");
  fflush(stdout);
  make(where).train(data, &test);
  dup2(before, STDOUT_FILENO);
  close(before), close(file);
  std::string text = contentsOf(printed);
  EXPECT_TRUE(text.starts_with("first\n{")) << text;
  EXPECT_EQ(std::ranges::count(text, '\n'), 4);
}

TEST_F(Trainer, ALogThatCanNotBeWrittenIsRefusedBeforeAnythingIsMoved) {
  nn::TrainerOptions where = options("a");
  make(where).train(data, &test);
  std::string saved = file("a", "checkpoint.safetensors");
  where.resume = false;
  auto refused = [&](const std::string &path, const char *reason) {
    for (std::string nn::TrainerOptions::*named :
         {&nn::TrainerOptions::log, &nn::TrainerOptions::timeline}) {
      if (named == &nn::TrainerOptions::timeline && path.ends_with("pipe"))
        continue;
      where.log = where.timeline = "";
      where.*named = path;
      expectHas(messageOf([&] { make(where); }), {"can't write '" + path + "'", reason});
    }
    EXPECT_FALSE(std::filesystem::exists(directory / "a/earlier-1"));
    EXPECT_TRUE(file("a", "checkpoint.safetensors") == saved);
  };
  refused(directory / "none/log", "No such file or directory");
  refused(directory / "a/none/log", "No such file or directory");
  refused(directory.path, "Is a directory");
  ASSERT_EQ(mkfifo((directory / "pipe").c_str(), 0600), 0);
  refused(directory / "pipe", "it is a pipe that no process reads");
  // With a reader it is a log.
  where.log = directory / "pipe";
  int reader = open(where.log.c_str(), O_RDONLY | O_NONBLOCK);
  make(where).train(data, &test);
  char line[16] = "";
  EXPECT_EQ(read(reader, line, sizeof line), ssize_t(sizeof line));
  EXPECT_EQ(line[0], '{');
  close(reader);
}

TEST_F(Trainer, PathsMayBeRelative) {
  std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(directory.path);
  nn::TrainerOptions where = options("a");
  where.output = "b/c";
  for (const char *log : {"log", "b/c/log", "./b/../log2"}) {
    where.log = log;
    EXPECT_NO_THROW(make(where)) << log;
  }
  where.log = "none/log";
  expectHas(messageOf([&] { make(where); }), {"can't write 'none/log': No such file"});
  where.output = ".";
  where.log = "best.safetensors";
  expectHas(messageOf([&] { make(where); }), {"a file of its own for the log"});
  std::filesystem::current_path(before);
}

TEST_F(Trainer, NothingIsWrittenThroughALink) {
  directory.write("mine", "of the user");
  for (const char *name : {"run.lock", "report.html", "train.heddle", "best.safetensors"}) {
    std::string output = std::string("with-") + name;
    std::filesystem::create_directory(directory / output);
    std::filesystem::create_symlink(directory / "mine", directory / (output + "/" + name));
    expectHas(messageOf([&] { make(options(output)); }), {"the symbolic link", name});
    EXPECT_EQ(contentsOf(directory / "mine"), "of the user") << name;
  }
}

TEST_F(Trainer, EmptyTestDataIsRefusedAtOnce) {
  Points none{0};
  expectHas(messageOf([&] { make(options("a")).train(data, &none); }),
            {"expected test data with samples, got none"});
  EXPECT_EQ(data.reads, 0);
}

TEST_F(Trainer, RemovesWhatAKilledRunLeft) {
  std::filesystem::create_directory(directory / "a");
  directory.write("a/best.safetensors.part-12-3", "half");
  for (const char *other : {"a/model.safetensors.part-1", "a/best.safetensors.part-1"})
    directory.write(other, "of the user");
  make(options("a"));
  EXPECT_FALSE(std::filesystem::exists(directory / "a/best.safetensors.part-12-3"));
  EXPECT_TRUE(std::filesystem::exists(directory / "a/model.safetensors.part-1"));
  EXPECT_TRUE(std::filesystem::exists(directory / "a/best.safetensors.part-1"));
}

TEST_F(Trainer, ACheckpointOfAnotherNetworkIsListedWhole) {
  make(options("a", 1)).train(data);
  std::string before = file("a", "checkpoint.safetensors");
  std::string message =
      messageOf([&] { nn::Trainer<Net>(Net::make(6), lossOf, key(3), training, options("a")); });
  expectHas(message, {"checkpoint.safetensors", "net.first.weight", "hidden: 5", "hidden: 6",
                      "net.last.weight", "adam.mean.first.bias", "mode.moments.norm.mean"});
  // If the batch differs too, the message names it after the tensors.
  nn::Training other = training;
  other.batch += 1;
  message = messageOf([&] { nn::Trainer<Net>(Net::make(6), lossOf, key(3), other, options("a")); });
  size_t tensors = message.find("hidden: 6"), settings = message.find("is of a run with batch");
  EXPECT_LT(tensors, settings) << message;
  EXPECT_NE(settings, std::string::npos) << message;
  expectHas(message, {"hidden: 5", "adam.mean.first.bias", "mode.moments.norm.mean"});
  EXPECT_TRUE(file("a", "checkpoint.safetensors") == before);
}

TEST_F(Trainer, ADamagedCheckpointIsNamedAndReplacesNothing) {
  make(options("a", 4)).train(data);
  std::string path = directory / "a/checkpoint.safetensors";
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 9);
  std::string best = file("a", "best.safetensors"), damaged = contentsOf(path);
  expectHas(messageOf([&] { make(options("a")); }), {path});
  EXPECT_TRUE(contentsOf(path) == damaged);
  EXPECT_TRUE(file("a", "best.safetensors") == best);
}

TEST_F(Trainer, OtherSettingsThanThoseOfTheCheckpointAreNamed) {
  make(options("a", 1)).train(data);
  training.seed = 9;
  expectHas(messageOf([&] { make(options("a")); }), {"seed 1", "expected seed 9"});
  training.seed = 1;
  training.products = ElementType::BF16;
  expectHas(messageOf([&] { make(options("a")); }), {"products f32", "expected products bf16"});
  training.products = ElementType::F16; // whose checkpoints have other tensors
  expectHas(messageOf([&] { make(options("a")); }), {"products f32", "expected products f16"});
  training.products = {};
  nn::TrainerOptions other = options("a");
  other.notes = {{"limit", "20"}};
  expectHas(messageOf([&] { make(other); }), {"limit unknown", "expected limit 20"});
  EXPECT_EQ(nn::AnyTrainer::savedNotes(directory / "a")->at("seed"), "1");
  EXPECT_FALSE(nn::AnyTrainer::savedNotes(directory / "b"));
}

// A checkpoint keeps all settings that determine the numbers of a run, such as options of the
// optimiser, order and number of the samples, and the schedule.
TEST_F(Trainer, ARunGoesOnWithItsOwnSettingsOnly) {
  make(options("a", 5)).train(data); // in the second epoch
  nn::Training own = training;
  auto other = [&](auto &&change, const std::vector<std::string> &parts) {
    training = own;
    change();
    expectHas(messageOf([&] { make(options("a")).train(data); }), parts);
  };
  other([&] { training.optimizer = nn::optimizer<nn::Adam>({.beta1 = 0.1}); },
        {"optimizer other paths beta1 0.9", "expected optimizer other paths beta1 0.1"});
  other([&] { training.optimizer = nn::optimizer<nn::Adam>({{}, {{"*.bias", {.decay = 0.5}}}}); },
        {"expected optimizer *.bias beta1 0.9", "decay 0.5"});
  other([&] { training.similar = 2; }, {"similar 0", "expected similar 2"});
  other([&] { training.skipDamaged = true; }, {"skip-damaged 0"});
  other([&] { training.goal.larger = false; }, {"goal accuracy, larger"});
  other([&] { training.schedule = {}; }, {"rates ", "expected rates 0.05, 0.05, 0.05, 0.05"});
  training = own;
  Points more{31};
  expectHas(messageOf([&] { make(options("a")).train(more); }),
            {"with samples 30, expected samples 31"});
  EXPECT_EQ(make(options("a")).train(data), nn::Ending::Finished);
}

TEST_F(Trainer, BadDataAndOptionsAreNamed) {
  nn::Trainer<Net> trainer = make(options(""));
  Points none{0};
  expectHas(messageOf([&] { trainer.train(none); }), {"with samples, got none"});
  expectHas(messageOf([&] { trainer.evaluate(none); }), {"with samples, got none"});
  auto lossless = [](const Net &, const nn::Fields &fields, nn::Mode &) {
    return nn::Outcome{sum(fields.at("label"), batch), {}};
  };
  expectHas(messageOf([&] {
              nn::Trainer<Net>(Net::make(), lossless, key(3), training, options("c")).train(data);
            }),
            {"a loss of floats", "got !nd.tensor<i32>"});
  expectHas(messageOf([&] {
              training.goal.measure = "precision";
              make(options("a")).train(data);
            }),
            {"unknown measure 'precision'", "loss, accuracy"});
  training.batch = 0;
  expectHas(messageOf([&] { make(options("b")); }), {"a batch of 0"});
  training.batch = 8;
  for (double clip : {-1.0, double(NAN)}) {
    training.clip = clip;
    expectHas(messageOf([&] { make(options("b")); }), {"Training::clip) of at least 0"});
  }
  training.clip = 0;
  training.patience = -1;
  expectHas(messageOf([&] { make(options("b")); }), {"a patience of at least 0, got -1"});
  training.patience = 0;
  nn::TrainerOptions other = options("b");
  other.readers = 0;
  expectHas(messageOf([&] { make(other); }), {"a number of readers of at least 1, got 0"});
}

TEST_F(Trainer, FewerSamplesThanABatchAreABatch) {
  Points few{3};
  nn::Trainer<Net> trainer = make(options("a"));
  EXPECT_EQ(trainer.train(few, &few), nn::Ending::Finished);
  EXPECT_TRUE(std::isfinite(trainer.history().back().train.at("loss")));
}

namespace {
struct Two {
  Tensor slope, length;
  HEDDLE_FIELDS(slope, length)
};
} // namespace

TEST_F(Trainer, TheFirstParameterWithoutAFiniteGradientIsNamed) {
  // At 0 the value of the square root is finite, its derivative is not.
  auto loss = [](const Two &two, const nn::Fields &fields, nn::Mode &) {
    Tensor x = sum(fields.at("point"), over(in)) * two.slope;
    return nn::Outcome{nn::sampleMean(x * x, fields) + sqrt(two.length * two.length), {}};
  };
  training.goal = {};
  Two two{constant(1), constant(0)};
  nn::Trainer<Two> trainer(two, loss, key(1), training, options("a"));
  expectHas(messageOf([&] { trainer.train(data); }),
            {"the gradient of 'length' is not finite at step 1 of epoch 1", "rate"});
  EXPECT_FALSE(std::filesystem::exists(directory / "a/checkpoint.safetensors"));
}

TEST_F(Trainer, LossesAreScaledForProductsOfF16) {
  struct Scale {
    nn::LossScale scale;
    HEDDLE_FIELDS(scale)
  };
  auto scaleAfter = [&](const std::string &output) {
    Scale saved{nn::LossScale::make()};
    nn::loadTree(directory / (output + "/checkpoint.safetensors"), saved,
                 {.names = {}, .ignored = {"net.*", "mode.*", "adam.*"}});
    return saved.scale.scale.item();
  };
  auto huge = [](const Net &net, const nn::Fields &fields, nn::Mode &mode) {
    nn::Outcome outcome = lossOf(net, fields, mode);
    outcome.loss = outcome.loss * 1e4;
    return outcome;
  };
  training.products = ElementType::F16;
  training.epochs = 8; // of four steps, about half of which only make the scale smaller
  for (int64_t parts : {1, 2}) {
    training.microBatches = parts;
    std::string name = "a" + std::to_string(parts);
    // The first scale times 10000 overflows f16: steps are skipped until the product fits.
    nn::Trainer<Net> trainer(Net::make(), huge, key(3), training, options(name));
    EXPECT_EQ(trainer.train(data, &test), nn::Ending::Finished);
    EXPECT_LT(trainer.history().back().train.at("loss"), trainer.history()[0].train.at("loss"));
    double scale = scaleAfter(name);
    EXPECT_LT(scale, 65536);
    EXPECT_GT(scale, 0.1);
  }
}

TEST_F(Trainer, AScaleThatCanNotFallNamesTheGradient) {
  auto loss = [](const Two &two, const nn::Fields &fields, nn::Mode &) {
    Tensor x = sum(fields.at("point"), over(in)) * two.slope;
    return nn::Outcome{nn::sampleMean(x * x, fields) + sqrt(two.length * two.length), {}};
  };
  training.goal = {};
  training.epochs = 20;
  training.products = ElementType::F16;
  Two two{constant(1), constant(0)};
  nn::Trainer<Two> trainer(two, loss, key(1), training, options("a"));
  // From 2^16 to 2^-24 in 40 steps, of which an epoch has four.
  expectHas(messageOf([&] { trainer.train(data); }),
            {"the gradient of 'length' is not finite at step 1 of epoch 11", "rate"});
}

TEST_F(Trainer, LabelsAndLengthsOutOfRangeAreNamed) {
  /// The labels, or lengths, 0, 3, 6.
  struct Marked : nn::Dataset {
    int64_t count() const override { return 3; }
    std::vector<nn::Field> fields() const override {
      return {{"point", ElementType::F32, {2}, {"in"}}, {"mark", ElementType::I32, {}, {}}};
    }
    nn::Sample read(int64_t index) const override {
      return {io::HostArray::of<float>({1, 2}, {2}),
              io::HostArray::of<int32_t>({int32_t(3 * index)}, {})};
    }
  } marked;
  training.goal = {};
  auto messageWith = [&](bool check, auto each) {
    auto loss = [&](const Two &two, const nn::Fields &fields, nn::Mode &) {
      Tensor losses = each(fields.at("point") * two.slope, fields.at("mark"));
      return nn::Outcome{nn::sampleMean(losses, fields), {}};
    };
    Two two{constant(1), constant(1)};
    nn::TrainerOptions how = options(check ? "checked" : "a");
    how.check = check;
    nn::Trainer<Two> trainer(two, loss, key(1), training, how);
    return messageOf([&] { trainer.train(marked); });
  };
  auto labels = [](Tensor x, Tensor mark) { return nn::crossEntropy(x, mark, in); };
  auto lengths = [](Tensor x, Tensor mark) { return nn::lastOf(x, in, mark); };
  auto expectNamed = [&](auto each, const std::string &expected) {
    expectHas(messageWith(false, each),
              {"the loss is not a number at step 1 of epoch 1", "'mark' from 0 to 6"});
    expectHas(messageWith(true, each), {"TrainerTest.cpp", expected});
  };
  expectNamed(labels, "expected coordinates of 'in' from 0 to 1, got 6");
  expectNamed(lengths, "expected coordinates of 'in' from 0 to 2, got");
}

TEST_F(Trainer, FieldsHaveLengthsWeightsAndProgress) {
  nn::TextLines lines("one\nfour\nx", nn::bytes);
  nn::Loader loader(lines, {.batch = 4});
  nn::Fields fields = nn::fieldsOf(*loader.next(), 0.5);
  EXPECT_EQ(fields.at("text").type(), "!nd.tensor<i32, batch: 4, time: 4>");
  EXPECT_EQ(fields.at("text_length").to<int32_t>({batch}), (std::vector<int32_t>{3, 4, 1, 3}));
  EXPECT_EQ(fields.at("weight").to<float>({batch}), (std::vector<float>{1, 1, 1, 0}));
  EXPECT_EQ(fields.at("progress").item(), 0.5);
}

TEST(SampleMean, LeavesFillingOutAlsoIfItIsNoNumber) {
  nn::Fields fields{{"weight", Tensor::of<float>({1, 1, 0}, {{batch, 3}})}};
  Tensor each = Tensor::of<float>({1, 4, NAN}, {{batch, 3}});
  EXPECT_EQ(nn::sampleMean(each, fields).item(), 2.5);
  Tensor more = Tensor::of<float>({1, 3, 5, 7, NAN, NAN}, {{batch, 3}, {in, 2}});
  EXPECT_EQ(nn::sampleMean(more, fields).item(), 4);
  expectHas(messageOf([&] { nn::sampleMean(constant(1), fields); }), {"batch"});
}
