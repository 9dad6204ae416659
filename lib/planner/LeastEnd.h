//===- LeastEnd.h - when tasks end at the soonest ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lower bound of the end of the last task, from the work that each resource has left:
//
//     device   [ f: 5 ][ g: 4 ][ idle: 3 ]  h: 6 and i: 2 are left        12 + 8
//     link     [ idle: 5 ][ f's message: 2 ]  nothing is left             7
//
// Before a walk (Timetable.h) it is the work of the busiest resource, which grows with each task
// that is added; in a walk it grows when a resource is idle. So tasks can be left as soon as their
// end is known to be above a limit.
//
// Some tasks depend on a barrier, and it on others. After the busiest resource of these, there is
// the work of the busiest resource of those.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PLANNER_LEASTEND_H
#define HEDDLE_LIB_PLANNER_LEASTEND_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace heddle::planner {

class LeastEnd {
public:
  /// `Before`: the barrier depends on the task; `After`: the task depends on the barrier.
  enum class Phase : uint8_t { Any, Before, After };

  void addResource() { works.emplace_back(); }
  void add(unsigned resource, Phase phase, int64_t duration) {
    Work &own = works[resource];
    own.all += duration;
    if (phase == Phase::Before)
      own.before += duration;
    if (phase == Phase::After)
      own.after += duration;
    most.include(own);
    least = most.least();
  }
  /// Afterwards, the bound is known after `begin`.
  void remove(unsigned resource, Phase phase, int64_t duration) {
    Work &own = works[resource];
    own.all -= duration;
    if (phase == Phase::Before)
      own.before -= duration;
    if (phase == Phase::After)
      own.after -= duration;
  }

  /// Nothing has passed yet.
  void begin() {
    left = works;
    most = {};
    for (const Work &each : works)
      most.include(each);
    least = most.least();
  }
  /// A task that ends there passes on its resource, after those that have passed.
  void pass(unsigned resource, Phase phase, int64_t duration, int64_t end) {
    Work &own = left[resource];
    own.all -= duration;
    least = std::max(least, end + own.all);
    if (own.before == 0)
      return;
    if (phase == Phase::Before)
      own.before -= duration;
    most.before = std::max(most.before, end + own.before);
    least = std::max(least, most.least());
  }
  /// The last task does not end before.
  int64_t value() const { return least; }

private:
  struct Work {
    int64_t all = 0, before = 0, after = 0;
    void include(const Work &other) {
      all = std::max(all, other.all);
      before = std::max(before, other.before);
      after = std::max(after, other.after);
    }
    int64_t least() const { return std::max(all, before + after); }
  };
  std::vector<Work> works, left; ///< by resource
  Work most;                     ///< `before`: of the barrier's end, in a walk
  int64_t least = 0;
};

} // namespace heddle::planner

#endif // HEDDLE_LIB_PLANNER_LEASTEND_H
