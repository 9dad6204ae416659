//===- PlanInput.h - what commands read and write ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The topology and the program of a command, and its messages.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_PLANINPUT_H
#define HEDDLE_TOOLS_PLANINPUT_H

#include "PlanProgram.h"
#include "lib/planner/Topology.h"
#include "tools/Tool.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <functional>

namespace heddle {

/// Prints an error, and returns false.
bool fail(const llvm::Twine &what);
std::string milliseconds(int64_t picoseconds);
/// Writes another file first, and renames it, so that a full disk loses nothing.
bool writeText(const std::string &path, const std::string &text);
/// Catches Ctrl-C; what it returns is true from then on.
std::function<bool()> untilInterrupted();

class PlanInput {
public:
  explicit PlanInput(const PlanOptions &options);

  /// Reads the topology and the program, and finds the function of a step. Prints what is wrong.
  bool read();
  mlir::func::FuncOp function() { return module.get().lookupSymbol<mlir::func::FuncOp>(entry); }

  planner::Topology topology;
  InputModule module;
  std::string entry;

protected:
  const PlanOptions &options;

private:
  bool findEntry();
};

} // namespace heddle

#endif // HEDDLE_TOOLS_PLANINPUT_H
