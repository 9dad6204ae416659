//===- TrainerRunsTest.cpp - several runs, and settings of a run ----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/nn/TrainerFixture.h"

#include <cmath>
#include <condition_variable>
#include <fstream>
#include <regex>
#include <sstream>

using namespace heddle;
using namespace heddle::test;

namespace {
class TrainerRuns : public Trainer {
protected:
  nn::TrainerOptions anew(const std::string &output) const {
    nn::TrainerOptions made = options(output);
    made.resume = false;
    made.log = directory / (output + "/log");
    return made;
  }
  /// Rewrites the notes of a checkpoint.
  void setNotes(const std::string &path, const nn::Notes &changed) const {
    io::Safetensors file = io::readSafetensors(path);
    for (const auto &[key, value] : changed)
      file.metadata[key] = value;
    io::writeSafetensors(path, file);
  }
};
} // namespace

TEST_F(TrainerRuns, AnEarlierRunIsMovedAside) {
  make(anew("a")).train(data, &test);
  std::string saved = file("a", "checkpoint.safetensors"), best = file("a", "best.safetensors"),
              log = file("a", "log");
  EXPECT_FALSE(log.empty());
  training.rate = 1e30;
  EXPECT_NE(messageOf([&] { make(anew("a")).train(data, &test); }), "");
  EXPECT_TRUE(file("a/earlier-1", "checkpoint.safetensors") == saved);
  EXPECT_TRUE(file("a/earlier-1", "best.safetensors") == best);
  EXPECT_EQ(file("a/earlier-1", "log"), log);
  EXPECT_FALSE(std::filesystem::exists(directory / "a/best.safetensors"));
  // The failed run saved nothing, so there is nothing to move.
  training.rate = 0.05;
  make(anew("a")).train(data, &test);
  EXPECT_TRUE(file("a", "best.safetensors") == best);
  EXPECT_FALSE(std::filesystem::exists(directory / "a/earlier-2"));
  make(anew("a")).train(data, &test);
  EXPECT_TRUE(file("a/earlier-2", "best.safetensors") == best);
}

TEST_F(TrainerRuns, AResumedRunKeepsWhatItsLogHasMeasured) {
  nn::TrainerOptions where = anew("a");
  make(where).train(data, &test);
  std::string log = file("a", "log");
  where.resume = true;
  {
    nn::Trainer<Net> again = make(where);
    EXPECT_EQ(again.train(data, &test), nn::Ending::Finished);
    EXPECT_GT(again.history()[0].peakMemoryBytes, 0);
    EXPECT_EQ(file("a", "log"), log);
  }
  training.epochs = 4; // other rates, the same epochs before
  make(where).train(data, &test);
  EXPECT_TRUE(file("a", "log").starts_with(log));
  EXPECT_EQ(nn::parseHistory(file("a", "log")).size(), 4u);
}

TEST_F(TrainerRuns, ATestLossThatIsNoNumberCanBeResumed) {
  struct Bad : Points {
    using Points::Points;
    nn::Sample read(int64_t index) const override {
      nn::Sample sample = Points::read(index);
      sample[1] = io::HostArray::of<int32_t>({7}, {});
      return sample;
    }
  } bad{11};
  make(options("a")).train(data, &bad);
  nn::Trainer<Net> again = make(options("a"));
  EXPECT_TRUE(std::isnan(again.history()[0].test.at("loss")));
  again.report("a");
  expectHas(file("a", "report.html"), {"training loss"});
}

TEST_F(TrainerRuns, ReportsOfLargeAndEqualValuesEnd) {
  auto constant = [](const Net &net, const nn::Fields &fields, nn::Mode &mode) {
    nn::Outcome outcome = lossOf(net, fields, mode);
    return nn::Outcome{outcome.loss * 0.0 + 5e9, {}};
  };
  training.goal = {};
  nn::Trainer<Net> trainer(Net::make(), constant, key(3), training, options("a"));
  trainer.train(data);
  trainer.report("a");
  EXPECT_LT(file("a", "report.html").size(), size_t(1) << 20);
}

TEST_F(TrainerRuns, PositionsThatNoRunHasAreRefused) {
  make(options("a", 5)).train(data); // within the second epoch
  std::string path = directory / "a/checkpoint.safetensors", good = contentsOf(path);
  for (const nn::Notes &notes : {nn::Notes{{"step", "-7"}},
                                 {{"epoch", "-2"}},
                                 {{"epoch", "2"}},
                                 {{"step", "1x"}},
                                 {{"step", "9223372036854775807"}},
                                 {{"sum.loss", "1"}},
                                 {{"sum.loss", "1 2 3"}}}) {
    directory.write("a/checkpoint.safetensors", good);
    setNotes(path, notes);
    expectHas(messageOf([&] { make(options("a")); }), {path, "not a checkpoint of a trainer"});
  }
  directory.write("a/checkpoint.safetensors", good);
  setNotes(path, {{"step", "4000000000000000000"}});
  expectHas(messageOf([&] { make(options("a")).train(data); }), {"expected one of 4 steps"});
}

TEST_F(TrainerRuns, LastBatchesAreDropped) {
  training.last = nn::Last::Drop;
  nn::Trainer<Net> trainer = make(options("a"));
  trainer.train(data);
  EXPECT_EQ(data.reads, 3 * 24); // of 30 samples three batches of 8
  Points few{7};
  expectHas(messageOf([&] { make(options("b")).train(few); }), {"one batch of 8", "got 7"});
}

TEST_F(TrainerRuns, DamagedSamplesAreLeftOut) {
  struct Damaged : Points {
    using Points::Points;
    nn::Sample read(int64_t index) const override {
      if (index % 10 == 3)
        throw nn::DamagedSample("sample " + std::to_string(index) + " is damaged");
      return Points::read(index);
    }
  } damaged{30};
  expectHas(messageOf([&] { make(options("a")).train(damaged); }), {"is damaged"});
  training.skipDamaged = true;
  nn::TrainerOptions loud = options("b");
  loud.quiet = false;
  testing::internal::CaptureStdout();
  EXPECT_EQ(make(loud).train(damaged), nn::Ending::Finished);
  expectHas(testing::internal::GetCapturedStdout(), {"skipped 3 damaged samples"});
}

/// One step of plain gradient descent with the gradient -3.
TEST_F(TrainerRuns, GradientsAreClippedByValue) {
  struct Slope {
    Tensor x;
    HEDDLE_FIELDS(x)
  };
  auto loss = [](const Slope &slope, const nn::Fields &fields, nn::Mode &) {
    return nn::Outcome{nn::sampleMean(-3.0 * slope.x + fields.at("weight") * 0.0, fields), {}};
  };
  training = {.batch = 30, .optimizer = nn::optimizer<nn::Sgd>(), .rate = 0.5, .clipByValue = 2};
  nn::Trainer<Slope> trainer(Slope{constant(1)}, loss, key(1), training, options("a"));
  trainer.train(data);
  EXPECT_EQ(trainer.net().x.item(), 2.0);
}

TEST_F(TrainerRuns, TestsTakeTheMovingAverage) {
  nn::Trainer<Net> plain = make(options("plain"));
  plain.train(data, &test);
  training.average = 0.5;
  nn::TrainerOptions where = options("a", 5);
  make(where).train(data, &test); // stopped and resumed
  where.steps = 0;
  {
    nn::Trainer<Net> trainer = make(where);
    trainer.train(data, &test);
    nn::ByPath averaged = trainer.parameters();
    io::Safetensors last = io::readSafetensors(directory / "a/checkpoint.safetensors");
    double apart = 0;
    for (const auto &[path, tensor] : plain.parameters()) {
      auto valuesOf = [&](const Tensor &x) { return x.to<float>(nn::namesOf(tensor)); };
      std::vector<float> wanted = valuesOf(tensor), average = valuesOf(averaged.at(path)),
                         got = valuesOf(nn::tensorOf(last.at("net." + path)));
      EXPECT_EQ(average, valuesOf(nn::tensorOf(last.at("moving.average." + path)))) << path;
      for (size_t i = 0; i < wanted.size(); ++i) {
        if (path != "first.bias") // which the norm takes away, so that its gradient is rounding
          EXPECT_NEAR(got[i], wanted[i], 1e-5) << path; // the average changes no parameter
        apart = std::max(apart, std::abs(double(average[i]) - double(wanted[i])));
      }
    }
    EXPECT_GT(apart, 1e-4);
    EXPECT_EQ(trainer.evaluate(test).at("loss"), trainer.history().back().test.at("loss"));
    trainer.load(directory / "a/best.safetensors");
    size_t best = size_t(trainer.bestEpoch());
    EXPECT_EQ(trainer.evaluate(test).at("loss"), trainer.history()[best].test.at("loss"));
  }
  training.average = 0;
  expectHas(messageOf([&] { make(options("a")); }), {"average 0.5", "expected average 0"});
}

/// Each read waits until three reads run.
TEST_F(TrainerRuns, EveryReaderReads) {
  struct Waiting : Points {
    using Points::Points;
    mutable std::mutex mutex;
    mutable std::condition_variable changed;
    mutable int now = 0, most = 0;
    nn::Sample read(int64_t index) const override {
      std::unique_lock lock(mutex);
      most = std::max(most, ++now);
      changed.notify_all();
      changed.wait_for(lock, std::chrono::seconds(20), [&] { return most >= 3; });
      --now;
      return Points::read(index);
    }
  } waiting{30};
  nn::TrainerOptions where = options("a");
  where.readers = 3;
  training.epochs = 1;
  make(where).train(waiting);
  EXPECT_GE(waiting.most, 3);
}

/// The padding of the last batch leaves the running moments those of the samples.
TEST_F(TrainerRuns, MomentsAreThoseOfSamples) {
  struct Fives : Points {
    using Points::Points;
    nn::Sample read(int64_t index) const override {
      return {io::HostArray::of<float>({5, 5}, {2}), Points::read(index)[1]};
    }
  } fives{30};
  struct Normed {
    nn::BatchNorm norm;
    nn::Linear last;
    HEDDLE_FIELDS(norm, last)
  };
  auto loss = [](const Normed &net, const nn::Fields &fields, nn::Mode &mode) {
    Tensor scores = net.last(net.norm(fields.at("point"), over(batch), mode), over(in));
    return nn::Outcome{
        nn::sampleMean(nn::crossEntropy(scores, fields.at("label"), classes), fields), {}};
  };
  training.goal = {};
  nn::Trainer<Normed> trainer(
      Normed{nn::BatchNorm::make({in, 2}), nn::Linear::make({{in, 2}}, {classes, 2}, key(1))}, loss,
      key(2), training, options("a"));
  trainer.train(fives);
  for (float mean : trainer.mode().moments.at("norm").mean.to<float>({in}))
    EXPECT_NEAR(mean, 5 * (1 - std::pow(0.9, 12)), 1e-4); // of 12 steps
}

TEST_F(TrainerRuns, NamesThatMeetAndUnknownFieldsAreNamed) {
  auto two = [](const Net &net, const nn::Fields &fields, nn::Mode &mode) {
    nn::Outcome outcome = lossOf(net, fields, mode);
    outcome.measures["loss"] = outcome.measures.at("accuracy");
    return outcome;
  };
  training.goal = {};
  expectHas(messageOf([&] {
              nn::Trainer<Net>(Net::make(), two, key(3), training, options("a")).train(data);
            }),
            {"no measure called 'loss'"});
  auto unknown = [](const Net &, const nn::Fields &fields, nn::Mode &) {
    return nn::Outcome{fields.at("points"), {}};
  };
  expectHas(messageOf([&] {
              nn::Trainer<Net>(Net::make(), unknown, key(3), training, options("b")).train(data);
            }),
            {"TrainerRunsTest.cpp", "no field 'points'", "'label', 'point', 'progress', 'weight'"});
  struct Weighted : Points {
    using Points::Points;
    std::vector<nn::Field> fields() const override {
      std::vector<nn::Field> fields = Points::fields();
      fields[0].name = "weight";
      return fields;
    }
  } weighted{30};
  expectHas(messageOf([&] { make(options("c")).train(weighted); }), {"got 'weight' twice"});
  for (double rate : {-1.0, double(NAN)}) {
    training.rate = rate;
    expectHas(messageOf([&] { make(options("d")); }), {"learning rate of at least 0"});
  }
}

TEST_F(TrainerRuns, LossesAndMeasuresWithNamesAreRefused) {
  auto loss = [](const Net &net, const nn::Fields &fields, nn::Mode &mode) {
    nn::Outcome outcome = lossOf(net, fields, mode);
    outcome.loss = outcome.loss + fields.at("weight");
    return outcome;
  };
  auto measure = [](const Net &net, const nn::Fields &fields, nn::Mode &mode) {
    nn::Outcome outcome = lossOf(net, fields, mode);
    outcome.measures["accuracy"] = fields.at("weight") * 2.0;
    return outcome;
  };
  int line = __LINE__ + 1;
  nn::Trainer<Net> first(Net::make(), loss, key(3), training, options("a"));
  expectHas(messageOf([&] { first.train(data); }),
            {"TrainerRunsTest.cpp:" + std::to_string(line) + ":",
             "expected the loss to be one number, got !nd.tensor<f32, batch: 8>", "over 'batch'"});
  nn::Trainer<Net> second(Net::make(), measure, key(3), training, options("b"));
  expectHas(messageOf([&] { second.train(data); }),
            {"expected the measure 'accuracy' to be one number", "batch: 8"});
}

TEST_F(TrainerRuns, RatesFallOnAPlateauAlsoOfAResumedRun) {
  training.epochs = 6;
  training.schedule = {};
  training.goal = {"loss"};
  // No loss is better than the first one by the threshold.
  training.plateau = nn::Plateau{.factor = 0.5, .patience = 0, .threshold = 0.9, .least = 0.01};
  makeWhole();
  std::vector<double> rates;
  for (const nn::EpochRecord &record : make(options("whole")).history())
    rates.push_back(record.rate);
  EXPECT_EQ(rates, (std::vector<double>{0.05, 0.05, 0.025, 0.0125, 0.01, 0.01}));
  for (int64_t steps : {5, 9, 14})
    EXPECT_EQ(make(options("parts", steps)).train(data, &test), nn::Ending::Steps);
  EXPECT_EQ(make(options("parts")).train(data, &test), nn::Ending::Finished);
  expectWhole("parts");
  training.plateau = {};
  expectHas(messageOf([&] { make(options("parts")); }),
            {"plateau 0.5 0 0.9 0.01, expected plateau none"});
  training.plateau = nn::Plateau{.factor = 2};
  expectHas(messageOf([&] { make(options("b")); }), {"a factor between 0 and 1"});
}

TEST_F(TrainerRuns, EachEpochIsHandedOnWhenItIsSaved) {
  std::vector<nn::EpochRecord> seen;
  nn::TrainerOptions where = options("a");
  where.onEpoch = [&](const nn::EpochRecord &record) {
    seen.push_back(record);
    EXPECT_EQ(nn::AnyTrainer::savedNotes(directory / "a")->at("epoch"),
              std::to_string(record.epoch));
    if (record.epoch == 2)
      throw Error("that will do");
  };
  expectHas(messageOf([&] { make(where).train(data, &test); }), {"that will do"});
  ASSERT_EQ(seen.size(), 2u);
  nn::Trainer<Net> again = make(options("a"));
  EXPECT_EQ(again.train(data, &test), nn::Ending::Finished);
  EXPECT_EQ(again.history().size(), 3u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(again.history()[i].train, seen[i].train);
    EXPECT_EQ(again.history()[i].test, seen[i].test);
  }
}

TEST_F(TrainerRuns, StepsAreLoggedAndHandedOn) {
  std::vector<nn::StepRecord> seen;
  nn::TrainerOptions where = anew("a");
  where.logEvery = 3; // of four steps an epoch
  where.onStep = [&](const nn::StepRecord &record) { seen.push_back(record); };
  nn::Trainer<Net> trainer = make(where);
  trainer.train(data, &test);
  ASSERT_EQ(seen.size(), 12u);
  for (size_t epoch = 0; epoch < 3; ++epoch) {
    double sum = 0; // an epoch's loss is the mean over its samples
    for (size_t step = 0; step < 4; ++step) {
      const nn::StepRecord &record = seen[4 * epoch + step];
      EXPECT_EQ(record.step, int64_t(4 * epoch + step + 1));
      EXPECT_EQ(record.epoch, int64_t(epoch + 1));
      EXPECT_EQ(record.rate, nn::triangle(0.05, 12)(record.step - 1));
      sum += record.train.at("loss") * (step < 3 ? 8 : 6);
    }
    EXPECT_NEAR(trainer.history()[epoch].train.at("loss"), sum / 30, 1e-6);
  }
  std::string log = file("a", "log"), order;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);)
    order += line.starts_with("{\"step\"") ? "s" : line.starts_with("{\"epoch\"") ? "e" : "?";
  EXPECT_EQ(order, "sesesse"); // after 3, 4, 6, 8, 9, 12 and 12 steps
  nn::StepHistory steps = nn::parseSteps(log);
  ASSERT_EQ(steps.size(), 4u);
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(steps[i].json(), seen[3 * i + 2].json());
  EXPECT_EQ(trainer.stepHistory().size(), 4u);
  // A number has no more digits than f32 has.
  EXPECT_FALSE(std::regex_search(log, std::regex("_(loss|accuracy)\":[0-9]\\.0*[0-9]{10}"))) << log;
  trainer.report("a");
  expectHas(file("a", "report.html"), {"<h2>Steps</h2>", "'>step</text>", "<title>step 12: "});
}

TEST_F(TrainerRuns, ARunWithinItsFirstEpochHasALogAndAReport) {
  nn::TrainerOptions where = anew("a");
  where.steps = 3;
  nn::Trainer<Net> trainer = make(where);
  EXPECT_EQ(trainer.train(data, &test), nn::Ending::Steps);
  nn::StepHistory steps = nn::parseSteps(file("a", "log"));
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].step, 3);
  trainer.report("a");
  expectHas(file("a", "report.html"), {"3 steps; the last one has loss ", "<title>step 3: "});
}

TEST_F(TrainerRuns, AResumedRunKeepsTheStepsBeforeItsCheckpoint) {
  auto withoutMeasurements = [&](const std::string &output) {
    std::string log = file(output, "log");
    return nn::toText(nn::parseHistory(log), /*measured=*/false, nn::parseSteps(log));
  };
  nn::TrainerOptions where = anew("whole");
  where.logEvery = 2;
  make(where).train(data, &test);
  for (int64_t steps : {3, 7, 0}) {
    where = options("parts", steps);
    where.log = directory / "parts/log";
    where.logEvery = 2;
    make(where).train(data, &test);
    if (steps) // as if the run had continued and been killed during a write
      std::ofstream(where.log, std::ios::app)
          << "{\"step\":" << steps + 1 << ",\"epoch\":" << steps / 4 + 1
          << ",\"train_loss\":7,\"rate\":1}\n{\"step\":8";
  }
  EXPECT_EQ(withoutMeasurements("parts"), withoutMeasurements("whole"));
}

TEST(History, ValuesOfF32AreShort) {
  EXPECT_EQ(nn::shortest(double(0.1f)), 0.1);
  EXPECT_EQ(nn::shortest(1.0 / 3), 0.33333334);
  EXPECT_EQ(nn::shortest(1e300), 1e300);
  EXPECT_TRUE(std::isnan(nn::shortest(NAN)));
  for (float value : {1.17549435e-38f, 3.40282347e38f, 16777217.f, -0.7f}) // nothing is lost
    EXPECT_EQ(float(nn::shortest(value)), value);
}

TEST_F(TrainerRuns, DataThatIsNoNumberIsNamed) {
  struct Bad : Points {
    using Points::Points;
    nn::Sample read(int64_t index) const override {
      nn::Sample sample = Points::read(index);
      if (index == 3)
        sample[0] = io::HostArray::of<float>({NAN, 1}, {2});
      return sample;
    }
  } bad{8};
  expectHas(messageOf([&] { make(options("a")).train(bad); }),
            {"1 elements of the batch's 'point' are not finite"});
}

TEST_F(TrainerRuns, ADirectoryInPlaceOfACheckpointIsRefusedAtOnce) {
  std::filesystem::create_directories(directory / "a/checkpoint.safetensors");
  expectHas(messageOf([&] { make(options("a")); }), {"expected a file, got the directory"});
}
