//===- Timeline.h - when which step ran ------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Records the steps of compiled functions, and what they move between ranks:
//
//     Timeline timeline;
//     auto step = jit(function, {.timeline = timeline});
//     step(state, batch);
//     timeline.write("trace.json");          // for Perfetto (ui.perfetto.dev), chrome://tracing
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TIMELINE_H
#define HEDDLE_TIMELINE_H

#include "heddle/Ranks.h"

#include <memory>
#include <string>

namespace heddle {

class Profile;

/// Copies are the same timeline. Several functions may share one.
class Timeline {
public:
  Timeline();
  /// Switches the recording of later calls on or off; a new timeline records.
  void record(bool calls);
  bool records() const;
  /// Writes a Chrome trace: for each rank a row of steps and one of transfers. All `ranks` call
  /// this at the same point, between calls of functions; rank 0 writes the file. Throws Error if
  /// another rank makes a different call, or the file can't be written.
  void write(const std::string &path, const Ranks &ranks = {}, Here here = Here::current()) const;

  /// The profile to which calls add their steps; null while nothing is recorded.
  Profile *profile() const;

private:
  struct State;
  std::shared_ptr<State> state;
};

} // namespace heddle

#endif // HEDDLE_TIMELINE_H
