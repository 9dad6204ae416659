//===- Tasks.h - the tasks of a divided graph -------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes tasks of a graph whose choices are configured (Graph.h), as FlexFlow does, and keeps them
// and their times (Timetable.h) up to date when a configuration changes:
//
//     x(batch: 8) in 2 blocks     read in 4 blocks, on devices 0 1 2 3
//
//     task x.0 on device 0        read by task y.0 on device 0, and sent to device 1 for y.1
//     task x.1 on device 2        read by task y.2 on device 2, and sent to device 3 for y.3
//
// A part of a reader needs a box of a value. What it has in common with the box of a part of the
// maker is sent point to point, if they are on two devices: through each link of the route, which
// is busy for the bytes divided by its rate. A device gets no box twice, however many parts read
// it, in the forward and the backward pass, say. Partial sums are sent to the first part, which
// adds them. The next value of a parameter is sent to those that read it in the next step, or
// fetched by them (Configuration::isFetched) while what makes their operands runs.
//
// Without `isPaper`, what devices exchange at once is a group, with one task on each link:
//
//     n devices of a ring need the same box, of which each has a block
//
//     a link       busy for the bytes of all blocks but that of the device behind it
//     the readers  begin when all links are done, and n - 1 latencies of the slowest hop later
//
// Partial sums pass a ring the other way round: each device adds a block (`scattered`), or one adds
// all. If devices need different boxes, each with something of many others, all messages through
// a link are one task. A group waits for all that it sends.
//
//     Tasks tasks(graph, cluster, {.isPaper = true});
//     tasks.configure(0, {{2, 1}, {0, 2}});                   for each choice
//     tasks.update();
//     tasks.end(), tasks.totals().bytes
//     tasks.configure(0, {{1, 1}, {0}});
//     tasks.update();
//     tasks.undo();                                           all is as before, to the bit
//
// With a limit, changes are left as soon as it is known that they end later: `configure` computes
// first how long devices compute, before it makes tasks and messages, and `update` stops there.
//
// With `isPaper`, links have no latency, and updates begin when all else has ended, as in "Beyond
// data and model parallelism for deep neural networks" (Jia, Zaharia and Aiken, 2019).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PLANNER_TASKS_H
#define HEDDLE_LIB_PLANNER_TASKS_H

#include "lib/planner/Cluster.h"
#include "lib/planner/Graph.h"
#include "lib/planner/Timetable.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>
#include <set>

namespace heddle::planner {

struct TaskOptions {
  bool isPaper = false;
};

class Tasks {
public:
  struct Totals {
    int64_t bytes = 0;     ///< between devices
    int64_t transfers = 0; ///< messages
    int64_t computing = 0; ///< picoseconds of the tasks on all devices
    bool operator==(const Totals &other) const = default;
  };

  /// All choices are on device 0.
  Tasks(const Graph &graph, const Cluster &cluster, TaskOptions options);

  using Change = std::pair<unsigned, Configuration>; ///< a choice
  static constexpr int64_t noLimit = Timetable::noLimit;

  void configure(unsigned choice, const Configuration &configuration) {
    configure({{choice, configuration}});
  }
  /// Changes different choices. Returns false as soon as it is known that the end is above the
  /// limit: then the changes have to be undone.
  bool configure(std::vector<Change> changes, int64_t limit = noLimit);
  const Configuration &configuration(unsigned choice) const { return configurations[choice]; }

  /// Makes all tasks anew, with a configuration of each choice, and simulates them. Returns none if
  /// the end is above the limit.
  std::optional<int64_t> rebuild(std::vector<Configuration> all, int64_t limit = noLimit);

  /// See Timetable.h.
  int64_t computeTimes();
  int64_t update() { return times.update(); }
  std::optional<int64_t> update(int64_t limit) { return times.update(limit); }
  /// Undoes all since the last commit.
  void undo();
  void commit();

  /// A part of an operator.
  struct Part {
    unsigned number, device;
    int64_t duration;
  };
  /// A block of a value: the part that has it, or adds partial sums, in so many picoseconds; and
  /// the other parts with partial sums, with the picoseconds of their messages.
  struct Block {
    unsigned part;
    bool exists;
    int64_t sum = 0;
    std::vector<std::pair<unsigned, int64_t>> others = {};
  };
  /// A part of a reader that waits for a block, and the picoseconds of its message if it had none
  /// of the others. What the next step reads is sent, and no part waits for it.
  struct Wait {
    unsigned block, part;
    int64_t picoseconds;
  };
  bool isPaper() const { return options.isPaper; }
  std::vector<Part> partsOf(unsigned op) const;
  std::vector<Block> blocksOf(unsigned value) const;
  std::vector<Wait> waitsOf(unsigned op, unsigned read) const;

  int64_t end() const { return times.end(); }
  const Totals &totals() const { return sums; }
  const Timetable &timetable() const { return times; }
  /// Picoseconds in which each device computes for a choice.
  std::vector<int64_t> computingOf(unsigned choice) const;
  /// Picoseconds in which a device computes, or a lane is busy.
  std::vector<int64_t> busy() const;
  /// The label of a task: the name of its operator, "sum of ..." or "message of ...".
  std::string labelOf(uint64_t key) const;
  /// The choice of a task that computes.
  std::optional<unsigned> choiceOf(uint64_t key) const;
  /// The most bytes that each device holds at once: parameters and other state, from step to step,
  /// and values and parts of them until their last reader has ended. What a device computes and
  /// nobody else reads is not counted, and neither are the inputs of a step.
  std::vector<int64_t> memory() const;
  /// The bytes of parameters and other state, which all devices together hold at any time.
  int64_t stateBytes() const;

private:
  using Id = Timetable::Id;
  using Phase = Timetable::Phase;
  static constexpr Id none = ~0u;
  /// No part and no block has this number.
  static constexpr unsigned mostParts = (1u << 14) - 1;
  static constexpr unsigned lastHop = (1u << 8) - 1; ///< of a key: tasks of a group
  /// A value's blocks, and the part of the maker that has each.
  struct Blocks {
    std::vector<unsigned> degrees;     ///< by dimension
    std::vector<unsigned> strides;     ///< by dimension: the distance of parts
    std::vector<unsigned> parts;       ///< distances from the first part to those with partial sums
    std::optional<unsigned> scattered; ///< a dimension: see Configuration
    unsigned count = 1;
  };
  /// The part that has a block, or its sum, and the first one with a partial sum.
  struct Place {
    unsigned part, first;
    int64_t elements; ///< of the block
  };
  struct Edge {
    unsigned reader, read; ///< an operator, and which of its reads
  };
  /// A box of a value, or of a block of it, that a device reads, and all parts there that read no
  /// more.
  struct Need {
    unsigned device;
    Box box;
    std::vector<Id> readers;                        ///< in this step
    bool isForUpdates = true;                       ///< all are updates
    bool isForOthers = false;                       ///< one is not
    std::optional<unsigned> fetcher = std::nullopt; ///< the operator that fetches it
    int64_t bytes = 0;                              ///< in a group: that the device lacks
  };
  using Needs = std::map<std::pair<unsigned, unsigned>, std::vector<Need>>; ///< by block and device
  /// A collective of several devices: the bytes that pass through each link, in all rounds.
  struct Group {
    std::map<unsigned, int64_t> links;
    int64_t bytes = 0, latency = 0;
    std::set<unsigned> blocks;
    std::vector<Need> needs;
    std::set<Id> after, begun;
    std::vector<Id> before;
    Id first = none, last = none; ///< task
  };
  /// The transfers of a value: messages from point to point, by blocks, and groups.
  struct Sent {
    Needs needs;
    std::vector<Group> groups;
  };
  /// Tasks that are made and removed together: those of an operator, of the sums of a value, or
  /// the messages with a value.
  struct Slot {
    std::vector<Id> all;
    std::vector<Id> parts; ///< of an operator, by part; of sums: by block of the value
    Sent sent;             ///< by messages
    Totals totals;
  };

  const Graph &graph;
  const Cluster &cluster;
  TaskOptions options;
  std::vector<Configuration> configurations;
  Timetable times;
  std::vector<unsigned> collectors; ///< resources
  std::vector<Slot> slots;
  std::vector<std::pair<unsigned, Slot>> oldSlots;
  std::vector<std::pair<unsigned, Configuration>> oldConfigurations;
  Totals sums, oldSums;
  std::vector<Blocks> blocks;                    ///< by value
  std::vector<std::vector<Edge>> edges;          ///< by value: its readers
  std::vector<std::vector<unsigned>> sentAround; ///< by operator: values that it makes or reads
  /// By operator: what those that read its values read of the step before.
  std::vector<std::vector<unsigned>> fetchedAround;
  std::vector<std::vector<unsigned>> valuesOf;    ///< by operator
  std::vector<std::vector<unsigned>> operatorsOf; ///< by choice
  std::vector<bool> isGradient;                   ///< by value: only updates read it
  Id barrier = none;
  std::map<std::pair<unsigned, unsigned>, unsigned> joins; ///< by slot and group: a resource

  unsigned slotOfOperator(unsigned i) const { return i; }
  unsigned slotOfValue(unsigned i) const { return unsigned(graph.operators.size()) + i; }
  unsigned slotOfMessages(unsigned value) const {
    return unsigned(graph.operators.size() + graph.values.size()) + value;
  }
  /// A task takes at least one picosecond.
  static int64_t timeOf(double seconds);
  static uint64_t keyOf(unsigned slot, unsigned to, unsigned from, unsigned hop);
  Slot &renew(unsigned slot);

  bool isState(unsigned value) const; ///< held from step to step
  Phase phaseOf(const Graph::Operator &op) const {
    return !options.isPaper ? Phase::Any : op.isUpdate ? Phase::After : Phase::Before;
  }
  void makeAll(const std::vector<std::vector<Part>> &parts);
  bool remake(const std::vector<std::pair<unsigned, std::vector<Part>>> &made,
              const std::set<unsigned> &around, int64_t limit);
  void makeOperator(unsigned i, const std::vector<Part> &parts);
  void makeSums(unsigned value);
  void makeMessages(unsigned value);
  void forEachNeed(unsigned value, const Edge &edge,
                   llvm::function_ref<void(const Need &)> act) const;
  using OnBlock = llvm::function_ref<bool(unsigned, const Box &)>;
  void forEachBlock(unsigned value, const Box &box, OnBlock act) const;
  static void addNeed(std::vector<Need> &all, Need need);
  void addBlocks(unsigned value, const Need &need, Needs &needs) const;
  Sent sentOf(unsigned value) const;
  void addGroup(unsigned value, const std::vector<unsigned> &holders, std::vector<Need> needs,
                Sent &sent) const;
  void pass(Group &group, unsigned from, unsigned to, int64_t bytes) const;
  void passAround(Group &group, const std::map<unsigned, int64_t> &own, bool areAdded) const;
  void sendTogether(unsigned slot, unsigned number, Group &group);
  void count(Slot &slot, int64_t bytes);
  Blocks madeBlocks(const Graph::Value &value) const;
  int64_t durationOf(const Graph::Operator &op, const std::vector<unsigned> &indices,
                     unsigned device) const;
  Box boxOf(const Graph::Operator &op, const Graph::Read &read,
            const std::vector<unsigned> &indices) const;
  bool isFetched(unsigned value) const {
    return configurations[graph.operators[graph.values[value].maker].choice].isFetched;
  }
  std::vector<Id> beforeFetch(unsigned op, unsigned device) const;
  Place placeOf(unsigned value, unsigned block) const;
  unsigned deviceOf(unsigned value, unsigned block) const {
    return configurations[graph.operators[graph.values[value].maker].choice]
        .devices[placeOf(value, block).part];
  }
  struct Message {
    unsigned slot, to, from; ///< for the key
    unsigned fromDevice, toDevice;
    int64_t bytes;
    Id after;   ///< or none: as soon as all of `begun` have begun
    bool waits; ///< for the barrier
    Phase phase;
    std::vector<Id> before;
    std::vector<Id> begun = {};
  };
  int64_t latencyOf(unsigned link) const;
  void send(const Message &message);
  int64_t leastTime(unsigned fromDevice, unsigned toDevice, int64_t bytes,
                    bool isAwaited = true) const;
  std::vector<unsigned> indicesOf(unsigned choice, unsigned part) const;
};

} // namespace heddle::planner

#endif // HEDDLE_LIB_PLANNER_TASKS_H
