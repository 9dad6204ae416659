//===- RunState.h - the position of a training run --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The position of a run as checkpoints store it, and the signals that end a run.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_NN_RUNSTATE_H
#define HEDDLE_LIB_NN_RUNSTATE_H

#include "heddle/nn/Meters.h"
#include "heddle/nn/Trainer.h"

namespace heddle::nn {

using Means = std::map<std::string, Mean>;
Values valuesOf(const Means &means);

/// The next step, as `step` of `epoch`; both count from 0.
struct Position {
  int64_t epoch = 0, step = 0;
  Means sums; ///< of the epoch so far
};

/// Formats a number so that parsing restores it exactly.
std::string exact(double value);
/// Converts a position to notes and back. positionOf throws std::logic_error for other notes.
Notes notesOf(const Position &position);
Position positionOf(const Notes &notes);

/// While it lives, SIGINT and SIGTERM are recorded; a second one ends the process.
class StopSignals {
public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals &) = delete;
  StopSignals &operator=(const StopSignals &) = delete;
  /// The signal received, or 0.
  static int received();

private:
  struct Old;
  std::unique_ptr<Old> old;
};

} // namespace heddle::nn

#endif // HEDDLE_LIB_NN_RUNSTATE_H
