//===- StepRunner.h - runs the steps of an entry ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On a CPU, compiled code runs the steps of an entry. A device that reads them from the manifest
// derives from `StepRunner`, which follows branches and loops, whose conditions lie in the host's
// memory, and calls the runtime's hooks:
//
//     struct Mine : StepRunner {
//       std::string runKernel(const StepSpec &step, HeddleCall *call) override { ... }
//       std::string runCopy(const StepSpec &step, HeddleCall *call) override { ... }
//     };
//     Mine runner(spec);
//     int32_t status = runner.run(call);
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_DEVICE_STEPRUNNER_H
#define HEDDLE_RUNTIME_DEVICE_STEPRUNNER_H

#include "runtime/format/Abi.h"
#include "runtime/format/Manifest.h"

namespace heddle {

class StepRunner {
public:
  /// `spec` must outlive the runner.
  explicit StepRunner(const EntrySpec &spec);
  virtual ~StepRunner() = default;
  /// Runs the entry; returns 0, or the status of the step that failed.
  int32_t run(HeddleCall *call);

protected:
  const EntrySpec &spec;

  /// Runs a step. Returns the error, or an empty string. A std::exception that a function here
  /// throws is an error of the current step, too.
  virtual std::string runKernel(const StepSpec &step, HeddleCall *call) = 0;
  virtual std::string runCopy(const StepSpec &step, HeddleCall *call) = 0;
  /// Called after all steps.
  virtual void end(HeddleCall *) {}
  /// Waits for all kernels, so that a hook can read the time.
  virtual void finish() {}

private:
  /// The target of each control-flow step: from If to its Else, from Else to EndIf, from Loop to
  /// EndLoop and back.
  std::vector<size_t> partners;

  int32_t runSteps(HeddleCall *call, int32_t &at);
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_DEVICE_STEPRUNNER_H
