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

#include <vector>

namespace heddle::planner {

using All = std::vector<std::pair<uint64_t, Timetable::Times>>;

inline All allOf(const Timetable &times) {
  All all;
  for (Timetable::Id id : times.sorted())
    all.emplace_back(times.key(id), times[id]);
  return all;
}

} // namespace heddle::planner

#endif // HEDDLE_TEST_UNIT_PLANNER_ALLTIMES_H
