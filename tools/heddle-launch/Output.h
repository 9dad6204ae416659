//===- Output.h - the output of ranks, line by line -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_HEDDLE_LAUNCH_OUTPUT_H
#define HEDDLE_TOOLS_HEDDLE_LAUNCH_OUTPUT_H

#include "runtime/control/Connection.h"

namespace heddle {

/// Copies a rank's output, with a prefix at the beginning of each line. Lines of several ranks are
/// not interleaved; text that ends in a carriage return (progress that is overwritten) counts as a
/// line.
class Output {
public:
  Output(Socket from, int to, std::string prefix)
      : from(std::move(from)), to(to), prefix(std::move(prefix)) {}

  /// -1 after the end.
  int descriptor() const { return from.get(); }
  /// Copies the available output; false at the end, or if nobody reads the copy.
  bool copy();
  /// Copies the available output and the rest of the last line, and closes it.
  void finish();
  /// The last line that was copied and is not blank, without its end.
  const std::string &lastLine() const { return last; }

private:
  Socket from;
  int to;
  std::string prefix, pending, last;
  bool afterReturn = false; ///< the last line ended in a carriage return

  bool writeLines(bool all);
};

} // namespace heddle

#endif // HEDDLE_TOOLS_HEDDLE_LAUNCH_OUTPUT_H
