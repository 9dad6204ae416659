//===- Lanes.h - what the lanes of a nest hold ------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule that walks a name by lanes, or by a unit of the machine, asks two questions of the
// nest: how wide a lane is, and which points a unit may take at once.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ANALYSIS_LANES_H
#define HEDDLE_ANALYSIS_LANES_H

#include "dialects/nest/Nest.h"

namespace heddle::nest {

/// The reduced names of which two neighbours may be multiplied at once: the nest adds products of
/// two reads of bf16 in f32, both of which have the name as a coordinate as it stands. A schedule
/// asks for it by `unit` over such a name, by two.
std::vector<std::string> pairedNames(ComputeOp op);

/// The widest element that a nest computes with at every point: lanes of a vector are so wide. What
/// a reduction finishes with happens seldom, in several vectors if need be.
unsigned laneBits(ComputeOp op);
unsigned laneBits(UpdateOp op);

} // namespace heddle::nest

#endif // HEDDLE_ANALYSIS_LANES_H
