//===- Timetable.h - when tasks run, through changes ------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The times of tasks on devices and links, and how they change if a few tasks do. A resource runs
// one task at a time, in the order in which they become ready; of tasks that become ready at once,
// the one with the smaller key is first:
//
//     Timetable times;
//     unsigned device = times.addResource(), link = times.addResource();
//     unsigned f = times.addTask(1, device, 5);             0 to 5
//     unsigned sent = times.addTask(2, link, 3);            5 to 8
//     unsigned g = times.addTask(3, device, 4);             8 to 12
//     times.addDependence({f, sent});
//     times.addDependence({sent, g});
//     times.computeTimes();                                     12
//
//     times.remove(sent);                                   `f` and `g` run on one device now
//     times.addDependence({f, g});
//     times.update();                                       9
//     times.undo();                                         12, all as it was; or times.commit()
//
//     times.update(10);                                     none: the end is above 10
//
// `update` computes what `computeTimes` would, bit for bit. A task that becomes ready before the
// first change keeps its times. The others pass in their old order, and only those for which
// something changed are computed anew; they return to the order where they are ready now. This is
// possible because a task takes at least one picosecond, and so becomes ready later than all on
// which it depends: what has passed is final.
//
// In lib/cost/TaskTimes.h, where tasks may take no time and hold buffers, nothing can be changed.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PLANNER_TIMETABLE_H
#define HEDDLE_LIB_PLANNER_TIMETABLE_H

#include "lib/planner/LeastEnd.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

namespace heddle::planner {

class Timetable {
public:
  using Id = unsigned;
  using Phase = LeastEnd::Phase;
  static constexpr int64_t noLimit = std::numeric_limits<int64_t>::max();

  /// `after` is ready `lag` picoseconds after `before` has ended; or `fromBegin`, has begun, in
  /// which case the lag is at least 1.
  struct Dependence {
    Id before, after;
    int64_t lag = 0;
    bool fromBegin = false;
  };
  struct Times {
    int64_t ready = 0, begin = 0, end = 0;
    bool operator==(const Times &other) const = default;
  };

  unsigned addResource() {
    least.addResource();
    return resources++;
  }
  /// No two tasks have the same key. The numbers of removed tasks are used again.
  Id addTask(uint64_t key, unsigned resource, int64_t duration, Phase phase = Phase::Any);
  void addDependence(const Dependence &added);
  void remove(Id task);

  /// Computes all times, and returns the end of the last task. Changes can no longer be undone.
  int64_t computeTimes() { return *computeTimes(noLimit); }
  /// Returns none if the end is above the limit, as soon as that is known: then there are no times.
  std::optional<int64_t> computeTimes(int64_t limit);
  /// Computes the times after changes, and returns the end of the last task.
  int64_t update() { return *update(noLimit); }
  /// Returns none if the end is above the limit, as soon as that is known: then the changes have to
  /// be undone.
  std::optional<int64_t> update(int64_t limit);
  /// Undoes all changes since the last `computeTimes`, `commit` or `undo`, and their `update`.
  void undo();
  void commit();

  int64_t end() const { return last; }
  const Times &operator[](Id task) const { return tasks[task].times; }
  uint64_t key(Id task) const { return tasks[task].key; }
  int64_t duration(Id task) const { return tasks[task].duration; }
  unsigned resource(Id task) const { return tasks[task].resource; }
  Phase phase(Id task) const { return tasks[task].phase; }
  /// The work of all resources, with changes.
  const LeastEnd &work() const { return least; }
  LeastEnd &work() { return least; }
  /// All tasks, in the order in which they become ready.
  const std::vector<Id> &sorted() const { return order; }
  /// The tasks whose times the last `update` computed.
  size_t computed() const { return changes; }

private:
  /// `Waits`: for tasks that have no times yet.
  enum class State : uint8_t { Clean, Waits, New, Done };
  struct Edge {
    Id task;
    bool fromBegin;
    int64_t lag;
  };
  struct Task {
    uint64_t key = 0;
    int64_t duration = 1;
    unsigned resource = 0;
    Phase phase = Phase::Any;
    bool isAlive = false, isNew = false; ///< isNew: since the last commit
    Times times;
    std::vector<Edge> before, after;
    // Of the update with this number:
    unsigned update = 0, missing = 0; ///< tasks before it that wait
    int64_t ready = 0;                ///< by what is known
    State state = State::Clean;
    unsigned mark = 0; ///< of the list that was last made without duplicates
  };
  struct Entry {
    int64_t ready;
    uint64_t key;
    Id task;
    bool operator>(const Entry &other) const {
      return ready != other.ready ? ready > other.ready : key > other.key;
    }
  };

  std::vector<Task> tasks;
  std::vector<Id> unused, added, removed, touched, order, oldOrder;
  std::vector<std::pair<Id, Times>> oldTimes;
  std::vector<Dependence> connected; ///< dependences between tasks that are not new
  std::vector<int64_t> freeAt;       ///< by resource
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  LeastEnd least;
  unsigned resources = 0, updates = 0, marks = 0;
  bool isUpdated = false, isLeft = false; ///< since the last commit; above the limit
  int64_t last = 0, oldLast = 0;
  size_t changes = 0;

  static int64_t readyAfter(const Edge &edge, const Times &times) {
    return (edge.fromBegin ? times.begin : times.end) + edge.lag;
  }
  void count(const Task &task) { least.add(task.resource, task.phase, task.duration); }
  void discount(const Task &task) { least.remove(task.resource, task.phase, task.duration); }
  std::optional<int64_t> leave();
  void removeDuplicates(std::vector<Id> &ids);
  Task &opened(Id task);
  int64_t readyByAll(const Task &task) const;
  size_t firstChange();
  void keepUntil(size_t first);
  void fetch(size_t next) const;
  void fetchAfter(const Task &task) const;
  void pass(Id task);
  void postpone(Id task);
  void settle(Id task);
  void erase(std::vector<Id> &dead);
};

} // namespace heddle::planner

#endif // HEDDLE_LIB_PLANNER_TIMETABLE_H
