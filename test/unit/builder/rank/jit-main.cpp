//===- jit-main.cpp - a rank of a compiled function -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     heddle-launch -n 2 heddle-test-jit shm
//
// Ends as programs of users do: what holds the job is destroyed in main, with the static objects,
// or never.
//
//===----------------------------------------------------------------------===//

#include "heddle/heddle.h"

#include <iostream>

using namespace heddle;

/// Made before the engine is opened, so that it is destroyed after it.
static Tensor kept;

int main(int, char **argv) try {
  const Name row("row");
  Ranks ranks = Ranks::join(argv[1]);
  auto square = jit([&](const Tensor &x) { return x * x; },
                    {.mesh = {{"data", ranks.size()}}, .rules = {"row:data"}, .ranks = ranks});
  std::vector<float> values(5);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(i);
  auto &never = *new Tensor(square(Tensor::of<float>(values, {{row, 5}})));
  kept = square(never);
  Tensor here = square(kept);
  double total = sum(here, over(row)).item(); // on all ranks, which gather what they have
  if (ranks.isFirst())
    std::cout << "the sum of 8th powers is " << total << "\n";
  return 0;
} catch (const std::exception &error) {
  std::cerr << error.what() << "\n";
  return 1;
}
