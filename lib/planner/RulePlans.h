//===- RulePlans.h - plans with values in parts -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans of large networks, by rules that read names and coordinates only.
//
// Megatron (Shoeybi et al., 2019) splits the units inside pairs of products with a parameter each.
// The first one splits a name that it makes, and the second one sums over it:
//
//     h(b, f) = sum over i of x(b, i) * v(i, f)                       split along f
//     y(b, o) = sum over f of gelu(h(b, f)) * w(f, o)                 split along f
//
// The operators between them, and their gradients, are split along it as well. It is no such name
// if anything else sums over it, such as a normalisation or the scores of attention. A product has
// one such name at most, that of the first pair. The devices of a node divide these names, and
// nodes divide the samples; other operators divide the samples over all devices. So the partial
// sums of y are added in blocks of samples, one on each device of a node.
//
// ZeRO-3 (Rajbhandari et al., 2020) is data parallelism, but updates of parameters are split over
// all devices, each along its largest name that can be. Gradients are added in the blocks that are
// updated, and each operator fetches the parameters that it reads.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PLANNER_RULEPLANS_H
#define HEDDLE_LIB_PLANNER_RULEPLANS_H

#include "lib/planner/TaskCosts.h"

namespace heddle::planner {

/// None without a pair of products. `nodes`: groups of as many devices.
std::optional<Point> megatronPoint(TaskCosts &costs, const Graph &graph, const std::string &sample,
                                   unsigned devices, unsigned nodes);

/// None if updates and other operators are one choice.
std::optional<Point> zeroPoint(TaskCosts &costs, const Graph &graph, const std::string &sample,
                               unsigned devices);

} // namespace heddle::planner

#endif // HEDDLE_LIB_PLANNER_RULEPLANS_H
