//===- TaskTimesLawTest.cpp - exact times and a slow simulation agree -----===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Draws tasks, and compares with a simulation that looks at each task at each step and that keeps
// no queue and no count.
//
//===----------------------------------------------------------------------===//

#include "lib/cost/TaskTimes.h"

#include "test/unit/runtime/Random.h"

#include <map>
#include <numeric>

using namespace heddle;
using namespace heddle::cost;
using Order = TaskTimes::Order;

namespace {
struct Drawn {
  struct Task {
    unsigned resource;
    int64_t duration;
    std::vector<unsigned> after;
  };
  struct Buffer {
    unsigned memory;
    int64_t bytes;
    unsigned maker;
    std::vector<unsigned> users;
    bool isKept;
  };
  std::vector<Order> orders;
  std::vector<Task> tasks;
  std::vector<Buffer> buffers;

  explicit Drawn(Random &random) {
    bool anyGiven = random.between(0, 1);
    for (int64_t i = random.between(1, 5); i > 0; --i)
      orders.push_back(Order(random.between(anyGiven ? 0 : 1, 2)));
    size_t count = size_t(random.between(1, 40));
    // Tasks are numbered in an order of dependence only where resources have a given order.
    std::vector<unsigned> place(count);
    std::iota(place.begin(), place.end(), 0u);
    if (!anyGiven)
      random.shuffle(place);
    int64_t longest = random.between(0, 4);
    tasks.resize(count);
    for (size_t i = 0; i < count; ++i) {
      Task &task = tasks[place[i]];
      int64_t resource = random.between(-1, int64_t(orders.size()) - 1);
      task = {resource < 0 ? TaskTimes::none : unsigned(resource), random.between(0, longest), {}};
      for (int64_t left = i ? random.between(0, 3) : 0; left > 0; --left)
        task.after.push_back(place[size_t(random.between(0, int64_t(i) - 1))]);
    }
    for (int64_t left = random.between(0, 20); left > 0; --left) {
      size_t maker = size_t(random.between(0, int64_t(count) - 1));
      Buffer buffer{unsigned(random.between(0, 2)), random.between(0, 9), place[maker], {}, false};
      for (int64_t users = random.between(0, 3); users > 0 && maker + 1 < count; --users)
        buffer.users.push_back(
            place[size_t(random.between(int64_t(maker) + 1, int64_t(count) - 1))]);
      if (random.between(0, 3) == 0)
        buffer.maker = TaskTimes::none;
      buffer.isKept = random.between(0, 3) == 0;
      for (unsigned user : buffer.users)
        if (buffer.maker != TaskTimes::none)
          tasks[user].after.push_back(buffer.maker);
      buffers.push_back(buffer);
    }
  }

  TaskTimes times() const {
    TaskTimes times;
    for (Order order : orders)
      times.addResource(order);
    for (const Task &task : tasks)
      times.addTask(task.resource, task.duration);
    for (const Buffer &each : buffers) {
      unsigned buffer = times.addBuffer(each.memory, each.bytes, each.maker);
      for (unsigned user : each.users)
        times.addUse(buffer, user);
      if (each.isKept)
        times.keep(buffer);
    }
    for (unsigned task = 0; task < tasks.size(); ++task)
      for (unsigned before : tasks[task].after)
        times.addDependence(before, task);
    return times;
  }
};

/// One step at a time.
class Slow {
public:
  explicit Slow(const Drawn &drawn)
      : drawn(drawn), begins(drawn.tasks.size(), -1), ends(begins), isDone(drawn.tasks.size()) {
    while (true) {
      if (!beginSome(/*instant=*/true))
        beginSome(/*instant=*/false);
      note();
      int64_t next = -1;
      for (size_t i = 0; i < ends.size(); ++i)
        if (begins[i] >= 0 && !isDone[i] && (next < 0 || ends[i] < next))
          next = ends[i];
      if (next < 0)
        return;
      now = next;
      for (size_t i = 0; i < ends.size(); ++i)
        if (begins[i] >= 0 && ends[i] <= now)
          isDone[i] = true;
    }
  }

  const Drawn &drawn;
  std::vector<int64_t> begins, ends;
  std::map<unsigned, int64_t> most; ///< bytes, by memory
  std::vector<bool> isDone;
  int64_t now = 0;

private:
  bool isReady(unsigned task) const {
    return begins[task] < 0 &&
           std::ranges::all_of(
               drawn.tasks[task].after, [&](unsigned each) { return isDone[each]; });
  }
  int64_t readyAt(unsigned task) const {
    int64_t time = 0;
    for (unsigned each : drawn.tasks[task].after)
      time = std::max(time, ends[each]);
    return time;
  }
  /// The task that a resource begins now, if any.
  unsigned next(unsigned resource) const {
    unsigned best = TaskTimes::none;
    for (unsigned task = 0; task < begins.size(); ++task) {
      if (drawn.tasks[task].resource != resource || isDone[task])
        continue;
      if (begins[task] >= 0)
        return TaskTimes::none; // is busy
      if (drawn.orders[resource] == Order::Given)
        return isReady(task) ? task : TaskTimes::none;
    }
    for (unsigned task = 0; task < begins.size(); ++task)
      if (drawn.tasks[task].resource == resource && isReady(task))
        if (best == TaskTimes::none ||
            (drawn.orders[resource] == Order::FirstCome && readyAt(task) < readyAt(best)))
          best = task;
    return best;
  }
  bool beginSome(bool instant) {
    std::vector<unsigned> chosen;
    for (unsigned resource = 0; resource < drawn.orders.size(); ++resource)
      if (unsigned task = next(resource); task != TaskTimes::none)
        chosen.push_back(task);
    for (unsigned task = 0; task < begins.size(); ++task)
      if (drawn.tasks[task].resource == TaskTimes::none && isReady(task))
        chosen.push_back(task);
    bool any = false;
    for (unsigned task : chosen)
      if ((drawn.tasks[task].duration == 0) == instant) {
        begins[task] = now;
        ends[task] = now + drawn.tasks[task].duration;
        any = true;
      }
    return any;
  }
  void note() {
    std::map<unsigned, int64_t> bytes;
    for (const Drawn::Buffer &buffer : drawn.buffers) {
      bool isMade = buffer.maker == TaskTimes::none || begins[buffer.maker] >= 0;
      bool isUsed = buffer.isKept || (buffer.maker != TaskTimes::none && !isDone[buffer.maker]) ||
                    std::ranges::any_of(buffer.users, [&](unsigned each) { return !isDone[each]; });
      if (isMade && isUsed)
        bytes[buffer.memory] += buffer.bytes;
    }
    for (auto [memory, held] : bytes)
      most[memory] = std::max(most[memory], held);
  }
};
} // namespace

TEST(TaskTimesLaws, AgreesWithASlowSimulation) {
  forRandomSeeds(3000, [](Random &random) {
    Drawn drawn(random);
    TaskTimes times = drawn.times();
    ASSERT_TRUE(times.run());
    Slow slow(drawn);
    int64_t last = 0;
    for (unsigned task = 0; task < drawn.tasks.size(); ++task) {
      ASSERT_EQ(times.begin(task), slow.begins[task]) << "task " << task;
      ASSERT_EQ(times.end(task), slow.ends[task]) << "task " << task;
      last = std::max(last, slow.ends[task]);
    }
    ASSERT_EQ(times.end(), last);
    for (unsigned memory = 0; memory < 3; ++memory)
      ASSERT_EQ(times.mostBytes(memory), slow.most[memory]) << "memory " << memory;
  });
}

// In each of the three orders, a task begins after those that it depends on, and the tasks of one
// resource do not overlap. A resource with list scheduling does not idle while a task waits for it.
TEST(TaskTimesLaws, ResourcesRunOneTaskAtATimeAndDoNotIdle) {
  forRandomSeeds(1000, [](Random &random) {
    Drawn drawn(random);
    TaskTimes times = drawn.times();
    ASSERT_TRUE(times.run());
    for (unsigned a = 0; a < drawn.tasks.size(); ++a) {
      int64_t ready = 0, idle = times.begin(a);
      for (unsigned before : drawn.tasks[a].after) {
        ASSERT_LE(times.end(before), times.begin(a));
        ready = std::max(ready, times.end(before));
      }
      unsigned resource = drawn.tasks[a].resource;
      for (unsigned b = 0; resource != TaskTimes::none && b < drawn.tasks.size(); ++b)
        if (a != b && drawn.tasks[b].resource == resource) {
          ASSERT_TRUE(times.end(a) <= times.begin(b) || times.end(b) <= times.begin(a));
          int64_t from = std::max(ready, times.begin(b)),
                  to = std::min(times.begin(a), times.end(b));
          idle -= std::max<int64_t>(0, to - from);
        }
      if (resource == TaskTimes::none || drawn.orders[resource] != Order::Given) {
        ASSERT_EQ(idle, ready) << "task " << a;
      }
    }
  });
}
