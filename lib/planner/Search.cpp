//===- Search.cpp - looks for a cheap point of a space --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/Search.h"

#include <cmath>

using namespace heddle::planner;

std::optional<double> Search::costOf(const Point &point) {
  std::optional<double> value;
  auto entry = options.remembers ? known.find(point) : known.end();
  if (entry != known.end()) {
    value = entry->second;
  } else {
    value = cost(point);
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

bool Search::isAccepted(std::optional<double> next, std::optional<double> current) {
  double dice = double(engine() >> 11) * 0x1p-53;
  if (!next || !current)
    return !current; // anywhere from a point that is not allowed, and never to one
  return dice < std::exp(-options.beta * (*next - *current));
}

void Search::run(Point current) {
  std::optional<double> now = costOf(current);
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
    std::optional<double> then = costOf(next);
    if (least != before)
      last = count;
    bool accepts = isAccepted(then, now);
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
