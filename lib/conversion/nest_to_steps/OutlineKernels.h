//===- OutlineKernels.h - one function for each distinct nest ---*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two layers of a network that differ only in the names of their dimensions should share a kernel.
// So each distinct nest is copied to a private function, with labels in canonical order instead of
// names: nests with equal functions have equal code, independently of the spelling and order of
// names.
//
//     %y = nest.compute (row: 64, column: 32) reduce (k: 16) ... {heddle.kernel = @kernel}
//
//     func.func private @kernel(%arg0: !nd.tensor<f32, d0: 64, d2: 16> {nd.layout = ...}, ...)
//         -> (... {nd.layout = ...}) {
//       %0 = nest.compute (d0: 64, d1: 32) reduce (d2: 16) reads %arg0[], ... }
//
// The functions are then scheduled, in parallel, so schedules can't depend on spelling either
// (`nest-choose-schedules` does the same). The text of a scheduled function is the kernel's source,
// and the key of its code.
//
// The text of the function before that is the canonical form of a nest with its layouts, and with
// its schedule if the user has written one. Its hash is the key of the nest: schedules on disk are
// kept under it (lib/compile/CompileKernels.h), and measurements name the nest by it (bench/cost),
// as a database of tuned schedules should. To these, a user adds what else the result depends on,
// such as the machine's facts and the version of the compiler. `heddlec --emit=kernels` prints the
// keys.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_CONVERSION_NEST_TO_STEPS_OUTLINEKERNELS_H
#define HEDDLE_CONVERSION_NEST_TO_STEPS_OUTLINEKERNELS_H

#include "dialects/nest/Nest.h"
#include "lib/conversion/nest_to_steps/KernelLabels.h"
#include "lib/conversion/nest_to_steps/PredictSteps.h"

namespace heddle {

struct OutlinedKernel {
  func::FuncOp function;             ///< null if only the source is known
  StringAttr symbol;                 ///< its name
  std::string source;                ///< the text of the scheduled function
  std::string key;                   ///< of the nest with its layouts; empty for a clearing kernel
  std::string name;                  ///< for messages and dumps
  Location loc;                      ///< of the first nest with this kernel
  Labels names = {};                 ///< the user's names of that nest, by label
  std::vector<std::string> sizes{};  ///< the size symbols that are its arguments, in order
  SmallVector<Location> locations{}; ///< of its ops; that of op n + 1 at index n
  Prediction predicted = {};         ///< of its schedule
  double seconds = 0;                ///< the same on the machine for choices
};

struct OutlinedKernels {
  std::vector<OutlinedKernel> kernels; ///< in the order of the steps that run them
  struct Use {
    Operation *nest;
    size_t kernel;
    KernelLabels labels;
  };
  std::vector<Use> uses;
};

/// The size symbols of a nest with a kernel, in the order of the kernel's arguments: an array of
/// `#nd.size`.
inline constexpr StringLiteral numbersAttrName("heddle.numbers");

/// Adds a function for each distinct nest in public functions and in their branches and loops
/// (`insertCopies` has prepared them), and sorts the reads of the nests into the order of the
/// kernels' operands. `facts` has the user's machine facts except rates, or is null.
OutlinedKernels outlineKernels(ModuleOp module, nest::MachineAttr facts);

/// Copies the schedules of the kernels to the nests that use them, in the names of these.
void showSchedules(const OutlinedKernels &outlined);

/// The text of a kernel, without its number.
std::string sourceOf(func::FuncOp kernel);
/// The canonical key of the nest in a kernel: 32 hexadecimal digits of the hash of its text. The
/// same for all spellings and orders of names, and for all programs with the nest.
std::string nestKey(func::FuncOp kernel);

/// The attribute of a kernel without a body, which clears that many bytes
/// (lib/target/cpu/ClearMemory.h); if they are not constant, they are an argument of the kernel.
inline constexpr StringLiteral clearAttrName("heddle.clear");
/// That kernel.
OutlinedKernel clearingKernel(const Expr &bytes, Location loc);

} // namespace heddle

#endif // HEDDLE_CONVERSION_NEST_TO_STEPS_OUTLINEKERNELS_H
