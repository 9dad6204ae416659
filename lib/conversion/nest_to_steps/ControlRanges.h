//===- ControlRanges.h - branches and loops in a list of steps --*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_CONVERSION_NEST_TO_STEPS_CONTROLRANGES_H
#define HEDDLE_CONVERSION_NEST_TO_STEPS_CONTROLRANGES_H

#include "lib/conversion/nest_to_steps/OutlineEntries.h"

namespace heddle {

/// Steps from If to EndIf, or from Loop to EndLoop.
struct ControlRange {
  size_t begin, middle, end; ///< middle: Else, or `begin`
  bool isLoop;
  int32_t outer;          ///< enclosing range; -1: none
  bool holdsLoop = false; ///< contains a loop
  bool contains(size_t step) const { return begin < step && step < end; }
};

/// The ranges of an entry; outer ones precede inner ones.
struct ControlRanges : std::vector<ControlRange> {
  explicit ControlRanges(const std::vector<OutlinedStep> &steps) {
    int32_t open = -1;
    for (auto [s, step] : llvm::enumerate(steps)) {
      if (step.spec.kind == StepKind::If || step.spec.kind == StepKind::Loop) {
        push_back({s, s, s, step.spec.kind == StepKind::Loop, open});
        open = int32_t(size()) - 1;
      } else if (step.spec.kind == StepKind::Else) {
        at(size_t(open)).middle = s;
      }
      innermost.push_back(open);
      if (step.spec.kind != StepKind::EndIf && step.spec.kind != StepKind::EndLoop)
        continue;
      at(size_t(open)).end = s;
      open = at(size_t(open)).outer;
    }
    for (const ControlRange &each : llvm::reverse(*this))
      if (each.outer >= 0)
        at(size_t(each.outer)).holdsLoop |= each.isLoop || each.holdsLoop;
  }
  /// The innermost range that contains the step, including its first and last steps.
  const ControlRange *of(size_t step) const { return get(innermost[step]); }
  const ControlRange *outside(const ControlRange &range) const { return get(range.outer); }

private:
  std::vector<int32_t> innermost;
  const ControlRange *get(int32_t i) const { return i < 0 ? nullptr : &at(size_t(i)); }
};

/// The value that owns the buffer of `value`.
inline size_t bufferOf(const std::vector<ValueSpec> &values, int32_t value) {
  while (values[size_t(value)].aliasOf >= 0)
    value = values[size_t(value)].aliasOf;
  return size_t(value);
}

} // namespace heddle

#endif // HEDDLE_CONVERSION_NEST_TO_STEPS_CONTROLRANGES_H
