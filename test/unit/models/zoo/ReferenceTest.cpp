//===- ReferenceTest.cpp - models compared with PyTorch -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each model in its tiny setting: the outputs of its layers, in order; loss, measures,
// gradients and running moments of a batch; parameters after ten steps. Each tensor is compared to
// 1e-4 of its largest magnitude, and gradients to 15 times the error of the layers, if that is
// more.
//
//===----------------------------------------------------------------------===//

#include "test/unit/models/zoo/Reference.h"

using namespace heddle;
using namespace heddle::test;

TEST(Differences, NanAndInfinityAreTheLargest) {
  Name i("i");
  auto of = [&](const std::vector<float> &values) {
    return Tensor::of<float>(values, {{i, int64_t(values.size())}});
  };
  Tensor wanted = of({1, 2, 4});
  EXPECT_EQ(difference(of({1, 2, 5}), wanted, 1), 0.25);
  EXPECT_EQ(difference(of({NAN, 2, 4}), wanted, 1), INFINITY);
  EXPECT_EQ(difference(of({1, NAN, 4}), wanted, 1), INFINITY);
  EXPECT_EQ(difference(of({1, 2, -INFINITY}), wanted, 1), INFINITY);
}

namespace {
struct Pass {
  nn::Outcome outcome;
  nn::ByPath gradient;
  nn::Mode mode;
  HEDDLE_FIELDS(outcome, gradient, mode)
};

class ZooReference : public testing::TestWithParam<std::string> {
protected:
  Reference reference{GetParam()};
  zoo::Model model = zoo::modelCalled(GetParam()).make(zoo::Size::Tiny);

  void SetUp() override {
    nn::ByPath given = reference.all("parameter");
    for (const auto &[path, tensor] : given)
      EXPECT_TRUE(model.network.parameters.contains(path)) << "the model lacks '" << path << "'";
    for (auto &[path, tensor] : model.network.parameters) {
      auto found = given.find(path);
      ASSERT_NE(found, given.end()) << "the reference lacks '" << path << "'";
      ASSERT_EQ(found->second.type(), tensor.type()) << path;
      tensor = found->second;
    }
  }

  Pass pass() {
    auto run = jit([loss = model.network.loss](const nn::ByPath &net, nn::Mode mode,
                                               const nn::Fields &fields) {
      auto [result, gradient] = nn::valueAndGrad(
          [&](const nn::ByPath &net, nn::Mode &mode) {
            nn::Outcome outcome = loss(net, fields, mode);
            return std::pair(outcome.loss, outcome.measures);
          },
          net, mode);
      return Pass{{result.first, result.second}, gradient, mode};
    });
    return run(model.network.parameters, model.network.mode.observing(), reference.batch());
  }

  /// Parameters after the reference's steps.
  nn::ByPath trained(const nn::OptimizerChoice &choice, double rate) {
    nn::TrainingState state = nn::TrainingState::make(model.network, choice);
    auto step = jit(nn::trainingStep(model.network, {.optimizer = choice}));
    nn::Fields fields = reference.batch();
    for (int i = 0; i < int(reference.number("steps")); ++i)
      step(state, fields, rate);
    return state.net;
  }
};
} // namespace

TEST_P(ZooReference, OnePass) {
  if (HasFatalFailure())
    return;
  Pass got = pass();
  size_t next = 0;
  double most = 0;
  for (const auto &[numbered, wanted] : reference.all("seen")) {
    std::string path = numbered.substr(numbered.find('.') + 1);
    ASSERT_LT(next, got.mode.outputPaths.size()) << "the model does not show '" << path << "'";
    ASSERT_EQ(got.mode.outputPaths[next++], path);
    double error = difference(got.mode.outputs.at(path), wanted, 0);
    ASSERT_LE(error, 1e-4) << "the first layer that differs is '" << path << "'";
    most = std::max(most, error);
  }
  recordError("layers", most);
  EXPECT_GT(next, 0u);
  EXPECT_EQ(next, got.mode.outputPaths.size()) << "the reference lacks an output of the model";
  nn::ByPath outcome{{"loss", got.outcome.loss}}, wanted{{"loss", reference.at("loss")}};
  for (const auto &[name, value] : got.outcome.measures)
    outcome["measure." + name] = value;
  for (const auto &[name, value] : reference.all("measure"))
    wanted["measure." + name] = value;
  expectAlike(outcome, wanted, "loss and measures");
  // The way back amplifies the rounding of layers (Inception-v3 with AVX-512: 1.7e-5 there, 1.3e-4
  // in a gradient).
  expectAlike(got.gradient, reference.all("gradient"), "gradients", std::max(1e-4, 15 * most));
  nn::ByPath moments;
  for (const auto &[path, each] : got.mode.moments) {
    moments[path + ".mean"] = each.mean;
    moments[path + ".variance"] = each.variance;
  }
  nn::ByPath wantedMoments = reference.all("moments");
  if (!moments.empty() || !wantedMoments.empty())
    expectAlike(moments, wantedMoments, "running moments");
}

TEST_P(ZooReference, TenStepsOfSgd) {
  if (HasFatalFailure())
    return;
  nn::ByPath got = trained(nn::optimizer<nn::Sgd>({.momentum = reference.number("sgd.momentum")}),
                           reference.number("sgd.rate"));
  expectAlike(got, reference.all("sgd"), "parameters");
}

TEST_P(ZooReference, TenStepsOfAdam) {
  if (HasFatalFailure())
    return;
  nn::ByPath got = trained(nn::optimizer<nn::Adam>({.epsilon = reference.number("adam.epsilon")}),
                           reference.number("adam.rate"));
  // A gradient whose sign is due to rounding moves its parameter by the whole rate (Inception-v3
  // with AVX-512: 2.6e-4).
  expectAlike(got, reference.all("adam"), "parameters", 5e-4);
}

static std::vector<std::string> namesOfModels() {
  std::vector<std::string> names;
  for (const auto &[name, entry] : zoo::models())
    if (std::filesystem::exists(referenceFile(name))) // ModelsTest.cpp asks for all of them
      names.push_back(name);
  return names;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ZooReference);
INSTANTIATE_TEST_SUITE_P(Models, ZooReference, testing::ValuesIn(namesOfModels()),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });
