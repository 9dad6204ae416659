//===- NestTimes.h - measured times of nests --------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Joins the file of measured times (lib/tuning), the way to measure a nest (lib/compile) and
// predictions of steps. Each distinct nest is looked up once, and measured once.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_NESTTIMES_H
#define HEDDLE_TOOLS_NESTTIMES_H

#include "PlanProgram.h"
#include "dialects/nest/Nest.h"
#include "lib/tuning/Database.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>

namespace heddle {

class NestTimes {
public:
  /// `stated`: the facts of the user; null: none. `module` has those of the target as well, whose
  /// key is `target`.
  NestTimes(const PlanOptions &options, mlir::ModuleOp module, nest::MachineAttr stated,
            const std::string &target);
  /// Prints what is wrong.
  bool open();

  /// The seconds of the nests of a module with layouts and schedules, as far as they are known.
  /// Adds the functions of kernels to the module.
  llvm::DenseMap<mlir::Operation *, double> of(mlir::ModuleOp module);
  /// The nests that this process has measured.
  unsigned measured = 0;

private:
  const PlanOptions &options;
  nest::MachineAttr stated;
  std::string machine;
  std::optional<tuning::Database> database;
  std::map<std::string, std::optional<double>> known; ///< by the text of a nest
  bool hasWarned = false;

  std::optional<double> secondsOf(mlir::func::FuncOp kernel);
  std::optional<double> find(mlir::func::FuncOp kernel, const std::string &text);
};

} // namespace heddle

#endif // HEDDLE_TOOLS_NESTTIMES_H
