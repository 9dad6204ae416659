//===- TaskTimes.cpp - when tasks run on streams and links ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/TaskTimes.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <span>

using namespace heddle;
using namespace heddle::cost;

/// Half of the range, so that the sum of two times fits.
static constexpr int64_t longest = std::numeric_limits<int64_t>::max() / 2;

int64_t cost::picoseconds(double seconds) {
  if (!(seconds > 0)) // also for NaN
    return 0;
  return seconds < double(longest) * 1e-12 ? std::llround(seconds * 1e12) : longest;
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

unsigned TaskTimes::addResource(Order order) {
  orders.push_back(order);
  lastTasks.push_back(none);
  return unsigned(orders.size()) - 1;
}

unsigned TaskTimes::addTask(unsigned resource, int64_t duration,
                            std::initializer_list<unsigned> after) {
  assert(duration >= 0 && "a task takes time");
  unsigned task = unsigned(tasks());
  resourceOf.push_back(resource);
  durations.push_back(std::min(duration, longest));
  for (unsigned before : after)
    addDependence(before, task);
  if (resource != none && orders[resource] == Order::Given) {
    unsigned before = std::exchange(lastTasks[resource], task);
    if (before != none)
      addDependence(before, task);
  }
  return task;
}

unsigned TaskTimes::addBuffer(unsigned memory, int64_t bytes, unsigned maker) {
  unsigned buffer = unsigned(buffers.size());
  makers.push_back(maker);
  buffers.push_back({memory, 0, bytes});
  if (maker != none) {
    made.emplace_back(maker, buffer);
    used.emplace_back(maker, buffer);
    ++buffers[buffer].users;
  }
  return buffer;
}

void TaskTimes::addUse(unsigned buffer, unsigned task) {
  used.emplace_back(task, buffer);
  ++buffers[buffer].users;
  if (makers[buffer] != none)
    addDependence(makers[buffer], task);
}

int64_t TaskTimes::mostBytes(unsigned memory) const {
  int64_t most = 0;
  for (const Held &sample : samples)
    if (sample.memory == memory)
      most = std::max(most, sample.bytes);
  return most;
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

namespace {
/// The second numbers of pairs, by the first number.
class Lists {
public:
  Lists(size_t count, const std::vector<std::pair<unsigned, unsigned>> &pairs)
      : starts(count + 1), items(pairs.size()) {
    for (auto [key, item] : pairs)
      ++starts[key + 1];
    for (size_t i = 0; i < count; ++i)
      starts[i + 1] += starts[i];
    std::vector<size_t> next(starts.begin(), starts.end() - 1);
    for (auto [key, item] : pairs)
      items[next[key]++] = item;
  }
  std::span<const unsigned> operator[](unsigned key) const {
    return {items.data() + starts[key], items.data() + starts[key + 1]};
  }

private:
  std::vector<size_t> starts;
  std::vector<unsigned> items;
};

/// Tasks, by a time and then by number.
using Entry = std::pair<int64_t, unsigned>;
using Queue = std::priority_queue<Entry, std::vector<Entry>, std::greater<>>;
} // namespace

class TaskTimes::Runner {
public:
  explicit Runner(TaskTimes &times)
      : times(times), dependents(times.tasks(), times.dependences), made(times.tasks(), times.made),
        used(times.tasks(), times.used), missing(times.tasks()), left(times.buffers.size()),
        waiting(times.orders.size()), isIdle(times.orders.size(), true) {
    for (auto [before, after] : times.dependences)
      ++missing[after];
    for (size_t i = 0; i < times.buffers.size(); ++i) {
      left[i] = times.buffers[i].users;
      if (times.makers[i] == none && left[i] > 0)
        change(times.buffers[i].memory, times.buffers[i].bytes);
    }
  }

  bool run() {
    times.begins.assign(times.tasks(), -1);
    times.ends.assign(times.tasks(), -1);
    times.samples.clear();
    for (unsigned task = 0; task < times.tasks(); ++task)
      if (missing[task] == 0)
        release(task);
    for (;; now = running.top().first, finishTasks()) {
      while (beginInstant())
        finishTasks();
      beginAll(loose);
      for (unsigned resource : pending)
        if (isIdle[resource] && !waiting[resource].empty())
          beginNext(resource);
      pending.clear();
      note();
      if (running.empty())
        break;
    }
    times.last = now;
    return finished == times.tasks();
  }

private:
  TaskTimes &times;
  Lists dependents, made, used;
  std::vector<unsigned> missing;        ///< by task: dependences that have not ended
  std::vector<unsigned> left;           ///< by buffer: users that have not ended
  std::vector<Queue> waiting;           ///< by resource
  std::vector<bool> isIdle;             ///< by resource
  Queue running;                        ///< by end
  std::vector<unsigned> instant, loose; ///< released tasks without a resource; loose: take time
  std::vector<unsigned> touched;        ///< resources that may begin a task now
  std::vector<unsigned> pending;        ///< of these, those whose next task takes time
  std::vector<int64_t> bytes, reported; ///< by memory
  std::vector<unsigned> changed;        ///< memories
  int64_t now = 0;
  size_t finished = 0;

  void change(unsigned memory, int64_t difference) {
    if (memory >= bytes.size()) {
      bytes.resize(memory + 1);
      reported.resize(memory + 1);
    }
    bytes[memory] += difference;
    changed.push_back(memory);
  }

  void release(unsigned task) {
    unsigned resource = times.resourceOf[task];
    if (resource == none)
      return (times.durations[task] ? loose : instant).push_back(task);
    waiting[resource].emplace(times.orders[resource] == Order::FirstCome ? now : 0, task);
    touched.push_back(resource);
  }

  void begin(unsigned task) {
    times.begins[task] = now;
    times.ends[task] = std::min(now + times.durations[task], longest);
    for (unsigned buffer : made[task])
      change(times.buffers[buffer].memory, times.buffers[buffer].bytes);
    running.emplace(times.ends[task], task);
  }

  void beginAll(std::vector<unsigned> &tasks) {
    for (unsigned task : tasks)
      begin(task);
    tasks.clear();
  }

  void finishTasks() {
    for (; !running.empty() && running.top().first == now; ++finished) {
      unsigned task = running.top().second;
      running.pop();
      finish(task);
    }
  }
  void finish(unsigned task) {
    for (unsigned buffer : used[task])
      if (--left[buffer] == 0)
        change(times.buffers[buffer].memory, -times.buffers[buffer].bytes);
    if (unsigned resource = times.resourceOf[task]; resource != none) {
      isIdle[resource] = true;
      touched.push_back(resource);
    }
    for (unsigned each : dependents[task])
      if (--missing[each] == 0)
        release(each);
  }

  void beginNext(unsigned resource) {
    isIdle[resource] = false;
    unsigned task = waiting[resource].top().second;
    waiting[resource].pop();
    begin(task);
  }
  /// Begins the next tasks that take no time: others may become ready at once. True if there were
  /// some.
  bool beginInstant() {
    size_t before = running.size();
    beginAll(instant);
    for (unsigned resource : touched)
      if (isIdle[resource] && !waiting[resource].empty()) {
        if (times.durations[waiting[resource].top().second] == 0)
          beginNext(resource);
        else
          pending.push_back(resource);
      }
    touched.clear();
    if (running.size() == before)
      return false;
    note();
    return true;
  }
  /// Notes the bytes that are held, where they changed.
  void note() {
    std::sort(changed.begin(), changed.end());
    for (unsigned memory : changed)
      if (bytes[memory] != reported[memory]) {
        reported[memory] = bytes[memory];
        times.samples.push_back({now, memory, bytes[memory]});
      }
    changed.clear();
  }
};

bool TaskTimes::run() { return Runner(*this).run(); }
