//===- TimetableTest.cpp - changes give the times of a fresh start --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AllTimes.h"

#include "lib/cost/TaskTimes.h"

#include "gtest/gtest.h"

#include <map>
#include <random>
#include <span>

using namespace heddle;
using namespace heddle::planner;

namespace {
using Random = std::mt19937_64;

/// A drawn graph: tasks by key; a task depends on tasks with smaller ranks.
struct Drawn {
  struct Task {
    unsigned rank, resource;
    int64_t duration;
  };
  struct Dependence {
    uint64_t before, after;
    int64_t lag;
    bool fromBegin;
  };
  std::map<uint64_t, Task> tasks;
  std::vector<Dependence> dependences;

  /// Short durations, so that many tasks are ready at once.
  void addTask(uint64_t key, unsigned resources, Random &random) {
    tasks[key] = {unsigned(random() % 40), unsigned(random() % resources),
                  int64_t(1 + random() % 4)};
  }
  void connect(uint64_t key, unsigned count, bool someFromBegin, Random &random) {
    for (unsigned i = 0; i < count; ++i) {
      auto other = std::next(tasks.begin(), std::ptrdiff_t(random() % tasks.size()));
      auto [before, after] = std::pair(key, other->first);
      if (tasks[before].rank == tasks[after].rank)
        continue;
      if (tasks[before].rank > tasks[after].rank)
        std::swap(before, after);
      bool fromBegin = someFromBegin && random() % 3 == 0;
      dependences.push_back({before, after, int64_t(fromBegin + random() % 3), fromBegin});
    }
  }
  void remove(uint64_t key) {
    tasks.erase(key);
    std::erase_if(dependences,
                  [&](const Dependence &each) { return each.before == key || each.after == key; });
  }
};

Drawn draw(unsigned count, unsigned resources, bool someFromBegin, Random &random) {
  Drawn graph;
  for (unsigned i = 0; i < count; ++i)
    graph.addTask(random() >> 1, resources, random);
  std::vector<uint64_t> keys;
  for (const auto &[key, task] : graph.tasks)
    keys.push_back(key);
  for (uint64_t key : keys)
    graph.connect(key, unsigned(random() % 3), someFromBegin, random);
  return graph;
}

using Ids = std::map<uint64_t, Timetable::Id>;

Ids fill(Timetable &times, const Drawn &graph, unsigned resources) {
  Ids ids;
  for (unsigned i = 0; i < resources; ++i)
    times.addResource();
  for (const auto &[key, task] : graph.tasks)
    ids[key] = times.addTask(key, task.resource, task.duration);
  for (const Drawn::Dependence &each : graph.dependences)
    times.addDependence({ids[each.before], ids[each.after], each.lag, each.fromBegin});
  return ids;
}

All simulated(const Drawn &graph, unsigned resources) {
  Timetable times;
  fill(times, graph, resources);
  times.computeTimes();
  return allOf(times);
}

/// A task, its message, and the task that waits for it.
struct Chain {
  Timetable times;
  unsigned device = times.addResource(), link = times.addResource();
  Timetable::Id f = times.addTask(1, device, 5), sent = times.addTask(2, link, 3),
                g = times.addTask(3, device, 4);

  Chain() {
    times.addDependence({f, sent});
    times.addDependence({sent, g});
  }
};
} // namespace

TEST(Timetable, RunsTasksInTheOrderInWhichTheyBecomeReady) {
  Chain chain;
  auto &[times, device, link, f, sent, g] = chain;
  EXPECT_EQ(times.computeTimes(), 12);
  EXPECT_EQ(times[g], (Timetable::Times{8, 8, 12}));
  times.remove(sent);
  times.addDependence({f, g});
  EXPECT_EQ(times.update(), 9);
  times.undo();
  EXPECT_EQ(times.end(), 12);
  EXPECT_EQ(times[sent], (Timetable::Times{5, 5, 8}));
}

// On a device that computes 5 + 4 and waits for 3 between them.
TEST(Timetable, LeavesChangesThatEndAboveALimit) {
  Chain chain;
  auto &[times, device, link, f, sent, g] = chain;
  EXPECT_EQ(times.computeTimes(11), std::nullopt);
  EXPECT_EQ(times.computeTimes(12), 12);
  for (int64_t limit : {12, 13, 14}) { // work, after a walk, and not at all
    times.addTask(4, device, 1);       // while the device waits
    times.addDependence({sent, times.addTask(5, device, 1)});
    EXPECT_EQ(times.update(limit), limit < 13 ? std::nullopt : std::optional<int64_t>(13));
    times.undo();
    EXPECT_EQ(times.end(), 12);
    EXPECT_EQ(times[g], (Timetable::Times{8, 8, 12}));
  }
}

// Two messages of 30 ps on one link arrive after 30 and 60; the one with the smaller key goes
// first. A third one that is ready earlier goes before both.
TEST(Timetable, SharedLinksSendOneMessageAfterTheOther) {
  Timetable times;
  unsigned a = times.addResource(), b = times.addResource(), link = times.addResource();
  auto first = times.addTask(1, a, 10), second = times.addTask(2, b, 10);
  auto x = times.addTask(4, link, 30), y = times.addTask(3, link, 30);
  times.addDependence({first, x});
  times.addDependence({second, y});
  EXPECT_EQ(times.computeTimes(), 70);
  EXPECT_EQ(times[y], (Timetable::Times{10, 10, 40}));
  EXPECT_EQ(times[x], (Timetable::Times{10, 40, 70}));
  times.addTask(9, link, 5);
  EXPECT_EQ(times.update(), 70); // it is done before
  EXPECT_EQ(times.computed(), 1u);
}

// A message passes through two links at once: the second one begins with a lag.
TEST(Timetable, MessagesPassThroughLinksAtOnce) {
  Timetable times;
  unsigned fast = times.addResource(), slow = times.addResource();
  auto first = times.addTask(1, fast, 30), second = times.addTask(2, slow, 100);
  times.addDependence({first, second, 7, true});
  EXPECT_EQ(times.computeTimes(), 107);
}

// To reduce `bytes` in a ring of n devices, each sends a block to the next one 2 (n - 1) times, and
// goes on with what it got: 2 (n - 1) (latency + bytes / (n rate)).
TEST(Timetable, RingsTakeTwoTurns) {
  for (unsigned n : {2u, 3u, 8u}) {
    int64_t latency = 7, block = 40;
    Timetable times;
    for (unsigned i = 0; i < n; ++i)
      times.addResource();
    std::vector<Timetable::Id> last, next;
    for (unsigned turn = 0; turn < 2 * (n - 1); ++turn, last.swap(next)) {
      next.clear();
      for (unsigned i = 0; i < n; ++i) {
        next.push_back(times.addTask(turn * n + i, i, block));
        if (turn)
          times.addDependence({last[(i + n - 1) % n], next[i], latency});
      }
    }
    times.computeTimes();
    EXPECT_EQ(times.end() + latency, 2 * (n - 1) * (latency + block)) << n;
  }
}

// With p stages and m batches, a device is idle (p - 1) / m of the time in which it computes.
TEST(Timetable, PipelinesHaveBubbles) {
  for (unsigned p : {1u, 2u, 4u})
    for (unsigned m : {1u, 3u, 8u}) {
      Timetable times;
      std::vector<Timetable::Id> before(m);
      for (unsigned stage = 0; stage < p; ++stage) {
        unsigned device = times.addResource();
        for (unsigned batch = 0; batch < m; ++batch) {
          Timetable::Id task = times.addTask(batch * p + stage, device, 10);
          if (stage)
            times.addDependence({before[batch], task});
          before[batch] = task;
        }
      }
      EXPECT_EQ(times.computeTimes() - 10 * m, 10 * (p - 1));
    }
}

// The cost model knows no lags: they are tasks of their own there.
TEST(Timetable, AgreesWithTheCostModel) {
  Random random(1);
  for (unsigned round = 0; round < 300; ++round) {
    unsigned resources = 1 + unsigned(random() % 5);
    Drawn graph = draw(60, resources, false, random);
    Timetable times;
    Ids ids = fill(times, graph, resources);
    cost::TaskTimes tasks;
    std::map<uint64_t, unsigned> walked;
    for (unsigned i = 0; i < resources; ++i)
      tasks.addResource(cost::TaskTimes::Order::FirstCome);
    for (const auto &[key, task] : graph.tasks)
      walked[key] = tasks.addTask(task.resource, task.duration);
    for (const Drawn::Dependence &each : graph.dependences)
      tasks.addDependence(
          each.lag ? tasks.addTask(cost::TaskTimes::none, each.lag, {walked[each.before]})
                   : walked[each.before],
          walked[each.after]);
    ASSERT_TRUE(tasks.run());
    EXPECT_EQ(times.computeTimes(), tasks.end());
    for (const auto &[key, id] : ids) {
      ASSERT_EQ(times[id].begin, tasks.begin(walked[key])) << "round " << round;
      ASSERT_EQ(times[id].end, tasks.end(walked[key])) << "round " << round;
    }
  }
}

// Some tasks are removed, others added with new dependences, and the result is compared with a
// timetable that is made anew; half of the changes are undone, and those that are left.
TEST(Timetable, UpdatesGiveTheTimesOfAFreshStart) {
  Random random(2);
  size_t updates = 0, computed = 0, all = 0, leftOut = 0;
  for (unsigned round = 0; round < 100; ++round) {
    unsigned resources = 1 + unsigned(random() % 8);
    Drawn graph = draw(20 + unsigned(random() % 80), resources, true, random);
    Timetable times;
    Ids ids = fill(times, graph, resources);
    times.computeTimes();
    All before = allOf(times);
    ASSERT_EQ(before, simulated(graph, resources));
    for (unsigned change = 0; change < 30; ++change, ++updates) {
      Drawn next = graph;
      Ids nextIds = ids;
      for (unsigned i = 0, count = unsigned(random() % 4); i < count && next.tasks.size() > 1;
           ++i) {
        auto gone = std::next(next.tasks.begin(), std::ptrdiff_t(random() % next.tasks.size()));
        times.remove(nextIds[gone->first]);
        nextIds.erase(gone->first);
        next.remove(uint64_t(gone->first));
      }
      for (unsigned i = 0, count = unsigned(random() % 4); i < count; ++i) {
        uint64_t key = random() >> 1;
        size_t first = next.dependences.size();
        next.addTask(key, resources, random);
        nextIds[key] = times.addTask(key, next.tasks[key].resource, next.tasks[key].duration);
        next.connect(key, unsigned(random() % 5), true, random);
        for (const auto &each : std::span(next.dependences).subspan(first))
          times.addDependence(
              {nextIds[each.before], nextIds[each.after], each.lag, each.fromBegin});
      }
      if (random() % 3 == 0) { // between tasks that are there
        size_t first = next.dependences.size();
        auto one = std::next(next.tasks.begin(), std::ptrdiff_t(random() % next.tasks.size()));
        next.connect(uint64_t(one->first), 1, true, random);
        for (const auto &each : std::span(next.dependences).subspan(first))
          times.addDependence(
              {nextIds[each.before], nextIds[each.after], each.lag, each.fromBegin});
      }
      All fresh = simulated(next, resources);
      int64_t end = endOf(fresh), limit = limitFor(end, random);
      std::optional<int64_t> found = times.update(limit);
      if (found) {
        computed += times.computed();
        all += next.tasks.size();
        ASSERT_EQ(*found, end);
        ASSERT_EQ(allOf(times), fresh) << "round " << round << "." << change;
      }
      ASSERT_EQ(found.has_value(), end <= limit) << "round " << round << "." << change;
      leftOut += !found;
      if (!found || random() % 2) {
        times.undo();
        ASSERT_EQ(allOf(times), before);
        ASSERT_EQ(times.end(), endOf(before));
      } else {
        times.commit();
        graph = std::move(next);
        ids = std::move(nextIds);
        before = allOf(times);
      }
    }
  }
  EXPECT_EQ(updates, 3000u);
  EXPECT_GT(leftOut, 200u);
  EXPECT_LT(computed, all / 2); // most tasks keep their times
}
