//===- AllTimes.h - the times of all tasks ----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The keys and times of the tasks of a timetable, in an order that does not depend on changes, so
// that two timetables can be compared.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_PLANNER_ALLTIMES_H
#define HEDDLE_TEST_UNIT_PLANNER_ALLTIMES_H

#include "lib/planner/Timetable.h"

#include <algorithm>
#include <random>
#include <vector>

namespace heddle::planner {

using All = std::vector<std::pair<uint64_t, Timetable::Times>>;

inline All allOf(const Timetable &times) {
  All all;
  for (Timetable::Id id : times.sorted())
    all.emplace_back(times.key(id), times[id]);
  return all;
}

inline int64_t endOf(const All &all) {
  int64_t end = 0;
  for (const auto &[key, times] : all)
    end = std::max(end, times.end);
  return end;
}

/// None, the end, or less: a fifth of it, half of it, or a picosecond.
inline int64_t limitFor(int64_t end, std::mt19937_64 &random) {
  const int64_t limits[] = {
      Timetable::noLimit, Timetable::noLimit, end, end - 1, end - end / 5, end / 2};
  return limits[random() % 6];
}

} // namespace heddle::planner

#endif // HEDDLE_TEST_UNIT_PLANNER_ALLTIMES_H
