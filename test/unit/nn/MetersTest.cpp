//===- MetersTest.cpp - means, errors, rates and progress -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Meters.h"
#include "test/unit/Refused.h"
#include "test/unit/support/io/Files.h"

#include <chrono>
#include <cmath>

using namespace heddle;
using namespace heddle::nn;
using namespace heddle::test;

using Sequence = std::vector<int32_t>;

//===----------------------------------------------------------------------===//
// Meters
//===----------------------------------------------------------------------===//

TEST(Meters, MeanIsWeighted) {
  nn::Mean mean;
  EXPECT_EQ(mean.value(), 0);
  mean.add(1);
  mean.add(4, 2);
  EXPECT_EQ(mean.value(), 3);
}

TEST(Meters, RateCountsOnlyTimeThatRuns) {
  std::chrono::steady_clock::time_point time{};
  auto pass = [&](int seconds) { time += std::chrono::seconds(seconds); };
  Rate rate(100, 2, [&] { return time; });
  pass(3);
  EXPECT_EQ(rate.seconds(), 5);
  rate.pause();
  rate.pause();
  pass(7);
  rate.add(50);
  EXPECT_EQ(rate.seconds(), 5);
  EXPECT_EQ(rate.perSecond(), 30);
  rate.resume();
  pass(1);
  rate.resume(); // runs already
  pass(4);
  EXPECT_EQ(rate.seconds(), 10);
  EXPECT_EQ(rate.perSecond(), 15);
  EXPECT_EQ(rate.count(), 150);
  EXPECT_EQ(Rate(5, 0, [&] { return time; }).perSecond(), 0);
}

TEST(Meters, ProgressFitsTheTerminal) {
  EXPECT_EQ(ProgressBar::line("epoch 1", 5, 20, "loss 0.5", 83.4, 80),
            "epoch 1 [#######.......................]  5/20  loss 0.5  1 min 23 s left");
  EXPECT_EQ(ProgressBar::line("e", 20, 20, "x", 0, 80),
            "e [##############################] 20/20  x  0 s left");
  EXPECT_EQ(ProgressBar::line("epoch 1", 0, 20, "x", -1, 80).find("left"), std::string::npos);
  for (int width = 10; width < 100; ++width)
    EXPECT_LT(ProgressBar::line("epoch 1", 5, 20, "loss 0.5", 83.4, width).size(), size_t(width));
}

TEST(Meters, OffATerminalThereIsALineEveryHalfMinute) {
  TemporaryDirectory directory;
  std::string path = directory.write("out", "");
  FILE *file = fopen(path.c_str(), "w");
  Stopwatch::Clock::time_point time{};
  {
    ProgressBar bar("epoch 1", 10, 0, fileno(file), [&] { return time; });
    auto showAt = [&](int seconds, int64_t done) {
      time = Stopwatch::Clock::time_point(std::chrono::seconds(seconds));
      bar.show(done, "loss " + std::to_string(done));
    };
    showAt(1, 1);
    showAt(29, 2);
    showAt(40, 4);
    showAt(69, 6);
    showAt(70, 7);
  }
  fclose(file);
  EXPECT_EQ(contentsOf(path), "epoch 1   4/10  loss 4  1 min 0 s left\n"
                              "epoch 1   7/10  loss 7  30 s left\n");
}

TEST(Meters, PeakMemoryIsAtLeastWhatIsInUse) {
  std::vector<char> block(64 << 20, 1);
  EXPECT_GE(peakMemoryBytes(), int64_t(block.size())) << int(block[12345]);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST(Meters, TopK) {
  std::vector<float> scores{0.1f, 0.5f, 0.4f, /**/ 0.3f, 0.3f, 0.3f, /**/ NAN, 2, 1};
  TopK one(1), two(2);
  for (TopK *meter : {&one, &two}) {
    meter->add(scores, Sequence{2, 0, 1});
    meter->add(std::span(scores).subspan(0, 3), Sequence{0});
  }
  EXPECT_EQ(one.value(), 0.5); // the second (the first of three alike) and the third
  EXPECT_EQ(two.value(), 0.75);
  TopK nan(2);
  nan.add(std::span(scores).subspan(6, 3), Sequence{0});
  EXPECT_EQ(nan.value(), 0);
  refused([&] { one.add(scores, Sequence{3, 0, 0}); }, {"label from 0 to 2, got 3"});
  refused([&] { one.add(scores, Sequence{-1, 0, 0}); }, {"got -1"});
  refused([&] { one.add(scores, Sequence{1, 2}); }, {"got 9 scores for 2"});
  refused([] { TopK(0); }, {"k of at least 1"});
}

TEST(Meters, Confusion) {
  Confusion confusion(3);
  EXPECT_EQ(confusion.accuracy(), 0);
  confusion.add(Sequence{0, 1, 1, 2, 1}, Sequence{0, 1, 2, 2, 1});
  EXPECT_EQ(confusion.count(2, 1), 1);
  EXPECT_EQ(confusion.count(1, 2), 0);
  EXPECT_EQ(confusion.accuracy(), 0.8);
  EXPECT_EQ(confusion.precision(1), 2 / 3.0);
  EXPECT_EQ(confusion.recall(1), 1);
  EXPECT_EQ(confusion.recall(2), 0.5);
  refused([&] { confusion.add(Sequence{3}, Sequence{0}); }, {"prediction from 0 to 2, got 3"});
  refused([&] { confusion.add(Sequence{0}, Sequence{0, 1}); }, {"got 1 for 2"});
  refused([&] { (void)confusion.count(7, 0); }, {"label from 0 to", "got 7"});
  refused([&] { (void)confusion.precision(-1); }, {"prediction from 0 to", "got -1"});
  refused([] { Confusion(int64_t(1) << 32); }, {"1 to 32768 classes, got 4294967296"});
}

TEST(Meters, EditDistance) {
  auto text = [](std::string_view letters) { return Sequence(letters.begin(), letters.end()); };
  auto distance = [&](std::string_view a, std::string_view b) {
    return EditDistance::distance(text(a), text(b));
  };
  EXPECT_EQ(distance("kitten", "sitting"), 3);
  EXPECT_EQ(distance("intention", "execution"), 5);
  EXPECT_EQ(distance("", "abc"), 3);
  EXPECT_EQ(distance("abc", ""), 3);
  EXPECT_EQ(distance("flaw", "lawn"), 2);
  EditDistance meter;
  EXPECT_EQ(meter.value(), 0);
  meter.add(text("kitten"), text("sitting"));
  meter.add(text("abc"), text("abc"));
  EXPECT_EQ(meter.value(), 0.3);
  EditDistance empty;
  empty.add(text("a"), text(""));
  EXPECT_TRUE(std::isinf(empty.value()));
}

TEST(Meters, FrameError) {
  FrameError meter;
  meter.add(Sequence{1, 2, 3}, Sequence{1, 0, 3});
  meter.add(Sequence{4}, Sequence{4});
  EXPECT_EQ(meter.value(), 0.25);
  refused([&] { meter.add(Sequence{1}, Sequence{1, 2}); }, {"got 1 for 2"});
}
