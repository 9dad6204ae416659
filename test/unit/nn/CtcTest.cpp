//===- CtcTest.cpp - connectionist temporal classification, by brute force ===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All alignments of all small labels are counted, in double.
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Layers.h"
#include "heddle/nn/Losses.h"
#include "heddle/nn/Meters.h"
#include "test/unit/Refused.h"
#include "test/unit/nn/Compare.h"
#include "test/unit/support/io/Files.h"

using namespace heddle;
using namespace heddle::test;

namespace {
const Name n("n"), classes("class"), position("position"), moment("time");
const nn::CtcNames names{moment, classes, position};

/// The label of an alignment: repetitions and blanks removed.
std::vector<int> spelled(const std::vector<int> &path, int blank) {
  std::vector<int> result;
  int before = -1;
  for (int each : path) {
    if (each != before && each != blank)
      result.push_back(each);
    before = each;
  }
  return result;
}

/// The loss, and its gradient by `logits` [time, class], which are logarithms of probabilities.
struct Counted {
  double loss;
  std::vector<double> gradient;
};
Counted counted(const std::vector<float> &logits, int width, int times,
                const std::vector<int> &label, int blank) {
  double total = 0;
  std::vector<double> through(size_t(times * width), 0.0); // of paths by an element
  std::vector<int> path(size_t(times), 0);
  for (bool more = true; more;) {
    if (spelled(path, blank) == label) {
      double logarithm = 0;
      for (int t = 0; t < times; ++t)
        logarithm += logits[size_t(t * width + path[size_t(t)])];
      total += std::exp(logarithm);
      for (int t = 0; t < times; ++t)
        through[size_t(t * width + path[size_t(t)])] += std::exp(logarithm);
    }
    more = false;
    for (int &each : path) {
      if (++each < width) {
        more = true;
        break;
      }
      each = 0;
    }
  }
  for (double &each : through)
    each = total > 0 ? -each / total : 0;
  return {-std::log(total), through};
}

struct Case {
  std::vector<int> label;
  int times;
};
/// Compares losses and gradients of a batch with those of the enumeration. Elements after the end
/// of a sample or of its label have values that must not count.
void expectCounted(int width, const std::vector<Case> &cases, int blank, uint64_t seed) {
  int64_t count = int64_t(cases.size()), room = 7, letters = 4;
  auto logits = numbers(size_t(count * room * width), seed);
  std::vector<int32_t> labels(size_t(count * letters), -1);
  std::vector<int64_t> frames, lengths;
  std::vector<Counted> wanted;
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto &[label, times] = cases[i];
    std::copy(label.begin(), label.end(), labels.begin() + long(i) * letters);
    frames.push_back(times);
    lengths.push_back(int64_t(label.size()));
    std::vector<float> own(logits.begin() + long(i) * room * width, logits.end());
    wanted.push_back(counted(own, width, times, label, blank));
    wanted.back().gradient.resize(size_t(room * width));
  }
  auto both = jit([&](Tensor x, Tensor frames, Tensor label, Tensor lengths) {
    auto losses = [&](Tensor x) {
      Tensor loss = nn::ctc(x, frames, label, lengths, {moment, classes, position, blank});
      return std::pair(sum(select(loss < INFINITY, loss, 0.0), over(n)), loss);
    };
    auto [value, gradient] = valueAndGrad(losses, x);
    return std::pair(value.second, gradient);
  });
  auto [loss, gradient] = both(tensor(logits, {{n, count}, {moment, room}, {classes, width}}),
                               Tensor::of<int64_t>(frames, {{n, count}}),
                               Tensor::of<int32_t>(labels, {{n, count}, {position, letters}}),
                               Tensor::of<int64_t>(lengths, {{n, count}}));
  std::vector<float> losses = loss.to<float>({n}),
                     slopes = gradient.to<float>({n, moment, classes});
  size_t size = size_t(room * width);
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(testing::Message() << width << " classes, " << cases[i].times << " steps, label "
                                    << testing::PrintToString(cases[i].label));
    if (std::isinf(wanted[i].loss))
      EXPECT_EQ(losses[i], wanted[i].loss);
    else
      EXPECT_NEAR(losses[i], wanted[i].loss, 1e-5 * (1 + std::abs(wanted[i].loss)));
    auto begin = slopes.begin() + long(i * size);
    expectNear({begin, begin + long(size)}, wanted[i].gradient, 1e-5);
  }
}
} // namespace

TEST(Ctc, AgainstAllAlignments) {
  std::vector<Case> cases{{{}, 0}, {{1}, 0}};
  for (const std::vector<int> &label :
       std::vector<std::vector<int>>{{}, {1}, {1, 1}, {1, 2}, {2, 1, 2}, {2, 2, 2, 1}})
    for (int times : {1, 3, 5, 7})
      cases.push_back({label, times});
  expectCounted(3, cases, 0, 1);
  expectCounted(2, {{{0, 0}, 5}, {{0}, 2}, {{0, 0, 0}, 4}}, 1, 2);
}

TEST(Ctc, WhatDoesNotFitIsNaN) {
  Tensor x = nn::logSoftmax(random({{moment, 4}, {classes, 3}}, 6), over(classes));
  auto loss = [&](std::initializer_list<int32_t> label, int64_t frames, int64_t length) {
    Tensor y = Tensor::of<int32_t>(label, {{position, int64_t(label.size())}});
    return nn::ctc(x, constant(double(frames), ElementType::I64), y,
                   constant(double(length), ElementType::I64), names)
        .item();
  };
  EXPECT_TRUE(std::isfinite(loss({1, 2}, 4, 2)));
  // No read is out of bounds, and no intermediate value is NaN.
  auto checked = jit([](Tensor x, Tensor y, Tensor frames,
                        Tensor length) { return nn::ctc(x, frames, y, length, names); },
                     {.check = true});
  Tensor y = Tensor::of<int32_t>({1, -1}, {{position, 2}});
  EXPECT_NEAR(checked(x, y, 4, 1).item(), loss({1, 0}, 4, 1), 1e-5);
  EXPECT_TRUE(std::isnan(loss({1, 2}, 5, 2)));
  EXPECT_TRUE(std::isnan(loss({1, 2}, -1, 2)));
  EXPECT_TRUE(std::isnan(loss({1, 2}, 4, 3)));
  EXPECT_TRUE(std::isnan(loss({1, 2}, 4, -1)));
  EXPECT_TRUE(std::isnan(loss({1, 3}, 4, 2))); // no class
  EXPECT_TRUE(std::isnan(loss({1, 0}, 4, 2))); // a blank
  EXPECT_TRUE(std::isfinite(loss({1, 3}, 4, 1)));
  EXPECT_TRUE(std::isinf(loss({1, 1}, 2, 2)));
  Tensor floats = zeros({{position, 2}});
  refused([&] { nn::ctc(x, constant(1), floats, constant(1, ElementType::I64), names); },
          {"lengths of integers"});
  for (int64_t blank : {-1, 3}) {
    nn::CtcNames other = names;
    other.blank = blank;
    Tensor one = constant(1, ElementType::I64);
    refused([&] { nn::ctc(x, one, y, one, other); },
            {"a blank among the classes", "got " + std::to_string(blank)});
    refused([&] { nn::ctcErrors(x, one, y, one, other); }, {"a blank among the classes"});
  }
}

TEST(Ctc, ErrorsOfTheLikeliestClasses) {
  // The best classes 1 1 0 1 2 2 (blank 0) are the label 1 1 2; after the end is a 1.
  std::vector<float> scores;
  for (int best : {1, 1, 0, 1, 2, 2, 1})
    for (int c = 0; c < 3; ++c)
      scores.push_back(c == best ? 1 : 0);
  Tensor x = tensor(scores, {{moment, 7}, {classes, 3}});
  auto errors = [&](std::vector<int32_t> label, int64_t frames) {
    int64_t length = int64_t(label.size());
    label.resize(5, 1); // what does not count
    Tensor y = Tensor::of<int32_t>(label, {{position, 5}});
    return nn::ctcErrors(x, constant(double(frames), ElementType::I64), y,
                         constant(double(length), ElementType::I64), names)
        .item();
  };
  EXPECT_EQ(errors({1, 1, 2}, 6), 0);
  EXPECT_EQ(errors({1, 2}, 6), 1);
  EXPECT_EQ(errors({2, 2, 2}, 6), 2);
  EXPECT_EQ(errors({}, 6), 3);
  EXPECT_EQ(errors({1, 1, 2}, 7), 1);
  EXPECT_EQ(errors({1, 2}, 0), 2);
  EXPECT_EQ(errors({}, 0), 0);
  EXPECT_EQ(errors({2, 1, 1, 2, 1}, 6), 2);
}

TEST(Ctc, EditDistancesOfABatch) {
  constexpr int64_t samples = 20, time = 9, letters = 6;
  auto digits = [](size_t count, uint64_t seed) {
    std::vector<int32_t> result;
    for (float value : numbers(count, seed))
      result.push_back(int32_t(std::abs(value) * 1000) % 3);
    return result;
  };
  auto got = digits(samples * time, 1), wanted = digits(samples * letters, 2);
  auto skipped = digits(samples * time, 3), lengths = digits(samples, 4);
  std::vector<float> distances;
  for (int64_t i = 0; i < samples; ++i) {
    lengths[size_t(i)] *= 3;
    std::vector<int32_t> a,
        b(wanted.begin() + i * letters, wanted.begin() + i * letters + lengths[size_t(i)]);
    for (int64_t t = i * time; t < (i + 1) * time; ++t)
      if (skipped[size_t(t)] != 0)
        a.push_back(got[size_t(t)]);
    distances.push_back(float(nn::EditDistance::distance(a, b)));
  }
  auto run = jit([](Tensor got, Tensor skipped, Tensor wanted, Tensor lengths) {
    return nn::editDistance(got, notEqual(skipped, 0.0), moment, wanted, lengths, position);
  });
  Extent all{n, samples}, times{moment, time};
  Tensor result = run(
      Tensor::of<int32_t>(got, {all, times}), Tensor::of<int32_t>(skipped, {all, times}),
      Tensor::of<int32_t>(wanted, {all, {position, letters}}), Tensor::of<int32_t>(lengths, {all}));
  EXPECT_EQ(result.to<float>({n}), distances);
}
