//===- ModelsTest.cpp - the zoo is complete -------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Meters.h"
#include "test/unit/models/zoo/Reference.h"
#include "test/unit/support/io/Files.h"

using namespace heddle;
using namespace heddle::test;

/// The number of parameters at full size: published ones, or those of PyTorch's models; for matrix
/// capsules, published as 310 K, our own number.
static const std::map<std::string, int64_t> published = {
    {"alexnet", 61'100'840},      {"vgg16", 138'357'544},    {"resnet50", 25'557'032},
    {"resnet101", 44'549'160},    {"inception", 27'161'264}, {"vit", 86'567'656},
    {"capsnet", 8'215'568},       {"bert", 109'512'762},     {"gpt", 124'439'808},
    {"asr", 264'808'720},         {"seq2seq", 58'113'792},   {"bert-406m", 406'337'360},
    {"matrix-capsules", 316'394}, {"lenet", 61'706}};

TEST(Zoo, FlexFlowSizesHaveItsBatchesAndParameters) {
  for (const auto &[name, entry] : zoo::models()) {
    zoo::Model model = entry.make(zoo::Size::FlexFlow);
    EXPECT_EQ(model.training.batch, name == "alexnet" ? 256 : 64) << name;
    EXPECT_EQ(model.training.clip, 0) << name;
  }
  int64_t nmt = zoo::modelCalled("nmt").make(zoo::Size::FlexFlow).network.parameterCount();
  EXPECT_GE(nmt, 131'000'000);
  EXPECT_LE(nmt, 143'000'000);
  EXPECT_EQ(zoo::modelCalled("nmt").make(zoo::Size::Full).network.parameterCount(), 170'984'704);
}

TEST(Zoo, FullSizesHaveThePublishedNumbersOfParameters) {
  int64_t before = nn::peakMemoryBytes();
  for (const auto &[name, count] : published) {
    ASSERT_TRUE(zoo::models().contains(name)) << name;
    EXPECT_EQ(zoo::models().at(name).make(zoo::Size::Full).network.parameterCount(), count) << name;
  }
  double small =
      double(zoo::modelCalled("matrix-capsules").make(zoo::Size::Small).network.parameterCount());
  EXPECT_NEAR(small, 68e3, 0.03 * 68e3);
  EXPECT_NEAR(double(published.at("matrix-capsules")), 310e3, 0.03 * 310e3);
  EXPECT_LT(nn::peakMemoryBytes() - before, 256 << 20) << "counting should allocate nothing";
}

TEST(Zoo, TinySizesAreSmall) {
  for (const auto &[name, entry] : zoo::models())
    EXPECT_LE(entry.make(zoo::Size::Tiny).network.parameterCount(), 5000) << name;
}

TEST(Zoo, EveryModelHasAReferenceATwinAndASource) {
  int64_t bytes = 0;
  for (const auto &[name, entry] : zoo::models()) {
    EXPECT_TRUE(std::filesystem::exists(entry.twin())) << entry.twin();
    ASSERT_TRUE(std::filesystem::exists(referenceFile(name))) << referenceFile(name);
    bytes += int64_t(std::filesystem::file_size(referenceFile(name)));
    EXPECT_FALSE(entry.source.empty()) << name;
  }
  EXPECT_LE(bytes, 4 << 20);
}

/// Samples of weight 0 affect neither loss nor measures.
TEST(Zoo, WhatFillsABatchCountsNothing) {
  for (const auto &[name, entry] : zoo::models()) {
    SCOPED_TRACE(name);
    zoo::Model model = entry.make(zoo::Size::Tiny);
    auto run = jit([&](const nn::ByPath &net, nn::Mode mode, const nn::Fields &fields) {
      return model.network.loss(net, fields, mode);
    });
    nn::Fields fields = model.example(3);
    Name samples(model.network.samples);
    fields["weight"] = Tensor::of<float>({1, 1, 0}, {{samples, 3}});
    nn::Fields other = fields;
    for (auto &[field, tensor] : other)
      if (tensor.has(samples) && field != "weight")
        tensor = concat({tensor.slice(samples, 0, 2), tensor.slice(samples, 0, 1)}, samples);
    nn::Mode mode = model.network.mode.evaluation();
    nn::Outcome got = run(model.network.parameters, mode, other),
                wanted = run(model.network.parameters, mode, fields);
    EXPECT_FLOAT_EQ(float(got.loss.item()), float(wanted.loss.item()));
    for (const auto &[measure, value] : wanted.measures)
      EXPECT_EQ(got.measures.at(measure).item(), value.item()) << measure;
  }
}

/// The example of a batch has the fields of the data set, so that one program serves both.
TEST(Zoo, ExamplesAreLikeTheReferences) {
  for (const auto &[name, entry] : zoo::models()) {
    nn::Fields wanted = Reference(name).batch();
    int64_t samples = wanted.at("weight").extents()[0].size;
    nn::Fields got = entry.make(zoo::Size::Tiny).example(samples);
    for (const auto &[field, tensor] : wanted) {
      ASSERT_TRUE(got.contains(field)) << name << ": " << field;
      EXPECT_EQ(got.at(field).type(), tensor.type()) << name << ": " << field;
    }
    EXPECT_EQ(got.size(), wanted.size()) << name;
  }
}

TEST(Zoo, UnknownModelsAndSizesListWhatThereIs) {
  expectHas(messageOf([] { zoo::modelCalled("alexnett"); }), {"'alexnett'", "alexnet"});
  expectHas(messageOf([] { zoo::sizeCalled("huge"); }),
            {"'huge'", "tiny, small, full or flexflow"});
}
