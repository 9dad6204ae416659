//===- GenerateTest.cpp - models that generate text -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "models/zoo/Zoo.h"

#include <gtest/gtest.h>

using namespace heddle;

/// GPT with larger initial weights, so that no two bytes have nearly the same probability.
static zoo::Model decidedGpt() {
  zoo::Model model = zoo::modelCalled("gpt").make(zoo::Size::Tiny);
  for (auto &[path, tensor] : model.network.parameters) {
    tensor = tensor * (path.ends_with("table") ? 40.0 : 2.0);
    tensor.data();
  }
  return model;
}

static std::string written(const zoo::Model &model, const zoo::Generation &how) {
  std::string text;
  model.writer(model.network.parameters, 0)(how, [&](std::string_view part) { text += part; });
  return text;
}

/// Generation with caches agrees with the network on the whole text: each written byte has the
/// least loss of all bytes. There are seven positions; after them the last four bytes are processed
/// again.
TEST(ZooGenerate, GptWritesTheMostProbableBytes) {
  zoo::Model model = decidedGpt();
  zoo::Generation how{.prompt = "\1\2\3\4", .length = 6, .temperature = 0};
  std::string text = how.prompt, all = written(model, how);
  ASSERT_EQ(all.size(), 10u);
  auto lossOf = jit([&](const nn::ByPath &net, const nn::Fields &fields) {
    nn::Mode mode;
    return model.network.loss(net, fields, mode).loss;
  });
  for (std::string before : {all.substr(0, 4), all.substr(0, 5), all.substr(0, 6), all.substr(0, 7),
                             all.substr(4, 4), all.substr(4, 5)}) {
    std::vector<int32_t> token(before.begin(), before.end()), next = token;
    std::vector<Extent> extents{{Name("batch"), 1}, {Name("time"), int64_t(token.size())}};
    std::vector<double> losses;
    for (int32_t byte = 0; byte < 13; ++byte) {
      next.back() = byte;
      losses.push_back(lossOf(model.network.parameters,
                              nn::Fields{{"token", Tensor::of<int32_t>(token, extents)},
                                         {"next", Tensor::of<int32_t>(next, extents)},
                                         {"weight", Tensor::of<float>({1}, {{Name("batch"), 1}})}})
                           .item());
    }
    auto least = std::min_element(losses.begin(), losses.end());
    EXPECT_EQ(char(least - losses.begin()), all[text.size()]) << text.size();
    text += all[text.size()];
  }
}

TEST(ZooGenerate, EqualSeedsWriteEqualTexts) {
  zoo::Model model = zoo::modelCalled("gpt").make(zoo::Size::Tiny); // all bytes are nearly alike
  zoo::Generation how{.length = 20, .topK = 5, .topP = 0.9, .seed = 7};
  std::string text = written(model, how);
  EXPECT_EQ(text.size(), 20u);
  EXPECT_EQ(written(model, how), text);
  how.seed = 8;
  EXPECT_NE(written(model, how), text);
}
