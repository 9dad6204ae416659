//===- Schedules.h - learning-rate schedules --------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule returns the rate of a step; steps are numbered from 0. It is a function of the step
// alone, so that a resumed run has the same rates. A compiled step takes the rate as a tensor, so
// that a new rate does not compile it again:
//
//     nn::Schedule rate = nn::warmUp(100, nn::cosine(3e-4, 10'000));
//     step(state, image, label, rate(done));          // step(State &, Tensor, Tensor, Tensor rate)
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_SCHEDULES_H
#define HEDDLE_NN_SCHEDULES_H

#include "heddle/Error.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace heddle::nn {

using Schedule = std::function<double(int64_t step)>;

Schedule constantRate(double rate);
/// Linear from `first` at step 0 to `last` at step `steps`, then constant.
Schedule linearRate(double first, double last, double steps);
/// `rate`, multiplied by `factor` every `every` steps (torch StepLR).
Schedule stepwise(double rate, int64_t every, double factor, Here here = Here::current());
/// `rate`, multiplied by `factor` at each of these steps (torch MultiStepLR).
Schedule stepwise(double rate, std::vector<int64_t> at, double factor);
/// Half a cosine wave from `rate` at step 0 to `least` at step `steps`, then constant (Loshchilov
/// and Hutter, ICLR'17; torch CosineAnnealingLR).
Schedule cosine(double rate, int64_t steps, double least = 0);
/// `rate` up to step `steps`, then rate * sqrt(steps / step).
Schedule inverseRoot(double rate, int64_t steps, Here here = Here::current());
/// Linear warm-up: rises by then(0) / (steps + 1) in each step, from this value at step 0; `then`
/// begins at step `steps`.
Schedule warmUp(int64_t steps, Schedule then, Here here = Here::current());
/// Runs each schedule for its number of steps, from its own step 0; the last one continues without
/// end.
Schedule sequence(std::vector<std::pair<int64_t, Schedule>> parts, Here here = Here::current());

/// Lowers the rate when a value, such as the test loss, has stopped improving (torch
/// ReduceLROnPlateau). It is a function of the values so far, so that a resumed run has the same
/// rates.
struct Plateau {
  double factor = 0.1;     ///< multiplies the rate, each time
  int64_t patience = 10;   ///< the number of values without improvement that is tolerated
  double threshold = 1e-4; ///< the relative improvement that a better value must exceed
  double least = 0;        ///< the least rate

  /// `rate` after these values, one for each epoch; `larger`: larger ones are better. Throws Error
  /// for a factor that is not between 0 and 1, and where another member is negative.
  double rate(double rate, const std::vector<double> &values, bool larger = false,
              Here here = Here::current()) const;
};

} // namespace heddle::nn

#endif // HEDDLE_NN_SCHEDULES_H
