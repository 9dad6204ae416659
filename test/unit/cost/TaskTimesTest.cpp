//===- TaskTimesTest.cpp - exact times of tasks on streams and links ------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/TaskTimes.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <tuple>

using namespace heddle::cost;
using Order = TaskTimes::Order;

namespace {
struct Interval {
  int64_t begin, end;
  bool operator==(const Interval &) const = default;
};
std::ostream &operator<<(std::ostream &out, const Interval &each) {
  return out << each.begin << " to " << each.end;
}
Interval at(const TaskTimes &times, unsigned task) { return {times.begin(task), times.end(task)}; }

std::vector<std::tuple<int64_t, unsigned, int64_t>> heldOf(const TaskTimes &times) {
  std::vector<std::tuple<int64_t, unsigned, int64_t>> held;
  for (const TaskTimes::Held &each : times.held())
    held.emplace_back(each.time, each.memory, each.bytes);
  return held;
}

/// Forward and backward passes of `batches` through `stages`, in the order 1F1B. Times of messages
/// are those of the links between stages.
struct Pipeline {
  TaskTimes times;
  std::vector<std::vector<unsigned>> forward, backward; ///< by stage and batch

  Pipeline(unsigned stages, unsigned batches, int64_t f, int64_t b, int64_t message = 0) {
    forward.assign(stages, std::vector<unsigned>(batches));
    backward = forward;
    std::vector<unsigned> up, down;
    for (unsigned i = 0; i < stages; ++i)
      times.addResource(Order::Given);
    for (unsigned i = 0; i < stages; ++i) {
      up.push_back(times.addResource(Order::FirstCome));
      down.push_back(times.addResource(Order::FirstCome));
    }
    for (unsigned i = 0; i < stages; ++i) {
      unsigned warm = std::min(batches, stages - i - 1), next = 0;
      for (; next < warm; ++next)
        forward[i][next] = times.addTask(i, f);
      for (unsigned j = 0; j < batches; ++j) {
        if (next < batches)
          forward[i][next++] = times.addTask(i, f);
        backward[i][j] = times.addTask(i, b);
      }
    }
    auto send = [&](unsigned link, unsigned from, unsigned to) {
      unsigned sent = times.addTask(link, message, {from});
      times.addDependence(sent, to);
    };
    for (unsigned j = 0; j < batches; ++j) {
      for (unsigned i = 0; i + 1 < stages; ++i) {
        send(up[i], forward[i][j], forward[i + 1][j]);
        send(down[i + 1], backward[i + 1][j], backward[i][j]);
      }
      times.addDependence(forward[stages - 1][j], backward[stages - 1][j]);
    }
  }
};
} // namespace

TEST(TaskTimes, TasksWaitForOthersAndForTheirResource) {
  TaskTimes times;
  unsigned stream = times.addResource(Order::Given), link = times.addResource(Order::FirstCome);
  unsigned f = times.addTask(stream, 5), sent = times.addTask(link, 3, {f});
  unsigned g = times.addTask(stream, 2), h = times.addTask(stream, 2, {g, sent});
  ASSERT_TRUE(times.run());
  EXPECT_EQ(at(times, f), (Interval{0, 5}));
  EXPECT_EQ(at(times, sent), (Interval{5, 8}));
  EXPECT_EQ(at(times, g), (Interval{5, 7}));
  EXPECT_EQ(at(times, h), (Interval{8, 10}));
  EXPECT_EQ(times.end(), 10);
}

// n devices reduce s bytes in 2 (n - 1) (start + s / (n rate)).
TEST(TaskTimes, ARing) {
  constexpr int64_t start = 1000, perByte = 3;
  for (unsigned n : {2u, 3u, 4u, 7u, 16u}) {
    int64_t bytes = 40 * n;
    TaskTimes times;
    for (unsigned i = 0; i < n; ++i)
      times.addResource(Order::FirstCome);
    for (unsigned step = 0; step < 2 * (n - 1); ++step)
      for (unsigned i = 0; i < n; ++i) {
        unsigned sent = times.addTask(i, start + bytes / n * perByte);
        if (step > 0) // what the neighbour sent before
          times.addDependence((step - 1) * n + (i + n - 1) % n, sent);
      }
    ASSERT_TRUE(times.run());
    EXPECT_EQ(times.end(), int64_t(2 * (n - 1)) * (start + bytes / n * perByte)) << n;
  }
}

// p stages idle for p - 1 of m + p - 1 passes: (p - 1) / m of the time of the passes.
TEST(TaskTimes, BubblesOfAPipeline) {
  for (unsigned p : {1u, 2u, 4u, 8u})
    for (unsigned m : {8u, 16u, 64u}) {
      Pipeline pipeline(p, m, 10, 20);
      ASSERT_TRUE(pipeline.times.run());
      int64_t ideal = m * (10 + 20);
      EXPECT_EQ((pipeline.times.end() - ideal) * m, (p - 1) * ideal) << p << " stages, " << m;
    }
}

TEST(TaskTimes, FlowsShareALinkInTheOrderInWhichTheyCome) {
  TaskTimes times;
  unsigned a = times.addResource(Order::Given), b = times.addResource(Order::Given);
  unsigned link = times.addResource(Order::FirstCome);
  unsigned quick = times.addTask(b, 2), slow = times.addTask(a, 4), slowest = times.addTask(b, 3);
  unsigned last = times.addTask(link, 1, {slowest}), later = times.addTask(link, 10, {slow});
  unsigned first = times.addTask(link, 10, {quick});
  ASSERT_TRUE(times.run());
  EXPECT_EQ(at(times, first), (Interval{2, 12})); // although it has the largest number
  EXPECT_EQ(at(times, later), (Interval{12, 22}));
  EXPECT_EQ(at(times, last), (Interval{22, 23}));
}

TEST(TaskTimes, NumbersBreakTies) {
  TaskTimes times;
  unsigned stream = times.addResource(Order::FirstFree), link = times.addResource(Order::FirstCome);
  unsigned one = times.addTask(stream, 1);
  unsigned second = times.addTask(link, 5, {one}), third = times.addTask(link, 5, {one});
  ASSERT_TRUE(times.run());
  EXPECT_EQ(at(times, second), (Interval{1, 6}));
  EXPECT_EQ(at(times, third), (Interval{6, 11}));
}

TEST(TaskTimes, ListSchedulingBeginsTheFirstTaskThatCan) {
  for (bool isList : {false, true}) {
    TaskTimes times;
    unsigned stream = times.addResource(isList ? Order::FirstFree : Order::Given);
    unsigned link = times.addResource(Order::FirstCome);
    unsigned sent = times.addTask(link, 7);
    unsigned waits = times.addTask(stream, 1, {sent});
    unsigned other = times.addTask(stream, 4), more = times.addTask(stream, 4);
    ASSERT_TRUE(times.run());
    EXPECT_EQ(times.begin(waits), isList ? 8 : 7);
    EXPECT_EQ(times.begin(other), isList ? 0 : 8);
    EXPECT_EQ(times.begin(more), isList ? 4 : 12);
  }
}

// What is ready at the same time comes in the order of numbers, even if messages that take no time
// lie between.
TEST(TaskTimes, InstantTasksComeFirst) {
  TaskTimes times;
  unsigned a = times.addResource(Order::FirstFree), b = times.addResource(Order::FirstFree);
  unsigned link = times.addResource(Order::FirstCome);
  unsigned far = times.addTask(b, 3);
  unsigned first =
      times.addTask(a, 1, {times.addTask(TaskTimes::none, 0, {times.addTask(link, 0, {far})})});
  unsigned before = times.addTask(a, 3), after = times.addTask(a, 1);
  ASSERT_TRUE(times.run());
  EXPECT_EQ(times.begin(before), 0);
  EXPECT_EQ(times.begin(first), 3);
  EXPECT_EQ(times.begin(after), 4);
}

TEST(TaskTimes, BuffersAreHeldFromTheirMakerToTheLastUser) {
  TaskTimes times;
  unsigned stream = times.addResource(Order::Given), link = times.addResource(Order::FirstCome);
  unsigned argument = times.addBuffer(0, 100);
  times.keep(argument);
  unsigned f = times.addTask(stream, 2);
  unsigned x = times.addBuffer(0, 10, f);
  unsigned sent = times.addTask(link, 5), y = times.addBuffer(1, 7, sent);
  times.addUse(x, sent);
  unsigned g = times.addTask(stream, 2);
  times.addUse(x, g);
  times.addBuffer(0, 1, g); // without a reader
  unsigned h = times.addTask(TaskTimes::none, 1);
  times.addUse(y, h);
  ASSERT_TRUE(times.run());
  std::vector<std::tuple<int64_t, unsigned, int64_t>> held = {{0, 0, 110}, {2, 0, 111}, {2, 1, 7},
                                                              {4, 0, 110}, {7, 0, 100}, {8, 1, 0}};
  EXPECT_EQ(heldOf(times), held);
  EXPECT_EQ(times.mostBytes(0), 111);
  EXPECT_EQ(times.mostBytes(1), 7);
  EXPECT_EQ(times.mostBytes(2), 0);
}

// At one time, buffers are freed before others are made.
TEST(TaskTimes, MemoryIsReused) {
  TaskTimes times;
  unsigned stream = times.addResource(Order::Given);
  unsigned x = TaskTimes::none;
  for (int i = 0; i < 10; ++i) {
    unsigned task = times.addTask(stream, i % 2);
    if (x != TaskTimes::none)
      times.addUse(x, task);
    x = times.addBuffer(0, 8, task);
  }
  ASSERT_TRUE(times.run());
  EXPECT_EQ(times.mostBytes(0), 16);
}

// In the order 1F1B stage i holds values for at most p - i batches.
TEST(TaskTimes, MemoryOfAPipeline) {
  constexpr unsigned p = 4, m = 12;
  Pipeline pipeline(p, m, 10, 20);
  for (unsigned i = 0; i < p; ++i)
    for (unsigned j = 0; j < m; ++j)
      pipeline.times.addUse(pipeline.times.addBuffer(i, 1, pipeline.forward[i][j]),
                            pipeline.backward[i][j]);
  ASSERT_TRUE(pipeline.times.run());
  for (unsigned i = 0; i < p; ++i)
    EXPECT_EQ(pipeline.times.mostBytes(i), p - i);
}

TEST(TaskTimes, TasksThatWaitForEachOtherHaveNoTime) {
  TaskTimes times;
  unsigned stream = times.addResource(Order::Given);
  unsigned a = times.addTask(stream, 1), b = times.addTask(stream, 1), c = times.addTask(stream, 1);
  times.addDependence(c, b);
  EXPECT_FALSE(times.run());
  EXPECT_EQ(at(times, a), (Interval{0, 1}));
  EXPECT_EQ(at(times, b), (Interval{-1, -1}));
  EXPECT_EQ(at(times, c), (Interval{-1, -1}));
}

TEST(TaskTimes, TwentyThousandTasks) {
  constexpr unsigned p = 10, m = 1000;
  Pipeline instant(p, m, 100, 200), pipeline(p, m, 100, 200, 1), first(p, p, 100, 200, 1);
  ASSERT_GT(pipeline.times.tasks(), 20000u);
  ASSERT_TRUE(instant.times.run() && pipeline.times.run() && first.times.run());
  EXPECT_EQ(instant.times.end(), (m + p - 1) * 300);
  // Stage 0 begins p batches, and another p when the first ones return: in the time of the passes
  // of all stages and 2 (p - 1) messages.
  int64_t round = p * 300 + 2 * (p - 1), end = first.times.end() + (m / p - 1) * round;
  EXPECT_EQ(pipeline.times.end(), end);
  ASSERT_TRUE(pipeline.times.run()); // again
  EXPECT_EQ(pipeline.times.end(), end);
}

TEST(TaskTimes, TimesAreRoundedAndBounded) {
  EXPECT_EQ(picoseconds(1.4e-12), 1);
  EXPECT_EQ(picoseconds(1.6e-12), 2);
  EXPECT_EQ(picoseconds(0.25), 250'000'000'000);
  EXPECT_EQ(picoseconds(-1), 0);
  EXPECT_EQ(picoseconds(std::nan("")), 0);
  int64_t most = picoseconds(std::numeric_limits<double>::infinity());
  EXPECT_EQ(picoseconds(1e30), most);
  EXPECT_GT(most, picoseconds(4e6));
  TaskTimes times;
  unsigned stream = times.addResource(Order::Given);
  for (int i = 0; i < 4; ++i)
    times.addTask(stream, most);
  ASSERT_TRUE(times.run());
  EXPECT_EQ(times.end(), most);
}
