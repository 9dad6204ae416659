//===- MicroBatchTest.cpp - a batch in parts, and on ranks ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step is the same for any split of a batch: the loss is a mean over words, whose number differs
// from text to text, and dropout drops the same elements.
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Layers.h"
#include "heddle/nn/Losses.h"
#include "heddle/nn/Trainer.h"
#include "runtime/control/EngineTransport.h"
#include "test/unit/Refused.h"
#include "test/unit/builder/Tensors.h"
#include "test/unit/nn/Compare.h"
#include "test/unit/runtime/control/Ranks.h"

using namespace heddle;
using namespace heddle::test;

namespace {
const Name batch("batch"), textTime("time"), word("word"), next("next"), hidden("hidden");
constexpr int64_t words = 5, texts = 10;

/// Texts of 1 to 9 words; 0 is padding.
struct Texts : nn::Dataset {
  int64_t count() const override { return texts; }
  std::vector<nn::Field> fields() const override {
    return {{"token", ElementType::I32, {nn::anySize}, {"time"}},
            {"label", ElementType::I32, {nn::anySize}, {"time"}}};
  }
  static std::vector<int32_t> wordsOf(int64_t index, int64_t seed) {
    std::vector<int32_t> all;
    for (int64_t t = 0; t < 1 + index * index % 9; ++t)
      all.push_back(int32_t(1 + (index * 7 + t * seed) % (words - 1)));
    return all;
  }
  int64_t length(int64_t index) const override { return int64_t(wordsOf(index, 3).size()); }
  nn::Sample read(int64_t index) const override {
    std::vector<int32_t> token = wordsOf(index, 3), label = wordsOf(index, 5);
    int64_t size = int64_t(token.size());
    return {io::HostArray::of<int32_t>(token, {size}), io::HostArray::of<int32_t>(label, {size})};
  }
};

/// The labels; 0 for texts that pad the batch.
Tensor labelsOf(const nn::Fields &fields) {
  const Tensor &label = fields.at("label");
  return select((fields.at("weight") > 0.0).broadcast({{textTime, label.size(textTime)}}), label,
                0.0);
}

nn::Outcome outcomeOf(const Tensor &logits, const nn::Fields &fields) {
  Tensor label = labelsOf(fields);
  return nn::outcomeOf(
      nn::countedCrossEntropy(logits, label, next, {.ignored = 0}),
      {{"accuracy", nn::countedMean(nn::isRight(logits, label, next), notEqual(label, 0.0))},
       {"length", nn::sampleMean(fields.at("token_length").cast(ElementType::F32), fields)}});
}

/// The logits of the word after another are a row of a table.
struct Table {
  Tensor table;
  HEDDLE_FIELDS(table)
  static Table make() { return {random({{word, words}, {next, words}}, 3)}; }
};
nn::Outcome tableLoss(const Table &net, const nn::Fields &fields, nn::Mode &) {
  return outcomeOf(net.table.gather(word, fields.at("token")), fields);
}

/// Dropout in both orders of names: the times of parts differ.
struct Net {
  Tensor table, last;
  HEDDLE_FIELDS(table, last)
  static Net make(ElementType type) {
    auto made = [&](const std::vector<Extent> &extents, uint64_t seed) {
      Tensor all = random(extents, seed);
      return type == ElementType::F32 ? all : jit([=](Tensor x) { return x.cast(type); })(all);
    };
    return {made({{word, words}, {hidden, 6}}, 3), made({{hidden, 6}, {next, words}}, 4)};
  }
};
nn::Outcome dropping(const Net &net, const nn::Fields &fields, nn::Mode &mode) {
  Tensor x = net.table.gather(word, fields.at("token"));
  x = nn::dropout(x, 0.5, over(textTime, hidden), mode);
  x = nn::dropout(x, 0.25, over(hidden, textTime), mode);
  x = nn::dropout(x, 0.1, hidden, mode);
  return outcomeOf(sum(x * net.last, hidden), fields);
}

nn::Training training(int64_t parts) {
  return {.epochs = 2,
          .batch = 8, // the second of an epoch has two texts
          .optimizer = nn::optimizer<nn::Sgd>(nn::Sgd::Options{.momentum = 0}),
          .rate = 0.5,
          .microBatches = parts};
}

struct Trained {
  std::vector<float> parameters;
  nn::Values train, test;
};
template <typename N, typename F>
Trained trained(const N &net, F loss, int64_t parts, nn::TrainerOptions options = {},
                uint64_t seed = 3) {
  options.threads = 1;
  options.quiet = true;
  Texts data;
  nn::Trainer<N> trainer(net, loss, key(seed), training(parts), options);
  trainer.train(data, &data);
  Trained result{{}, trainer.history().back().train, trainer.history().back().test};
  for (const auto &[path, tensor] : trainer.parameters())
    for (float value : valuesOf(tensor.cast(ElementType::F32)))
      result.parameters.push_back(value);
  return result;
}

void expectAlike(const Trained &got, const Trained &wanted, double tolerance) {
  ASSERT_EQ(got.parameters.size(), wanted.parameters.size());
  for (size_t i = 0; i < got.parameters.size(); ++i)
    EXPECT_NEAR(got.parameters[i], wanted.parameters[i], tolerance) << i;
  for (const auto &[name, value] : wanted.train)
    EXPECT_NEAR(got.train.at(name), value, tolerance) << name;
  for (const auto &[name, value] : wanted.test)
    EXPECT_NEAR(got.test.at(name), value, tolerance) << name;
}

/// The same on ranks that are threads, the first one's result.
template <typename F>
Trained trainedOn(int ranks, ElementType type, F loss, int64_t parts, nn::TrainerOptions options) {
  Trained result;
  std::vector<std::string> errors = TestJob(ranks).run([&](Job &mine) {
    useEngine(mine, "shm", "timeout=60");
    nn::TrainerOptions where = options;
    where.ranks = Ranks(std::shared_ptr<Job>(&mine, [](Job *) {}));
    Trained own = trained(Net::make(type), loss, parts, where);
    if (mine.rank() == 0)
      result = own;
  });
  EXPECT_EQ(errors, std::vector<std::string>(size_t(ranks)));
  return result;
}

/// Training by plain loops in double.
struct ByLoops {
  std::vector<double> table;
  double loss = 0, accuracy = 0, counted = 0; ///< of the last epoch

  void trainEpoch(uint64_t epoch) {
    loss = accuracy = counted = 0;
    std::vector<int64_t> order = nn::shuffled(texts, 1, epoch);
    for (size_t begin = 0; begin < order.size(); begin += 8)
      step({order.begin() + long(begin), order.begin() + long(std::min(begin + 8, order.size()))});
    loss /= counted;
    accuracy /= counted;
  }
  void step(const std::vector<int64_t> &samples) {
    std::vector<double> slope(table.size());
    double count = 0;
    for (int64_t sample : samples) {
      std::vector<int32_t> token = Texts::wordsOf(sample, 3), label = Texts::wordsOf(sample, 5);
      for (size_t t = 0; t < token.size(); ++t, ++count) {
        const double *row = &table[size_t(token[t] * words)];
        double sum = 0;
        for (int c = 0; c < words; ++c)
          sum += std::exp(row[c]);
        for (int c = 0; c < words; ++c)
          slope[size_t(token[t] * words + c)] += std::exp(row[c]) / sum - (c == label[t]);
        loss += std::log(sum) - row[label[t]];
        accuracy += std::max_element(row, row + words) - row == label[t];
      }
    }
    counted += count;
    for (size_t i = 0; i < table.size(); ++i)
      table[i] -= 0.5 * slope[i] / count;
  }
};
} // namespace

TEST(MicroBatches, CountWords) {
  std::vector<float> begin = Table::make().table.to<float>({word, next});
  ByLoops wanted{{begin.begin(), begin.end()}};
  wanted.trainEpoch(0);
  wanted.trainEpoch(1);
  for (int64_t parts : {1, 2, 4, 8}) {
    SCOPED_TRACE(parts);
    Trained got = trained(Table::make(), tableLoss, parts);
    std::vector<float> table = got.parameters; // next, word
    ASSERT_EQ(table.size(), wanted.table.size());
    for (size_t w = 0; w < words; ++w)
      for (size_t c = 0; c < words; ++c)
        EXPECT_NEAR(table[c * words + w], wanted.table[w * words + c], 2e-6);
    EXPECT_NEAR(got.train.at("loss"), wanted.loss, 2e-6);
    EXPECT_NEAR(got.train.at("accuracy"), wanted.accuracy, 2e-6);
    double length = 0;
    for (int64_t i = 0; i < texts; ++i)
      length += double(Texts::wordsOf(i, 3).size()) / texts;
    EXPECT_NEAR(got.train.at("length"), length, 1e-5);
  }
}

TEST(MicroBatches, DropTheSameHoweverABatchIsCut) {
  nn::TrainerOptions two{.mesh = {{"data", 2}}, .rules = {"batch:data"}},
      stages{.mesh = {{"stage", 2}}, .rules = {"net.last@stage=1"}};
  for (auto [type, tolerance] :
       {std::pair(ElementType::F32, 1e-5), {ElementType::F16, 1e-2}, {ElementType::BF16, 8e-2}}) {
    SCOPED_TRACE(std::string(spelling(type)));
    Trained whole = trained(Net::make(type), dropping, 1);
    for (int64_t parts : {2, 4})
      expectAlike(trained(Net::make(type), dropping, parts), whole, tolerance);
    if (type == ElementType::BF16)
      continue;
    for (int64_t parts : {1, 4})
      expectAlike(trainedOn(2, type, dropping, parts, two), whole, tolerance);
    expectAlike(trainedOn(2, type, dropping, 2, stages), whole, tolerance);
  }
  // Another key drops other elements, which changes the results.
  Trained one = trained(Net::make(ElementType::F32), dropping, 1),
          other = trained(Net::make(ElementType::F32), dropping, 1, {}, 4);
  EXPECT_GT(std::abs(other.train.at("loss") - one.train.at("loss")), 1e-3);
}

TEST(MicroBatches, SimilarSamplesAreThoseOfTheBatch) {
  Texts data;
  auto order = [&](int64_t parts) {
    nn::Loader loader(
        data, {.batch = 4 / parts, .shuffle = true, .seed = 5, .similar = 2, .together = parts});
    std::vector<int32_t> lengths;
    while (auto batch = loader.next())
      for (int32_t i = 0; i < batch->samples; ++i)
        lengths.push_back(
            reinterpret_cast<const int32_t *>(batch->lengths("token").bytes.data())[i]);
    return lengths;
  };
  EXPECT_EQ(order(1).size(), size_t(texts));
  EXPECT_EQ(order(2), order(1));
  EXPECT_EQ(order(4), order(1));
}

TEST(MicroBatches, PartsWithoutWordsAddNothing) {
  Tensor none = Tensor::of<float>({NAN, INFINITY}, {{batch, 2}});
  auto both = jit([](Tensor x, Tensor weight) {
    return valueAndGrad([&](Tensor x) { return nn::countedMean(x * x, weight).mean; }, x);
  });
  Tensor zero = Tensor::of<float>({0, 0}, {{batch, 2}}), some = random({{batch, 2}}, 3);
  EXPECT_EQ(nn::countedMean(none, zero).mean.item(), 0);
  EXPECT_EQ(nn::countedMean(none, zero).count.item(), 0);
  auto [value, slope] = both(some, zero);
  EXPECT_EQ(value.item(), 0);
  EXPECT_EQ(slope.to<float>({batch}), (std::vector<float>{0, 0}));
  Tensor wide = Tensor::of<float>({1, 2, 4, 8}, {{batch, 2}, {hidden, 2}});
  Tensor weight = Tensor::of<float>({1, 3}, {{batch, 2}});
  EXPECT_EQ(nn::countedMean(wide, weight).mean.item(), (1 + 2 + 3 * (4 + 8)) / 8.0f);
  EXPECT_EQ(nn::countedMean(wide, weight).count.item(), 8);
  refused([&] { nn::countedMean(weight, wide); }, {"hidden"});
}

TEST(MicroBatches, CountsAreOfTheLossAndMeasures) {
  auto losing = [](const char *name, const Tensor &count) {
    return [=](const Table &net, const nn::Fields &fields, nn::Mode &mode) {
      nn::Outcome outcome = tableLoss(net, fields, mode);
      outcome.counts[name] = count;
      return outcome;
    };
  };
  refused([&] { trained(Table::make(), losing("lengths", constant(1)), 1); },
          {"expected counts of the loss and of measures, got one of 'lengths'"});
  refused([&] { trained(Table::make(), losing("length", zeros({{batch, 8}})), 1); },
          {"expected the count of 'length' to be one number"});
}
