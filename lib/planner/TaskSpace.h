//===- TaskSpace.h - spaces of configurations, and plans by rule -*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The spaces of earlier methods, as parts of that of all configurations (TaskCosts.h):
//
//     data-parallel   the samples are split over all devices
//     expert          plans that people write (see below)
//     megatron        pairs of products are split inside (RulePlans.h)
//     zero3           parameters and their updates are split over all devices (RulePlans.h)
//     placement       each operator is on one device, as in device placement by learning
//     optcnn          names that are not summed are split, and parts are on devices 0, 1, 2 ...
//     one-map         devices are a mesh of two axes, and a name is split alike wherever it occurs,
//                     as in Mesh-TensorFlow
//     layers          as soap, but the choices of a layer with the same names, such as the parts of
//                     a recurrence that is cut, have one configuration
//     soap            names that are not summed are split, on any devices, as in FlexFlow
//     all             summed names as well, and what the plans by rule have
//
// Experts follow rules. In a network with recurrences, each node has the whole network and its
// share of the samples, and layers after equally many recurrences are on one device of a node.
// In others samples are split, but the parameters of fully connected layers: those that are summed
// over with each sample once,
//
//     y(batch, out) = sum over in of x(batch, in) * w(in, out)                  split along out
//     y(batch, at, out) = sum over in of x(batch, at, in) * w(in, out)          along batch
//
// All choices of a layer are split alike.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PLANNER_TASKSPACE_H
#define HEDDLE_LIB_PLANNER_TASKSPACE_H

#include "lib/planner/TaskCosts.h"

#include <memory>

namespace heddle::planner {

enum class SpaceKind {
  DataParallel,
  Expert,
  Megatron,
  Zero3,
  Placement,
  OptCnn,
  OneMap,
  Layers,
  Soap,
  All
};
/// All of them, each after those that it contains.
const std::vector<SpaceKind> &allSpaces();
std::string spelling(SpaceKind kind);

/// The configuration that an expert chooses for each choice. `nodes`: groups of as many devices.
Point expertPoint(const TaskCosts &costs, const Graph &graph, const std::string &sample,
                  unsigned devices, unsigned nodes);

/// The points of a space, which are numbered anew.
class TaskSpace {
public:
  virtual ~TaskSpace() = default;
  /// The number of values of each of its choices.
  virtual std::vector<unsigned> choices() const = 0;
  /// The configurations of a point; none if they contradict each other.
  virtual std::optional<Point> full(const Point &own) const = 0;
  /// The point with these configurations, if it is in the space.
  virtual std::optional<Point> own(const Point &full) const = 0;

  /// Of a kind that is searched.
  static std::unique_ptr<TaskSpace> make(SpaceKind kind, const TaskCosts &costs, const Graph &graph,
                                         unsigned devices);
};

} // namespace heddle::planner

#endif // HEDDLE_LIB_PLANNER_TASKSPACE_H
