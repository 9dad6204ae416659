//===- Cases.h - the benchmarks, one a file ---------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_BENCH_CASES_H
#define HEDDLE_BENCH_CASES_H

#include "bench/Bench.h"

namespace heddle::bench {

void matmul(const Request &request, Report &report);
void convolution(const Request &request, Report &report);
void capsule(const Request &request, Report &report);
void routing(const Request &request, Report &report);
void attention(const Request &request, Report &report);
void localAttention(const Request &request, Report &report);
void fashionTraining(const Request &request, Report &report);
void fashionClassifying(const Request &request, Report &report);
void compilation(const Request &request, Report &report);
void calls(const Request &request, Report &report);
void pointwise(const Request &request, Report &report);
void sorting(const Request &request, Report &report);
void scaling(const Request &request, Report &report);
void normalisation(const Request &request, Report &report);
void training(const Request &request, Report &report);
void inference(const Request &request, Report &report);
void generation(const Request &request, Report &report);
void busy(const Request &request, Report &report);
void collectives(const Request &request, Report &report);
void rankTraining(const Request &request, Report &report);

} // namespace heddle::bench

#endif // HEDDLE_BENCH_CASES_H
