//===- OpenMPTeam.cpp - the OpenMP runtime as a team ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/device/ThreadTeam.h"

#include <omp.h>

using namespace heddle;

namespace {
class OpenMPTeam : public ThreadTeam {
public:
  explicit OpenMPTeam(int count) : count(count) {}
  int threads() const override { return count; }

  void run(Body body, void *argument) override {
    // OpenMP may give fewer threads, and gives one within another region.
    Region region(1);
#pragma omp parallel num_threads(count)
    {
#pragma omp single
      region.reset(omp_get_num_threads());
      body(argument, region, omp_get_thread_num());
    }
  }

private:
  int count;
};
} // namespace

std::shared_ptr<ThreadTeam> heddle::makeOpenMPTeam(int threads) {
  return std::make_shared<OpenMPTeam>(threads < 1 ? 1 : threads);
}
