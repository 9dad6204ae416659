//===- PredictSteps.h - how long steps should take --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes into each step the seconds that the cost model predicts (lib/cost), the roofline, below
// which no step with these amounts can be, and the resource that limits it. A profile shows them
// beside measured times:
//
//     step 3   h   predicted 1.2e-05 s, at least 9.1e-06 s, limited by memory
//
// All are for one thread, and for typical sizes where a size is symbolic. They are rounded to three
// digits. Nothing else depends on them: a machine's measured rates (HEDDLE_MACHINE) change these
// numbers and no code.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_CONVERSION_NEST_TO_STEPS_PREDICTSTEPS_H
#define HEDDLE_CONVERSION_NEST_TO_STEPS_PREDICTSTEPS_H

#include "lib/cost/Machine.h"

namespace heddle {

struct OutlinedProgram;

struct Prediction {
  double seconds = 0, bound = 0; ///< 0: unknown
  std::string limit;
};

/// Rounds to three significant digits: more would pretend precision, and differ between compilers.
double rounded(double value);

/// The prediction for a nest with layouts and schedule on `machine`.
Prediction predict(Operation *nest, const cost::Machine &machine);

/// Sets the predictions of all steps that run kernels: those of the kernels.
void predictSteps(OutlinedProgram &program, const cost::Machine &machine);

} // namespace heddle

#endif // HEDDLE_CONVERSION_NEST_TO_STEPS_PREDICTSTEPS_H
