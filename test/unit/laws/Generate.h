//===- Generate.h - random typed programs -----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program is made step by step: each step picks an op, operands among the values there are (or
// new arguments), and attributes that fit them, so that every program verifies. Sizes are small, 0,
// 1 and primes among them. Numbers stay tame: functions are kept away from their poles, integers
// are divided by constants only. The same seed gives the same program.
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
  /// f64 only, no integers that come from floats: what can be held against finite differences.
  bool smooth = false;
  bool calls = true;      ///< calls with lifting, of functions made for it
  bool kernels = true;    ///< nest.compute beside nd ops
  bool symbols = false;   ///< sizes are expressions over N and M
  bool relations = true;  ///< it is used that 3 N = 5 M
  bool requests = false;  ///< nd.vjp, nd.jvp
  bool control = false;   ///< loops and branches (scf)
  bool gradients = false; ///< calls whose derivative is another function, an arbitrary one
  int64_t scale = 0;      ///< how many times as large symbols are; 0: as `scaleOf` the seed says
};

/// Adds @`name` to the module, and the functions that it calls.
mlir::func::FuncOp generateProgram(mlir::ModuleOp module, llvm::StringRef name, uint64_t seed,
                                   const GeneratorOptions &options = {});

/// What the symbols of generated programs stand for when they run: these times the scale.
inline constexpr int64_t sizeOfN = 5, sizeOfM = 3;
/// 1 to 3. In a few programs it is 8 to 20 and some sizes that are numbers are 17 to 300, so that
/// tiles, masks and blocks have something to do.
int64_t scaleOf(uint64_t seed);
inline bool isLargeScale(int64_t scale) { return scale > 3; }

} // namespace heddle::laws

#endif // HEDDLE_TEST_UNIT_LAWS_GENERATE_H
