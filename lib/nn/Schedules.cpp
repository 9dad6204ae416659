//===- Schedules.cpp - learning-rate schedules ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Schedules.h"

#include <algorithm>
#include <cmath>

using namespace heddle;
using namespace heddle::nn;

/// step / steps, clamped to [0, 1].
static double part(int64_t step, double steps) {
  return steps > 0 ? std::clamp(double(step) / steps, 0.0, 1.0) : 1;
}

Schedule nn::constantRate(double rate) {
  return [=](int64_t) { return rate; };
}

Schedule nn::linearRate(double first, double last, double steps) {
  return [=](int64_t step) { return first + (last - first) * part(step, steps); };
}

Schedule nn::stepwise(double rate, int64_t every, double factor, Here here) {
  if (every < 1)
    throw Error("expected at least one step between changes of the rate, got " +
                    std::to_string(every),
                here);
  return [=](int64_t step) { return rate * std::pow(factor, double(step / every)); };
}

Schedule nn::stepwise(double rate, std::vector<int64_t> at, double factor) {
  return [=, at = std::move(at)](int64_t step) {
    auto passed = std::count_if(at.begin(), at.end(), [&](int64_t each) { return each <= step; });
    return rate * std::pow(factor, double(passed));
  };
}

Schedule nn::cosine(double rate, int64_t steps, double least) {
  return [=](int64_t step) {
    return least + (rate - least) * (1 + std::cos(M_PI * part(step, double(steps)))) / 2;
  };
}

Schedule nn::inverseRoot(double rate, int64_t steps, Here here) {
  if (steps < 1)
    throw Error("expected at least one step at the full rate, got " + std::to_string(steps), here);
  return [=](int64_t step) {
    return step <= steps ? rate : rate * std::sqrt(double(steps) / double(step));
  };
}

Schedule nn::warmUp(int64_t steps, Schedule then, Here here) {
  if (!then)
    throw Error("expected the schedule that follows, got an empty function", here);
  if (steps < 0)
    throw Error("expected at least 0 steps of warm-up, got " + std::to_string(steps), here);
  return [=, then = std::move(then)](int64_t step) {
    return step < steps ? then(0) * double(step + 1) / double(steps + 1) : then(step - steps);
  };
}

double Plateau::rate(double rate, const std::vector<double> &values, bool larger, Here here) const {
  if (!(factor > 0 && factor < 1 && patience >= 0 && threshold >= 0 && least >= 0))
    throw Error("expected a factor between 0 and 1, and patience, threshold and least rate of at "
                "least 0, got " +
                    std::to_string(factor) + ", " + std::to_string(patience) + ", " +
                    std::to_string(threshold) + " and " + std::to_string(least),
                here);
  double best = INFINITY, lowest = std::min(rate, least);
  int64_t others = 0; // values since the best one or since the last reduction
  for (double value : values) {
    double own = larger ? -value : value;
    if (own < (std::isinf(best) ? best : best - threshold * std::abs(best))) {
      best = own;
      others = 0;
    } else if (++others > patience) {
      rate = std::max(rate * factor, lowest);
      others = 0;
    }
  }
  return rate;
}

Schedule nn::sequence(std::vector<std::pair<int64_t, Schedule>> parts, Here here) {
  if (parts.empty())
    throw Error("expected at least one schedule", here);
  return [=, parts = std::move(parts)](int64_t step) {
    size_t i = 0;
    for (; i + 1 < parts.size() && step >= parts[i].first; ++i)
      step -= parts[i].first;
    return parts[i].second(step);
  };
}
