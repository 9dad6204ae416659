//===- Graph.cpp - operators, the values between them, and splits ---------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/Graph.h"

#include <algorithm>

using namespace heddle;
using namespace heddle::planner;

unsigned planner::partsOf(const Configuration &configuration) {
  unsigned parts = 1;
  for (unsigned degree : configuration.degrees)
    parts *= degree;
  return parts;
}

Interval planner::blockOf(int64_t size, unsigned degree, unsigned index) {
  int64_t block = (size + degree - 1) / degree;
  return {std::min(size, block * index), std::min(size, block * (index + 1))};
}

Configuration planner::onDevice(const Graph::Choice &choice, unsigned device) {
  return {std::vector<unsigned>(choice.names.size(), 1), {device}};
}
