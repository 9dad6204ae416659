//===- TaskTimes.h - when tasks run on streams and links --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// When the tasks of any number of devices begin and end. A task occupies one resource, the stream
// of a device or a link, for its duration, and begins after the tasks that it depends on:
//
//     TaskTimes times;
//     unsigned stream = times.addResource(TaskTimes::Order::Given);
//     unsigned link = times.addResource(TaskTimes::Order::FirstCome);
//     unsigned f = times.addTask(stream, 5);                   0 to 5
//     unsigned sent = times.addTask(link, 3, {f});             5 to 8
//     unsigned g = times.addTask(stream, 2);                   5 to 7
//     unsigned h = times.addTask(stream, 2, {g, sent});        8 to 10
//     times.run();
//     times.end(h)                                             10
//
// Buffers are held in the memory of a device from the time at which their maker begins until their
// last user has ended:
//
//     times.addUse(times.addBuffer(/*memory=*/0, /*bytes=*/64, /*maker=*/f), h);    held 0 to 10
//     times.mostBytes(0)                                                            64
//
// Times are integers (picoseconds), and equal times are ordered by the numbers of tasks, so each
// rank and each host gets the same result. At any time, first all tasks that end then do so, and
// buffers are freed; then idle resources begin tasks that take no time, until none is left; and
// only then they begin others. The core knows no IR (BlockTimes.h does). It takes O(n log n) time
// for n tasks and dependences.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COST_TASKTIMES_H
#define HEDDLE_LIB_COST_TASKTIMES_H

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace heddle::cost {

/// Rounds to whole picoseconds. Times beyond 50 days are that long.
int64_t picoseconds(double seconds);
inline double inSeconds(int64_t picoseconds) { return double(picoseconds) * 1e-12; }

class TaskTimes {
public:
  /// The policy by which an idle resource selects one of its waiting tasks.
  enum class Order : uint8_t {
    Given,     ///< tasks run in the order in which they were added, even if a later one could begin
    FirstFree, ///< the first one in that order whose dependences are met: list scheduling
    FirstCome, ///< the one whose dependences were met first
  };
  static constexpr unsigned none = ~0u;

  /// Resources, tasks and buffers are numbered from 0 on.
  unsigned addResource(Order order);
  /// A task without a resource begins as soon as its dependences are met.
  unsigned addTask(unsigned resource, int64_t duration, std::initializer_list<unsigned> after = {});
  /// `after` begins when `before` has ended, or later.
  void addDependence(unsigned before, unsigned after) { dependences.emplace_back(before, after); }
  /// A buffer without a maker is held from time 0 on.
  unsigned addBuffer(unsigned memory, int64_t bytes, unsigned maker = none);
  /// The task depends on the maker of the buffer.
  void addUse(unsigned buffer, unsigned task);
  /// Holds the buffer to the end.
  void keep(unsigned buffer) { ++buffers[buffer].users; }

  /// Computes the times of all tasks. Returns false if some wait for each other; these have the
  /// times -1.
  bool run();

  size_t tasks() const { return resourceOf.size(); }
  int64_t begin(unsigned task) const { return begins[task]; }
  int64_t end(unsigned task) const { return ends[task]; }
  /// The end of the last task.
  int64_t end() const { return last; }

  /// The bytes held in a memory from this time on.
  struct Held {
    int64_t time;
    unsigned memory;
    int64_t bytes;
  };
  /// In the order of time, and then of memory; several for one time where tasks take none.
  const std::vector<Held> &held() const { return samples; }
  int64_t mostBytes(unsigned memory) const;

private:
  struct Buffer {
    unsigned memory, users; ///< the maker, and who keeps it, are users
    int64_t bytes;
  };
  using Pairs = std::vector<std::pair<unsigned, unsigned>>;
  std::vector<Order> orders;        ///< by resource
  std::vector<unsigned> lastTasks;  ///< by resource
  std::vector<unsigned> resourceOf; ///< by task
  std::vector<int64_t> durations;   ///< by task
  Pairs dependences;                ///< before, after
  Pairs made, used;                 ///< task, buffer
  std::vector<unsigned> makers;     ///< by buffer
  std::vector<Buffer> buffers;
  std::vector<int64_t> begins, ends; ///< by task
  std::vector<Held> samples;
  int64_t last = 0;

  class Runner;
};

} // namespace heddle::cost

#endif // HEDDLE_LIB_COST_TASKTIMES_H
