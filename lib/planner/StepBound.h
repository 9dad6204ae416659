//===- StepBound.h - the least time of a step -------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lower bound of the time of a step of which some choices are decided, however the others are
// (TaskCosts.h). It knows when each part can begin at the soonest, its head, and how long what
// waits for it takes at least, its tail:
//
//     a part of y that waits for two parts of x, which have to be sent, and that z waits for
//
//     head(y.0) = max(head(x.0) + time(x.0) + message, head(x.1) + time(x.1) + message)
//     tail(y.0) = message + time(z.0) + tail(z.0)
//
// Operators that are not decided take the least time of any of their parts, and get their operands
// at once. A device runs one part at a time, none before its head, and then the longest tail
// follows; if parts could be interrupted, the one with the longest tail would always be next
// (Jackson). That is the bound of a device. Besides, all devices compute what is decided, and the
// least for what is not, in equal shares.
//
// With the assumptions of the paper, the bound of updates follows that of all else.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PLANNER_STEPBOUND_H
#define HEDDLE_LIB_PLANNER_STEPBOUND_H

#include "lib/planner/TaskCosts.h"

namespace heddle::planner {

class StepBound {
public:
  using Decided = std::vector<std::optional<unsigned>>; ///< by choice: a number

  StepBound(TaskCosts &costs, Tasks &tasks, const Graph &graph, unsigned devices);

  /// Less than or equal to the time of each point with these numbers. Changes no tasks.
  int64_t operator()(const Decided &decided);
  /// The least time of all parts of a choice.
  int64_t leastWork(unsigned choice) const {
    return leastWorks[choice].all[0] + leastWorks[choice].all[1];
  }

private:
  /// The parts of one configuration of a choice, and their times.
  struct Work {
    std::vector<std::vector<Tasks::Part>> parts; ///< by operator of the choice
    std::vector<std::vector<Tasks::Block>> made; ///< by value of the choice
    std::vector<int64_t> shortest;               ///< part of each operator
    std::vector<int64_t> ofDevices;              ///< with sums
    int64_t all[2] = {};                         ///< without them; and of updates that are apart
    int64_t withSums = 0;
  };
  struct Edge {
    unsigned reader, read, number;
  };
  struct Piece {
    int64_t head, duration, tail;
  };
  TaskCosts &costs;
  Tasks &tasks;
  const Graph &graph;
  unsigned devices;
  std::vector<std::vector<Work>> works; ///< by choice and number
  std::vector<Work> leastWorks;         ///< by choice: the least of each
  std::vector<unsigned> placeOf, placeOfValue;
  std::vector<std::vector<unsigned>> valuesOf;  ///< by operator
  std::vector<std::vector<Edge>> edges;         ///< by value
  std::vector<std::vector<unsigned>> firstEdge; ///< by operator and read: its number
  /// By edge: all that is read is there; each part of the maker is read by a part of the reader.
  std::vector<bool> isInside, covers;
  std::vector<bool> isGradient; ///< by value: only updates of this step read it
  /// By edge and two numbers, that of the maker times those of the reader.
  std::vector<std::vector<std::optional<std::vector<Tasks::Wait>>>> waits;

  // Of the last call:
  const Decided *decided = nullptr;
  std::vector<std::vector<int64_t>> heads, tails, ready; ///< by part, by part; by block of a value
  std::vector<int64_t> firstEnds, firstTails;            ///< of operators that are not decided

  void addEdges();
  Work workOf(unsigned choice) const;
  const Work *workFor(unsigned op) const {
    unsigned choice = graph.operators[op].choice;
    return (*decided)[choice] ? &works[choice][*(*decided)[choice]] : nullptr;
  }
  int64_t shortest(unsigned op) const {
    return leastWorks[graph.operators[op].choice].shortest[placeOf[op]];
  }
  const std::vector<Tasks::Part> &partsOf(const Work &work, unsigned op) const {
    return work.parts[placeOf[op]];
  }
  const std::vector<Tasks::Block> &blocksOf(const Work &work, unsigned value) const {
    return work.made[placeOfValue[value]];
  }
  /// Updates of the paper are a problem of their own.
  unsigned phaseOf(unsigned op) const { return tasks.isPaper() && graph.operators[op].isUpdate; }
  const std::vector<Tasks::Wait> &waitsOf(unsigned value, const Edge &edge);
  void findHeads(unsigned op);
  void findTails(unsigned op);
  void addTails(unsigned value, const Edge &edge, std::vector<int64_t> &ofBlocks);
  int64_t boundOf(unsigned phase) const;
  static int64_t withInterruptions(std::vector<Piece> &pieces);
};

} // namespace heddle::planner

#endif // HEDDLE_LIB_PLANNER_STEPBOUND_H
