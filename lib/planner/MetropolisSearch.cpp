//===- MetropolisSearch.cpp - looks for a cheap point of a space ----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/MetropolisSearch.h"

#include <cmath>
#include <limits>

using namespace heddle::planner;

std::optional<double> Search::costOf(const Point &point, double most) {
  std::optional<double> value;
  auto entry = options.remembers ? known.find(point) : known.end();
  if (entry != known.end()) {
    value = entry->second;
  } else {
    // What is kept has to be the cost.
    value = cost(point, options.remembers ? std::numeric_limits<double>::infinity() : most);
    ++asked;
    if (options.remembers)
      known.emplace(point, value);
  }
  if (value && (!least || *value < *least)) {
    least = value;
    found = point;
  }
  return value;
}

/// A number below `bound`, each with the same probability. The distributions of the standard
/// library differ from host to host.
uint64_t Search::below(uint64_t bound) {
  uint64_t fair = ~uint64_t(0) - ~uint64_t(0) % bound, drawn;
  do
    drawn = engine();
  while (drawn >= fair);
  return drawn % bound;
}

/// No cost above it is accepted; `isAccepted` decides on those that are not, to the bit.
double Search::mostAccepted(double dice, std::optional<double> current) const {
  if (!current || options.beta == 0)
    return std::numeric_limits<double>::infinity();
  double most = *current - std::log(dice) / options.beta;
  return most + 1e-9 * std::abs(most); // far above what rounding makes of it
}

bool Search::isAccepted(double dice, std::optional<double> next,
                        std::optional<double> current) const {
  if (!next || !current)
    return !current; // anywhere from a point that is not allowed, and never to one
  return dice < std::exp(-options.beta * (*next - *current));
}

void Search::run(Point current) {
  std::optional<double> now = costOf(current, std::numeric_limits<double>::infinity());
  if (options.onDecision)
    options.onDecision(true);
  std::vector<size_t> open; // choices of more than one value
  for (size_t i = 0; i < choices.size(); ++i)
    if (choices[i] > 1)
      open.push_back(i);
  uint64_t last = count; // the proposal that found the best point
  for (uint64_t i = 0; !open.empty() && i < options.proposals; ++i) {
    if ((options.isInterrupted && options.isInterrupted()) ||
        (options.patience && count - last >= options.patience))
      return;
    ++count;
    std::optional<double> before = least;
    Point next = current;
    size_t at = open[below(open.size())];
    uint64_t other = below(choices[at] - 1);
    next[at] = unsigned(other + (other >= current[at]));
    double dice = double(engine() >> 11) * 0x1p-53;
    std::optional<double> then = costOf(next, mostAccepted(dice, now));
    if (least != before)
      last = count;
    bool accepts = isAccepted(dice, then, now);
    if (options.onDecision)
      options.onDecision(accepts);
    if (accepts) {
      current = std::move(next);
      now = then;
    }
    if (options.onVisit)
      options.onVisit(current);
  }
}
