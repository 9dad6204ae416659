//===- Timetable.cpp - when tasks run, through changes --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/Timetable.h"

#include <algorithm>
#include <cassert>

using namespace heddle::planner;

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

Timetable::Id Timetable::addTask(uint64_t key, unsigned resource, int64_t duration, Phase phase) {
  assert(duration > 0 && "a task takes time");
  Id id = unsigned(tasks.size());
  if (unused.empty()) {
    tasks.emplace_back();
  } else {
    id = unused.back();
    unused.pop_back();
  }
  Task &task = tasks[id];
  task.key = key;
  task.resource = resource;
  task.duration = duration;
  task.phase = phase;
  task.isAlive = task.isNew = true;
  task.times = {};
  count(task);
  added.push_back(id);
  return id;
}

void Timetable::addDependence(const Dependence &made) {
  assert((made.lag > 0 || !made.fromBegin) && "what has passed would not be final");
  tasks[made.before].after.push_back({made.after, made.fromBegin, made.lag});
  tasks[made.after].before.push_back({made.before, made.fromBegin, made.lag});
  touched.push_back(made.after);
  if (!tasks[made.before].isNew && !tasks[made.after].isNew)
    connected.push_back(made);
}

void Timetable::remove(Id task) {
  tasks[task].isAlive = false;
  discount(tasks[task]);
  removed.push_back(task);
  for (const Edge &edge : tasks[task].after)
    touched.push_back(edge.task);
}

/// In any order.
void Timetable::removeDuplicates(std::vector<Id> &ids) {
  ++marks;
  std::erase_if(ids, [&](Id id) { return std::exchange(tasks[id].mark, marks) == marks; });
}

/// Tasks that are gone stay in the lists of others until it is certain that they are.
void Timetable::erase(std::vector<Id> &dead) {
  for (Id id : dead)
    tasks[id].isAlive = false;
  auto forget = [&](std::vector<Edge> &edges) {
    std::erase_if(edges, [&](const Edge &edge) { return !tasks[edge.task].isAlive; });
  };
  // Some tasks, such as a barrier, have long lists: each is gone through once.
  std::vector<Id> around;
  for (Id id : dead) {
    for (std::vector<Edge> *edges : {&tasks[id].before, &tasks[id].after}) {
      for (const Edge &edge : *edges)
        if (tasks[edge.task].isAlive)
          around.push_back(edge.task);
      edges->clear();
    }
    unused.push_back(id);
  }
  removeDuplicates(around);
  for (Id id : around) {
    forget(tasks[id].before);
    forget(tasks[id].after);
  }
  dead.clear();
}

void Timetable::commit() {
  assert(!isLeft && "the changes have no times");
  erase(removed);
  for (Id id : added)
    tasks[id].isNew = false;
  added.clear();
  connected.clear();
  touched.clear();
  isUpdated = false;
}

void Timetable::undo() {
  // A task that was added and removed is gone as well.
  for (Id id : removed) {
    tasks[id].isAlive = true;
    count(tasks[id]);
  }
  removed.clear();
  for (Id id : added)
    discount(tasks[id]);
  isLeft = false;
  if (std::exchange(isUpdated, false)) {
    for (auto &[id, times] : oldTimes)
      tasks[id].times = times;
    std::swap(order, oldOrder);
    last = oldLast;
  }
  erase(added);
  auto disconnect = [](std::vector<Edge> &edges, Id task, const Dependence &made) {
    auto edge = std::find_if(edges.begin(), edges.end(), [&](const Edge &each) {
      return each.task == task && each.lag == made.lag && each.fromBegin == made.fromBegin;
    });
    edges.erase(edge);
  };
  for (const Dependence &made : connected) {
    disconnect(tasks[made.before].after, made.after, made);
    disconnect(tasks[made.after].before, made.before, made);
  }
  connected.clear();
  touched.clear();
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

/// The end is above the limit: what is not computed yet is not needed.
std::optional<int64_t> Timetable::leave() {
  queue = {};
  return std::nullopt;
}

std::optional<int64_t> Timetable::computeTimes(int64_t limit) {
  commit();
  least.begin();
  if (least.value() > limit)
    return leave();
  freeAt.assign(resources, 0);
  order.clear();
  std::vector<unsigned> missing(tasks.size());
  for (Id id = 0; id < tasks.size(); ++id) {
    tasks[id].times = {};
    missing[id] = unsigned(tasks[id].before.size());
    if (tasks[id].isAlive && missing[id] == 0)
      queue.push({0, tasks[id].key, id});
  }
  while (!queue.empty()) {
    Id id = queue.top().task;
    queue.pop();
    order.push_back(id);
    Task &task = tasks[id];
    int64_t &free = freeAt[task.resource];
    task.times.begin = std::max(task.times.ready, free);
    task.times.end = free = task.times.begin + task.duration;
    least.pass(task.resource, task.phase, task.duration, free);
    if (least.value() > limit)
      return leave();
    for (const Edge &edge : task.after) {
      Task &next = tasks[edge.task];
      next.times.ready = std::max(next.times.ready, readyAfter(edge, task.times));
      if (--missing[edge.task] == 0)
        queue.push({next.times.ready, next.key, edge.task});
    }
  }
  last = freeAt.empty() ? 0 : *std::max_element(freeAt.begin(), freeAt.end());
  changes = order.size();
  return last;
}

/// A task with what this update knows of it.
Timetable::Task &Timetable::opened(Id id) {
  Task &task = tasks[id];
  if (task.update != updates) {
    task.update = updates;
    task.missing = 0;
    task.ready = task.times.ready;
    task.state = State::Clean;
  }
  return task;
}

/// When a task is ready by the times that are known.
int64_t Timetable::readyByAll(const Task &task) const {
  int64_t ready = 0;
  for (const Edge &edge : task.before) {
    const Task &before = tasks[edge.task];
    if (before.isAlive && !(before.update == updates && before.state == State::New))
      ready = std::max(ready, readyAfter(edge, before.times));
  }
  return ready;
}

/// Queues the tasks that change at once, and returns the position from which the order changes.
size_t Timetable::firstChange() {
  Entry first{last + 1, ~uint64_t(0), 0};
  auto atMost = [&](const Entry &entry) { first = first > entry ? entry : first; };
  for (Id id : added)
    if (tasks[id].isAlive) {
      opened(id).state = State::New;
      touched.push_back(id);
    }
  for (Id id : removed)
    atMost({tasks[id].times.ready, tasks[id].key, id});
  removeDuplicates(touched);
  for (Id id : touched) {
    if (!tasks[id].isAlive)
      continue;
    Task &task = opened(id);
    task.ready = readyByAll(task);
    for (const Edge &edge : task.before)
      task.missing += tasks[edge.task].isAlive && opened(edge.task).state == State::New;
    if (task.missing == 0)
      queue.push({task.ready, task.key, id});
    atMost({task.ready, task.key, id});
    if (task.state == State::Clean)
      atMost({task.times.ready, task.key, id});
  }
  // New tasks that were removed again have no place in the order; an early position is safe.
  auto isBefore = [&](Id id, const Entry &entry) {
    return entry > Entry{tasks[id].times.ready, tasks[id].key, id};
  };
  return size_t(std::lower_bound(order.begin(), order.end(), first, isBefore) - order.begin());
}

void Timetable::keepUntil(size_t first) {
  freeAt.assign(resources, 0);
  for (size_t i = 0; i < first; ++i) {
    const Task &task = tasks[oldOrder[i]];
    freeAt[task.resource] = task.times.end;
    least.pass(task.resource, task.phase, task.duration, task.times.end);
  }
  order.assign(oldOrder.begin(), oldOrder.begin() + std::ptrdiff_t(first));
}

/// A task is not ready at its old place in the order: those after it have to wait for its times.
void Timetable::postpone(Id id) {
  opened(id).state = State::Waits;
  fetchAfter(tasks[id]);
  for (const Edge &edge : tasks[id].after)
    if (tasks[edge.task].isAlive)
      ++opened(edge.task).missing;
}

/// A task runs next on its resource.
void Timetable::pass(Id id) {
  Task &task = tasks[id];
  order.push_back(id);
  int64_t &free = freeAt[task.resource];
  bool isOpen = task.update == updates;
  int64_t ready = isOpen ? task.ready : task.times.ready, begin = std::max(ready, free);
  free = begin + task.duration;
  least.pass(task.resource, task.phase, task.duration, free);
  if (!isOpen || task.state == State::Clean) {
    if (Times{ready, begin, free} == task.times) {
      if (isOpen)
        task.state = State::Done;
      return;
    }
    opened(id);
  }
  settle(id);
}

/// Tells the tasks after one its new times: it ends when its resource is free.
void Timetable::settle(Id id) {
  Task &task = tasks[id];
  Times old = task.times;
  State before = std::exchange(task.state, State::Done);
  fetchAfter(task);
  oldTimes.emplace_back(id, old);
  task.times = {task.ready, freeAt[task.resource] - task.duration, freeAt[task.resource]};
  for (const Edge &edge : task.after) {
    if (!tasks[edge.task].isAlive)
      continue;
    Task &next = opened(edge.task);
    assert(next.state != State::Done && "what has passed is final");
    next.missing -= before != State::Clean;
    int64_t ready = readyAfter(edge, task.times);
    if (ready >= next.ready)
      next.ready = ready;
    else if (before != State::New && readyAfter(edge, old) == next.ready)
      next.ready = readyByAll(next);
    if (next.missing == 0 && (next.state != State::Clean || next.ready != next.times.ready))
      queue.push({next.ready, next.key, edge.task});
  }
}

void Timetable::fetchAfter(const Task &task) const {
  for (const Edge &edge : task.after) {
    __builtin_prefetch(&tasks[edge.task].key);
    __builtin_prefetch(&tasks[edge.task].update);
  }
}

/// Most of the time of an update is that of the memory: what comes soon is fetched early, which
/// makes an update of 300,000 tasks a seventh faster.
void Timetable::fetch(size_t next) const {
  constexpr size_t tasksAhead = 16, edgesAhead = 8;
  if (next + tasksAhead < oldOrder.size()) {
    const Task &later = tasks[oldOrder[next + tasksAhead]];
    __builtin_prefetch(&later.key);
    __builtin_prefetch(&later.update);
    __builtin_prefetch(tasks[oldOrder[next + edgesAhead]].after.data());
  }
  if (!queue.empty())
    __builtin_prefetch(tasks[queue.top().task].after.data());
}

std::optional<int64_t> Timetable::update(int64_t limit) {
  assert(!isUpdated && !isLeft && "changes are committed or undone first");
  least.begin();
  isLeft = least.value() > limit;
  if (isLeft)
    return leave();
  ++updates;
  oldTimes.clear();
  size_t next = firstChange();
  std::swap(order, oldOrder);
  keepUntil(next);
  oldLast = last;
  isUpdated = true;
  auto isDone = [&](const Task &task) {
    return task.update == updates && task.state == State::Done;
  };
  while (true) {
    isLeft = least.value() > limit;
    if (isLeft)
      return leave();
    while (next < oldOrder.size() &&
           (!tasks[oldOrder[next]].isAlive || isDone(tasks[oldOrder[next]])))
      ++next;
    while (!queue.empty() && (isDone(tasks[queue.top().task]) || tasks[queue.top().task].missing ||
                              tasks[queue.top().task].ready != queue.top().ready))
      queue.pop();
    if (next == oldOrder.size() && queue.empty())
      break;
    Id id = next < oldOrder.size() ? oldOrder[next] : 0;
    if (next == oldOrder.size() ||
        (!queue.empty() && Entry{tasks[id].times.ready, tasks[id].key, id} > queue.top())) {
      id = queue.top().task;
      queue.pop();
      fetch(next);
      pass(id);
      continue;
    }
    fetch(next++);
    if (tasks[id].update == updates &&
        (tasks[id].missing || tasks[id].ready != tasks[id].times.ready))
      postpone(id);
    else
      pass(id);
  }
  last = freeAt.empty() ? 0 : *std::max_element(freeAt.begin(), freeAt.end());
  changes = oldTimes.size();
  return last;
}
