//===- RunState.h - how far a training run is -------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How far a run is, as it goes into checkpoints, and what may end it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_NN_RUNSTATE_H
#define HEDDLE_LIB_NN_RUNSTATE_H

#include "heddle/nn/Meters.h"
#include "heddle/nn/Trainer.h"

namespace heddle::nn {

using Means = std::map<std::string, Mean>;
Values valuesOf(const Means &means);

/// `step` of `epoch` is next, both from zero.
struct Position {
  int64_t epoch = 0, step = 0;
  Means sums; ///< of the epoch so far
};

/// Numbers as text that comes back to the bit.
std::string exact(double value);
/// Notes of a position, and the position of such notes. Throws std::logic_error for others.
Notes notesOf(const Position &position);
Position positionOf(const Notes &notes);

/// While it lives, SIGINT and SIGTERM are noted; a second one ends the process.
class StopSignals {
public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals &) = delete;
  StopSignals &operator=(const StopSignals &) = delete;
  /// The signal that came, or 0.
  static int received();

private:
  struct Old;
  std::unique_ptr<Old> old;
};

} // namespace heddle::nn

#endif // HEDDLE_LIB_NN_RUNSTATE_H
