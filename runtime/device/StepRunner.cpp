//===- StepRunner.cpp - runs the steps of an entry ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/StepRunner.h"

#include <exception>

using namespace heddle;

StepRunner::StepRunner(const EntrySpec &spec) : spec(spec), partners(spec.steps.size()) {
  std::vector<size_t> open;
  for (size_t s = 0; s < spec.steps.size(); ++s) {
    StepKind kind = spec.steps[s].kind;
    if (kind == StepKind::Else || kind == StepKind::EndIf || kind == StepKind::EndLoop) {
      partners[open.back()] = s;
      partners[s] = open.back();
      open.pop_back();
    }
    if (kind == StepKind::If || kind == StepKind::Else || kind == StepKind::Loop)
      open.push_back(s);
  }
}

int32_t StepRunner::run(HeddleCall *call) {
  int32_t at = 0;
  try {
    if (int32_t status = runSteps(call, at))
      return status;
    end(call);
    return 0;
  } catch (const std::exception &error) {
    return call->table->fail(call, at, error.what());
  }
}

int32_t StepRunner::runSteps(HeddleCall *call, int32_t &at) {
  const std::vector<StepSpec> &steps = spec.steps;
  for (size_t s = 0; s <= steps.size(); ++s) {
    at = int32_t(s);
    if (call->hooks) {
      finish();
      if (int32_t status = call->table->step(call, at))
        return status;
    }
    if (s == steps.size())
      break;
    const StepSpec &step = steps[s];
    std::string error;
    switch (step.kind) {
    case StepKind::Kernel:
      error = runKernel(step, call);
      break;
    case StepKind::Copy:
      error = runCopy(step, call);
      break;
    case StepKind::If:
    case StepKind::Loop:
      if (!*static_cast<const char *>(call->addresses[step.values[0]]))
        s = partners[s];
      break;
    case StepKind::Else:
    case StepKind::EndLoop: // the loop reads its truth value again
      s = partners[s] - 1;
      break;
    case StepKind::EndIf:
      break;
    case StepKind::Invoke:
    case StepKind::Start:
    case StepKind::Await:
      if (int32_t status = (step.kind == StepKind::Invoke  ? call->table->invoke
                            : step.kind == StepKind::Start ? call->table->start
                                                           : call->table->await)(call, at))
        return status;
      break;
    }
    if (!error.empty())
      return call->table->fail(call, at, error.c_str());
  }
  return 0;
}
