//===- WalkTest.cpp - exact times of tasks on streams and links -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/Walk.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <tuple>

using namespace heddle::cost;
using Order = Walk::Order;

namespace {
struct Interval {
  int64_t begin, end;
  bool operator==(const Interval &) const = default;
};
std::ostream &operator<<(std::ostream &out, const Interval &each) {
  return out << each.begin << " to " << each.end;
}
Interval at(const Walk &walk, unsigned task) { return {walk.begin(task), walk.end(task)}; }

std::vector<std::tuple<int64_t, unsigned, int64_t>> heldOf(const Walk &walk) {
  std::vector<std::tuple<int64_t, unsigned, int64_t>> held;
  for (const Walk::Held &each : walk.held())
    held.emplace_back(each.time, each.memory, each.bytes);
  return held;
}

/// Forward and backward passes of `batches` through `stages`, in the order 1F1B. Times of messages
/// are those of the links between stages.
struct Pipeline {
  Walk walk;
  std::vector<std::vector<unsigned>> forward, backward; ///< by stage and batch

  Pipeline(unsigned stages, unsigned batches, int64_t f, int64_t b, int64_t message = 0) {
    forward.assign(stages, std::vector<unsigned>(batches));
    backward = forward;
    std::vector<unsigned> up, down;
    for (unsigned i = 0; i < stages; ++i)
      walk.addResource(Order::Given);
    for (unsigned i = 0; i < stages; ++i) {
      up.push_back(walk.addResource(Order::FirstCome));
      down.push_back(walk.addResource(Order::FirstCome));
    }
    for (unsigned i = 0; i < stages; ++i) {
      unsigned warm = std::min(batches, stages - i - 1), next = 0;
      for (; next < warm; ++next)
        forward[i][next] = walk.addTask(i, f);
      for (unsigned j = 0; j < batches; ++j) {
        if (next < batches)
          forward[i][next++] = walk.addTask(i, f);
        backward[i][j] = walk.addTask(i, b);
      }
    }
    auto send = [&](unsigned link, unsigned from, unsigned to) {
      unsigned sent = walk.addTask(link, message, {from});
      walk.addDependence(sent, to);
    };
    for (unsigned j = 0; j < batches; ++j) {
      for (unsigned i = 0; i + 1 < stages; ++i) {
        send(up[i], forward[i][j], forward[i + 1][j]);
        send(down[i + 1], backward[i + 1][j], backward[i][j]);
      }
      walk.addDependence(forward[stages - 1][j], backward[stages - 1][j]);
    }
  }
};
} // namespace

TEST(Walk, TasksWaitForOthersAndForTheirResource) {
  Walk walk;
  unsigned stream = walk.addResource(Order::Given), link = walk.addResource(Order::FirstCome);
  unsigned f = walk.addTask(stream, 5), sent = walk.addTask(link, 3, {f});
  unsigned g = walk.addTask(stream, 2), h = walk.addTask(stream, 2, {g, sent});
  ASSERT_TRUE(walk.run());
  EXPECT_EQ(at(walk, f), (Interval{0, 5}));
  EXPECT_EQ(at(walk, sent), (Interval{5, 8}));
  EXPECT_EQ(at(walk, g), (Interval{5, 7}));
  EXPECT_EQ(at(walk, h), (Interval{8, 10}));
  EXPECT_EQ(walk.end(), 10);
}

// n devices reduce s bytes in 2 (n - 1) (start + s / (n rate)).
TEST(Walk, ARing) {
  constexpr int64_t start = 1000, perByte = 3;
  for (unsigned n : {2u, 3u, 4u, 7u, 16u}) {
    int64_t bytes = 40 * n;
    Walk walk;
    for (unsigned i = 0; i < n; ++i)
      walk.addResource(Order::FirstCome);
    for (unsigned step = 0; step < 2 * (n - 1); ++step)
      for (unsigned i = 0; i < n; ++i) {
        unsigned sent = walk.addTask(i, start + bytes / n * perByte);
        if (step > 0) // what the neighbour sent before
          walk.addDependence((step - 1) * n + (i + n - 1) % n, sent);
      }
    ASSERT_TRUE(walk.run());
    EXPECT_EQ(walk.end(), int64_t(2 * (n - 1)) * (start + bytes / n * perByte)) << n;
  }
}

// p stages idle for p - 1 of m + p - 1 passes: (p - 1) / m of the time of the passes.
TEST(Walk, BubblesOfAPipeline) {
  for (unsigned p : {1u, 2u, 4u, 8u})
    for (unsigned m : {8u, 16u, 64u}) {
      Pipeline pipeline(p, m, 10, 20);
      ASSERT_TRUE(pipeline.walk.run());
      int64_t ideal = m * (10 + 20);
      EXPECT_EQ((pipeline.walk.end() - ideal) * m, (p - 1) * ideal) << p << " stages, " << m;
    }
}

TEST(Walk, FlowsShareALinkInTheOrderInWhichTheyCome) {
  Walk walk;
  unsigned a = walk.addResource(Order::Given), b = walk.addResource(Order::Given);
  unsigned link = walk.addResource(Order::FirstCome);
  unsigned quick = walk.addTask(b, 2), slow = walk.addTask(a, 4), slowest = walk.addTask(b, 3);
  unsigned last = walk.addTask(link, 1, {slowest}), later = walk.addTask(link, 10, {slow});
  unsigned first = walk.addTask(link, 10, {quick});
  ASSERT_TRUE(walk.run());
  EXPECT_EQ(at(walk, first), (Interval{2, 12})); // although it has the largest number
  EXPECT_EQ(at(walk, later), (Interval{12, 22}));
  EXPECT_EQ(at(walk, last), (Interval{22, 23}));
}

TEST(Walk, NumbersBreakTies) {
  Walk walk;
  unsigned stream = walk.addResource(Order::FirstFree), link = walk.addResource(Order::FirstCome);
  unsigned one = walk.addTask(stream, 1);
  unsigned second = walk.addTask(link, 5, {one}), third = walk.addTask(link, 5, {one});
  ASSERT_TRUE(walk.run());
  EXPECT_EQ(at(walk, second), (Interval{1, 6}));
  EXPECT_EQ(at(walk, third), (Interval{6, 11}));
}

TEST(Walk, ListSchedulingBeginsTheFirstTaskThatCan) {
  for (bool isList : {false, true}) {
    Walk walk;
    unsigned stream = walk.addResource(isList ? Order::FirstFree : Order::Given);
    unsigned link = walk.addResource(Order::FirstCome);
    unsigned sent = walk.addTask(link, 7);
    unsigned waits = walk.addTask(stream, 1, {sent});
    unsigned other = walk.addTask(stream, 4), more = walk.addTask(stream, 4);
    ASSERT_TRUE(walk.run());
    EXPECT_EQ(walk.begin(waits), isList ? 8 : 7);
    EXPECT_EQ(walk.begin(other), isList ? 0 : 8);
    EXPECT_EQ(walk.begin(more), isList ? 4 : 12);
  }
}

// What is ready at the same time comes in the order of numbers, even if messages that take no time
// lie between.
TEST(Walk, InstantTasksComeFirst) {
  Walk walk;
  unsigned a = walk.addResource(Order::FirstFree), b = walk.addResource(Order::FirstFree);
  unsigned link = walk.addResource(Order::FirstCome);
  unsigned far = walk.addTask(b, 3);
  unsigned first =
      walk.addTask(a, 1, {walk.addTask(Walk::none, 0, {walk.addTask(link, 0, {far})})});
  unsigned before = walk.addTask(a, 3), after = walk.addTask(a, 1);
  ASSERT_TRUE(walk.run());
  EXPECT_EQ(walk.begin(before), 0);
  EXPECT_EQ(walk.begin(first), 3);
  EXPECT_EQ(walk.begin(after), 4);
}

TEST(Walk, BuffersAreHeldFromTheirMakerToTheLastUser) {
  Walk walk;
  unsigned stream = walk.addResource(Order::Given), link = walk.addResource(Order::FirstCome);
  unsigned argument = walk.addBuffer(0, 100);
  walk.keep(argument);
  unsigned f = walk.addTask(stream, 2);
  unsigned x = walk.addBuffer(0, 10, f);
  unsigned sent = walk.addTask(link, 5), y = walk.addBuffer(1, 7, sent);
  walk.addUse(x, sent);
  unsigned g = walk.addTask(stream, 2);
  walk.addUse(x, g);
  walk.addBuffer(0, 1, g); // without a reader
  unsigned h = walk.addTask(Walk::none, 1);
  walk.addUse(y, h);
  ASSERT_TRUE(walk.run());
  std::vector<std::tuple<int64_t, unsigned, int64_t>> held = {{0, 0, 110}, {2, 0, 111}, {2, 1, 7},
                                                              {4, 0, 110}, {7, 0, 100}, {8, 1, 0}};
  EXPECT_EQ(heldOf(walk), held);
  EXPECT_EQ(walk.mostBytes(0), 111);
  EXPECT_EQ(walk.mostBytes(1), 7);
  EXPECT_EQ(walk.mostBytes(2), 0);
}

// At one time, buffers are freed before others are made.
TEST(Walk, MemoryIsReused) {
  Walk walk;
  unsigned stream = walk.addResource(Order::Given);
  unsigned x = Walk::none;
  for (int i = 0; i < 10; ++i) {
    unsigned task = walk.addTask(stream, i % 2);
    if (x != Walk::none)
      walk.addUse(x, task);
    x = walk.addBuffer(0, 8, task);
  }
  ASSERT_TRUE(walk.run());
  EXPECT_EQ(walk.mostBytes(0), 16);
}

// In the order 1F1B stage i holds values for at most p - i batches.
TEST(Walk, MemoryOfAPipeline) {
  constexpr unsigned p = 4, m = 12;
  Pipeline pipeline(p, m, 10, 20);
  for (unsigned i = 0; i < p; ++i)
    for (unsigned j = 0; j < m; ++j)
      pipeline.walk.addUse(pipeline.walk.addBuffer(i, 1, pipeline.forward[i][j]),
                           pipeline.backward[i][j]);
  ASSERT_TRUE(pipeline.walk.run());
  for (unsigned i = 0; i < p; ++i)
    EXPECT_EQ(pipeline.walk.mostBytes(i), p - i);
}

TEST(Walk, TasksThatWaitForEachOtherHaveNoTime) {
  Walk walk;
  unsigned stream = walk.addResource(Order::Given);
  unsigned a = walk.addTask(stream, 1), b = walk.addTask(stream, 1), c = walk.addTask(stream, 1);
  walk.addDependence(c, b);
  EXPECT_FALSE(walk.run());
  EXPECT_EQ(at(walk, a), (Interval{0, 1}));
  EXPECT_EQ(at(walk, b), (Interval{-1, -1}));
  EXPECT_EQ(at(walk, c), (Interval{-1, -1}));
}

TEST(Walk, TwentyThousandTasks) {
  constexpr unsigned p = 10, m = 1000;
  Pipeline instant(p, m, 100, 200), pipeline(p, m, 100, 200, 1), first(p, p, 100, 200, 1);
  ASSERT_GT(pipeline.walk.tasks(), 20000u);
  ASSERT_TRUE(instant.walk.run() && pipeline.walk.run() && first.walk.run());
  EXPECT_EQ(instant.walk.end(), (m + p - 1) * 300);
  // Stage 0 begins p batches, and another p when the first ones return: in the time of the passes
  // of all stages and 2 (p - 1) messages.
  int64_t round = p * 300 + 2 * (p - 1), end = first.walk.end() + (m / p - 1) * round;
  EXPECT_EQ(pipeline.walk.end(), end);
  ASSERT_TRUE(pipeline.walk.run()); // again
  EXPECT_EQ(pipeline.walk.end(), end);
}

TEST(Walk, TimesAreRoundedAndBounded) {
  EXPECT_EQ(picoseconds(1.4e-12), 1);
  EXPECT_EQ(picoseconds(1.6e-12), 2);
  EXPECT_EQ(picoseconds(0.25), 250'000'000'000);
  EXPECT_EQ(picoseconds(-1), 0);
  EXPECT_EQ(picoseconds(std::nan("")), 0);
  int64_t most = picoseconds(std::numeric_limits<double>::infinity());
  EXPECT_EQ(picoseconds(1e30), most);
  EXPECT_GT(most, picoseconds(4e6));
  Walk walk;
  unsigned stream = walk.addResource(Order::Given);
  for (int i = 0; i < 4; ++i)
    walk.addTask(stream, most);
  ASSERT_TRUE(walk.run());
  EXPECT_EQ(walk.end(), most);
}
