//===- Generate.h - random typed programs -----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program is built step by step: each step draws an op, operands among the existing values (or
// new arguments), and attributes that fit them, so that every program verifies. Sizes are small,
// including 0, 1 and primes. Numbers stay small: arguments of functions avoid poles, integers are
// divided by constants only. The same seed gives the same program.
//
//     func.func @main(%x0: !nd.tensor<f32, a: 3, row: 7> {nd.name = "x0"}, ...) -> (...)
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_LAWS_GENERATE_H
#define HEDDLE_TEST_UNIT_LAWS_GENERATE_H

#include "dialects/nd/NdBuild.h"

#include "mlir/IR/BuiltinOps.h"

namespace heddle::laws {

struct GeneratorOptions {
  int steps = 8;
  /// f64 only, no integers computed from floats, so that finite differences are valid.
  bool smooth = false;
  bool calls = true;     ///< calls with lifting, of generated functions
  bool kernels = true;   ///< nest.compute beside nd ops
  bool symbols = false;  ///< sizes are expressions over N and M
  bool relations = true; ///< sizes rely on 3 N = 5 M
  bool requests = false; ///< nd.vjp, nd.jvp
  bool control = false;  ///< loops and branches (scf)
  /// At least one branch, whose sides have poles at the points where they are not taken.
  bool branches = false;
  bool gradients = false; ///< calls whose derivative is another function, an arbitrary one
  int64_t scale = 0;      ///< factor of the values of symbols; 0: `scaleOf` the seed
};

/// Adds @`name` to the module, and the functions that it calls.
mlir::func::FuncOp generateProgram(mlir::ModuleOp module, llvm::StringRef name, uint64_t seed,
                                   const GeneratorOptions &options = {});

/// The values of the symbols of generated programs, divided by the scale.
inline constexpr int64_t sizeOfN = 5, sizeOfM = 3;
/// 1 to 3. In a few programs it is 8 to 20 and some constant sizes are 17 to 300, so that tiles,
/// masks and blocks are tested.
int64_t scaleOf(uint64_t seed);
inline bool isLargeScale(int64_t scale) { return scale > 3; }

} // namespace heddle::laws

#endif // HEDDLE_TEST_UNIT_LAWS_GENERATE_H
