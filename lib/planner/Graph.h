//===- Graph.h - operators, the values between them, and splits -*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A training step as a search sees it: operators that iterate over names, and the values between
// them. Neither IR nor kinds of operators are left; names and coordinates say all:
//
//     choice `net.w`     names batch: 8, out: 4, in: 6
//     operator `net.w`   iterates over batch, out, in;  makes y(batch, out), summed over in
//                        reads x(batch, in)
//     operator `relu`    iterates over batch, out;      reads y(batch, out)
//
// A choice is a set of operators that share one configuration, such as a layer, its gradients and
// its update; it has one list of names. A configuration divides names into blocks, and runs each
// part on a device:
//
//     degrees batch 2, in 3      6 parts: (batch 0, in 0), (batch 0, in 1), ...
//     devices 0 1 2 3 4 5
//
// Parts of an operator without a name that is divided would be equal, so only the first of them
// exists. Where a value is summed over a divided name, each part makes a partial sum, and the first
// one gets those of the others; or each part gets those of a block (`scattered`).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PLANNER_GRAPH_H
#define HEDDLE_LIB_PLANNER_GRAPH_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle::planner {

/// A half-open interval of coordinates.
struct Interval {
  int64_t low = 0, high = 0;
  int64_t size() const { return high > low ? high - low : 0; }
  bool operator==(const Interval &other) const = default;
};

using Box = std::vector<Interval>; ///< of each dimension

/// A coordinate of a value that an operator reads: (sum of terms + low..high) floordiv divisor.
struct Coordinate {
  struct Term {
    unsigned name; ///< of the choice
    int64_t factor;
  };
  std::vector<Term> terms;
  int64_t low = 0, high = 0; ///< inclusive: of what isn't a name of the choice
  int64_t divisor = 1;
};

struct Graph {
  struct Name {
    std::string label;
    int64_t size = 1;
    bool isSequence = false; ///< the steps of a recurrence, one after the other: in one block
    bool isSummed = false;   ///< by the first of the operators that iterate over it
  };
  struct Choice {
    std::string name;
    std::vector<Name> names;
    std::string layer;  ///< that of a parameter, its gradients and its update; empty: its own
    unsigned depth = 0; ///< of the layer: see findDepths
  };
  struct Value {
    unsigned maker = 0; ///< an operator
    std::vector<int64_t> sizes;
    std::vector<std::optional<unsigned>>
        names;                    ///< of each dimension, if it is a name of the choice
    std::vector<unsigned> summed; ///< names of the choice
    int64_t elementBytes = 4;
  };
  struct Read {
    unsigned value = 0;
    std::vector<Coordinate> coordinates; ///< of each dimension
    bool ofNextStep = false;             ///< the next step reads it: it is sent, and nobody waits
  };
  struct Operator {
    std::string name;
    unsigned choice = 0;
    std::vector<unsigned> names; ///< over which it iterates, of the choice
    double operations = 0;       ///< arithmetic of the whole operator
    double seconds = 0;          ///< on a device without rates
    bool isUpdate = false;       ///< computes the next value of a parameter
    std::vector<Read> reads;
    // Of a recurrence:
    std::optional<unsigned> sequence; ///< the name of its steps
    bool isReverse = false;           ///< the last step is the first one
    std::vector<Value> carried;       ///< from step to step; without a maker
  };
  std::vector<Choice> choices;
  std::vector<Operator> operators; ///< each after those whose values it reads in this step
  std::vector<Value> values;
};

/// How the operators of a choice are divided.
struct Configuration {
  std::vector<unsigned> degrees; ///< by name: blocks of the size divided by the degree, rounded up
  std::vector<unsigned> devices; ///< by part; the last name varies fastest
  /// Values with this name that are partial sums have as many times more blocks along it as there
  /// are sums, and each part adds those of one block. Only if blocks are equal. None: see above.
  std::optional<unsigned> scattered = std::nullopt;
  /// Each operator on another device fetches anew what the next step reads, and keeps it only as
  /// long as it runs. Else devices get it once, at the end of a step, and keep it.
  bool isFetched = false;
  bool operator==(const Configuration &other) const = default;
};

/// The names of all choices in classes: two names are one if a value is made along one and read
/// along the other one, point by point.
class NameClasses {
public:
  explicit NameClasses(const Graph &graph);
  size_t of(unsigned choice, unsigned name) const;

private:
  std::vector<size_t> firsts, parents; ///< by choice: the number of its first name; by name
};

/// Removes operators that only copy or transpose a value: who reads what they make reads the value.
void forwardCopies(Graph &graph);

/// Finds how many recurrences are before each layer: before its first operator that reads its
/// parameters, or the first one. What only a recurrence needs is as deep as that one, such as the
/// products of its inputs or a mask, which could be computed at once.
void findDepths(Graph &graph);

unsigned partsOf(const Configuration &configuration);
/// A name of a choice that can be split.
std::optional<unsigned> nameOf(const Graph::Choice &choice, const std::string &label);
int64_t elementsOf(const Box &box);
/// The name that is this coordinate of what is read, point by point.
std::optional<unsigned> nameIn(const Coordinate &coordinate);
/// The coordinates of block `index` of `degree`.
Interval blockOf(int64_t size, unsigned degree, unsigned index);
/// Each name, in one block: on one device.
Configuration onDevice(const Graph::Choice &choice, unsigned device);
/// A name with this label, if there is one, in as many blocks as it allows, up to `most`; on
/// devices at a distance.
Configuration splitOver(const Graph::Choice &choice, const std::string &label, unsigned most,
                        unsigned first = 0, unsigned distance = 1);

} // namespace heddle::planner

#endif // HEDDLE_LIB_PLANNER_GRAPH_H
