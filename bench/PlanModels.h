//===- PlanModels.h - training steps that plans split -----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Networks whose step takes some 10 ms on one core: of images ("fashion"), a recurrent one
// ("lstm"), and one layer of a transformer ("block").
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_BENCH_PLANMODELS_H
#define HEDDLE_BENCH_PLANMODELS_H

#include <string>

namespace heddle::bench {

/// Writes the step of a network as IR (step.mlir), its state and a batch (state.safetensors,
/// example.safetensors) into a folder. Throws Error for an unknown name.
void exportStep(const std::string &name, const std::string &folder);

} // namespace heddle::bench

#endif // HEDDLE_BENCH_PLANMODELS_H
